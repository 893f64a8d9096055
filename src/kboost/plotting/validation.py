"""The error on held-out rows, with the step that was kept and the step where the fit stopped."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import BLUE, GREY, RED, count_columns, get_axes, legend_above
from kboost.plotting._fitted import trace_of, unwrap


class ValidationDisplay:
    """Validation error against the columns generated; the stop is marked.

    Use :meth:`from_estimator` to create it.

    Parameters
    ----------
    n_columns : ndarray of shape (n_steps,)
        Columns generated before each step.
    error : ndarray of shape (n_steps,)
        The error on the rows held out.

    Attributes
    ----------
    best_ : int
        The step of the lowest error, which is the one kept.
    ax_, figure_ : matplotlib objects
        The axes and the figure.
    """

    ax_: Any
    figure_: Any

    def __init__(self, *, n_columns: FloatArray, error: FloatArray) -> None:
        self.n_columns, self.error = n_columns, error
        self.best_ = int(np.nanargmin(error))

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int = 0, ax: Any = None
    ) -> ValidationDisplay:
        """Draw the validation curve of an estimator fitted with held-out rows.

        Parameters
        ----------
        estimator : estimator
            Fitted with `early_stopping`, or `X_val` and `y_val`.
        output : int, default=0
            Index of the class, if there are more than two.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        ValidationDisplay
            The display.
        """
        trace = trace_of(unwrap(estimator), output)
        error = trace.values("validation_error")
        if not np.isfinite(error).any():
            raise ValueError(
                "estimator must be fitted with early_stopping, or with X_val and y_val; "
                "got a fit without held-out rows."
            )
        return cls(n_columns=trace.values("n_columns"), error=error).plot(ax=ax)

    def plot(self, ax: Any = None) -> ValidationDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        ValidationDisplay
            The display itself.
        """
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.ax_.plot(self.n_columns, self.error, "o-", ms=3.5, lw=1.6, color=BLUE)
        kept = self.n_columns[self.best_]
        self.ax_.axvline(kept, color=RED, lw=1.2, label=f"kept: {kept:.0f} columns")
        self.ax_.axvline(
            self.n_columns[-1],
            color=GREY,
            lw=1.2,
            ls=":",
            label=f"stopped: {self.n_columns[-1]:.0f}",
        )
        self.ax_.set(xlabel="columns generated", ylabel="validation error")
        count_columns(self.ax_)
        legend_above(self.ax_)
        return self


def plot_validation(estimator: Any, *, output: int = 0, ax: Any = None) -> ValidationDisplay:
    """Draw the error on held-out rows, with the stop marked.

    Parameters
    ----------
    estimator : estimator
        Fitted with `early_stopping`, or `X_val` and `y_val`.
    output : int, default=0
        Index of the class, if there are more than two.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    ValidationDisplay
        The display.
    """
    return ValidationDisplay.from_estimator(estimator, output=output, ax=ax)
