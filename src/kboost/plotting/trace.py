"""Objective and gap, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import BLUE, RED, axes_of
from kboost.plotting._fitted import trace_of, unwrapped

FLOOR = 1e-8  # a gap below it is rounding


class TraceDisplay:
    """Objective and proven gap against the columns generated.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    n_columns : ndarray of shape (n_steps,)
        Columns generated before each step.
    objective : ndarray of shape (n_steps,)
        The objective there.
    gap : ndarray of shape (n_steps,)
        The relative gap there; NaN where nothing was proved.

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

    def __init__(self, *, n_columns: FloatArray, objective: FloatArray, gap: FloatArray) -> None:
        self.n_columns, self.objective, self.gap = n_columns, objective, gap

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
        trace = trace_of(unwrapped(estimator), output)
        names = ("n_columns", "objective", "gap")
        return cls(**{name: trace.values(name) for name in names}).plot(ax=ax)

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
        self.ax_.set(xlabel="columns generated", ylabel="objective")
        if (self.objective > 0).all():
            self.ax_.set_yscale("log")
        if np.isfinite(self.gap).any():
            self.ax_.yaxis.label.set_color(BLUE)
            self.gap_ax_ = other = self.ax_.twinx()
            gap = np.maximum(self.gap, FLOOR)
            other.plot(self.n_columns, gap, "s--", ms=3.2, lw=1.4, color=RED)
            other.set(yscale="log", ylabel="relative gap")
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
