"""The error on rows held out, with the step that was kept and the one where the fit stopped."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import BLUE, GREY, RED, axes_of, count_columns, legend_above
from kboost.plotting._fitted import trace_of, unwrapped


class ValidationDisplay:
    """Validation error against the columns generated; the stop is marked.

    Make it with :meth:`from_estimator`.

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
        """Draw the validation curve of an estimator fitted with rows held out.

        Parameters
        ----------
        estimator : estimator
            Fitted with `early_stopping`, or `X_val` and `y_val`.
        output : int, default=0
            Which class, where there are more than two.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ValidationDisplay
            The picture.
        """
        trace = trace_of(unwrapped(estimator), output)
        error = trace.values("validation_error")
        if not np.isfinite(error).any():
            raise ValueError(
                "estimator must be fitted with early_stopping, or X_val and y_val; "
                "no rows were held out in this fit."
            )
        return cls(n_columns=trace.values("n_columns"), error=error).plot(ax=ax)

    def plot(self, ax: Any = None) -> ValidationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to.

        Returns
        -------
        ValidationDisplay
            Itself.
        """
        self.ax_ = axes_of(ax)
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
    """Draw the error on rows held out, with the stop marked.

    Parameters
    ----------
    estimator : estimator
        Fitted with `early_stopping`, or `X_val` and `y_val`.
    output : int, default=0
        Which class, where there are more than two.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    ValidationDisplay
        The picture.
    """
    return ValidationDisplay.from_estimator(estimator, output=output, ax=ax)
