"""Objective and gap per step of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import BLUE, RED, count_columns, get_axes, scale_values
from kboost.plotting._fitted import axis_of, trace_of, unwrap

FLOOR = 1e-8  # a gap below it is rounding


class TraceDisplay:
    """Objective and certified gap against the number of generated columns, or of steps.

    Use :meth:`from_estimator` to create it.

    Parameters
    ----------
    n_columns : ndarray of shape (n_steps,)
        Number of columns generated before each step, or the number of the step.
    objective : ndarray of shape (n_steps,)
        Objective at each step.
    gap : ndarray of shape (n_steps,)
        Relative gap at each step; NaN if not certified.
    along : str, default="columns generated"
        Label of `n_columns`.

    Attributes
    ----------
    ax_, gap_ax_, figure_ : matplotlib objects
        The axes of the objective, those of the gap (None without one), and the figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.plotting import TraceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelBoostRegressor(C=1.0).fit(X, y)
    >>> display = TraceDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'objective'
    """

    ax_: Any
    gap_ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        n_columns: FloatArray,
        objective: FloatArray,
        gap: FloatArray,
        along: str = "columns generated",
    ) -> None:
        self.n_columns, self.objective, self.gap, self.along = n_columns, objective, gap, along

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, ax: Any = None) -> TraceDisplay:
        """Draw the trace of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted kboost estimator, or a pipeline or search that ends in one.
        output : int, default=0
            Index of the class, if there are more than two.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        TraceDisplay
            The display.
        """
        model = unwrap(estimator)
        trace = trace_of(model, output)
        along, n_columns = axis_of(model, trace)
        display = cls(
            n_columns=n_columns,
            objective=trace.values("objective"),
            gap=trace.values("gap"),
            along=along,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> TraceDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        TraceDisplay
            The display itself.
        """
        self.ax_, self.gap_ax_ = get_axes(ax), None
        self.figure_ = self.ax_.figure
        self.ax_.plot(self.n_columns, self.objective, "o-", ms=3.5, lw=1.6, color=BLUE)
        self.ax_.set(xlabel=self.along, ylabel="objective")
        count_columns(self.ax_)
        scale_values(self.ax_, self.objective)
        if np.isfinite(self.gap).any():
            self.ax_.yaxis.label.set_color(BLUE)
            self.gap_ax_ = other = self.ax_.twinx()
            gap = np.maximum(self.gap, FLOOR)
            other.plot(self.n_columns, gap, "s--", ms=3.2, lw=1.4, color=RED)
            other.set_ylabel("relative gap")
            other.grid(visible=False)
            scale_values(other, gap)
            other.yaxis.label.set_color(RED)
            other.spines["right"].set_visible(True)
        return self


def plot_trace(estimator: Any, *, output: int = 0, ax: Any = None) -> TraceDisplay:
    """Draw the objective and the gap of a fit per step.

    Parameters
    ----------
    estimator : estimator
        A fitted kboost estimator, or a pipeline or search that ends in one.
    output : int, default=0
        Index of the class, if there are more than two.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    TraceDisplay
        The display.
    """
    return TraceDisplay.from_estimator(estimator, output=output, ax=ax)
