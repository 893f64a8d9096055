"""Objective and gap, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import BLUE, RED, axes_of, count_columns, scale_values
from kboost.plotting._fitted import axis_of, trace_of, unwrapped

FLOOR = 1e-8  # a gap below it is rounding


class TraceDisplay:
    """Objective and proven gap against the columns generated, or the steps.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    n_columns : ndarray of shape (n_steps,)
        Columns generated before each step; the steps, of weights for kernels.
    objective : ndarray of shape (n_steps,)
        The objective there.
    gap : ndarray of shape (n_steps,)
        The relative gap there; NaN where nothing was proved.
    along : str, default="columns generated"
        What `n_columns` are.

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
            Fitted, of kboost, or a pipeline or search that ends in one.
        output : int, default=0
            Which class, where there are more than two.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        TraceDisplay
            The picture.
        """
        model = unwrapped(estimator)
        trace = trace_of(model, output)
        along, places = axis_of(model, trace)
        display = cls(
            n_columns=places,
            objective=trace.values("objective"),
            gap=trace.values("gap"),
            along=along,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> TraceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to.

        Returns
        -------
        TraceDisplay
            Itself.
        """
        self.ax_, self.gap_ax_ = axes_of(ax), None
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
    """Draw objective and gap of a fit, step by step.

    Parameters
    ----------
    estimator : estimator
        Fitted, of kboost, or a pipeline or search that ends in one.
    output : int, default=0
        Which class, where there are more than two.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    TraceDisplay
        The picture.
    """
    return TraceDisplay.from_estimator(estimator, output=output, ax=ax)
