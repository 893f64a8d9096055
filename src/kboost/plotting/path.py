"""Errors and numbers of columns along a path of C."""

from __future__ import annotations

from typing import Any

from kboost._typing import FloatArray
from kboost.model_selection import PathResult
from kboost.plotting._axes import BLUE, GREY, RED, get_axes, legend_above, scale_price
from kboost.plotting._fitted import unwrap


class PathDisplay:
    """Errors along a path of C, the number of columns of each model, and the chosen C.

    Make it with :meth:`from_path`, or :meth:`from_estimator`.

    Parameters
    ----------
    C : ndarray of shape (n_C,)
        The prices of errors.
    n_columns : ndarray of shape (n_C,)
        Columns in each model.
    train_error, validation_error : ndarray of shape (n_C,) or None
        Errors on the training rows and on the validation rows.
    best : int or None
        Index of the chosen C.

    Attributes
    ----------
    ax_, columns_ax_, figure_ : matplotlib objects
        The axes of the errors, those of the columns, and the figure.
    """

    ax_: Any
    columns_ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        C: FloatArray,
        n_columns: FloatArray,
        train_error: FloatArray | None = None,
        validation_error: FloatArray | None = None,
        best: int | None = None,
    ) -> None:
        self.C, self.n_columns, self.best = C, n_columns, best
        self.train_error, self.validation_error = train_error, validation_error

    @classmethod
    def from_path(cls, path: PathResult, *, ax: Any = None) -> PathDisplay:
        """Draw a result of :func:`kboost.model_selection.path`.

        Parameters
        ----------
        path : PathResult
            The path.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        PathDisplay
            The display.
        """
        names = ("C", "n_columns", "train_error", "validation_error", "best")
        return cls(**{name: getattr(path, name) for name in names}).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> PathDisplay:
        """Draw the path from which ``C="auto"`` chose.

        Parameters
        ----------
        estimator : estimator
            Fitted with ``C="auto"``.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        PathDisplay
            The display.
        """
        tuning = getattr(unwrap(estimator), "tuning_", None)
        if tuning is None:
            raise ValueError(
                "estimator must be fitted with C='auto' to have a path; use "
                "kboost.model_selection.path for other estimators."
            )
        return cls(
            C=tuning.C,
            n_columns=tuning.n_columns,
            validation_error=tuning.error,
            best=tuning.best,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> PathDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.columns_ax_ = other = self.ax_.twinx()
        other.plot(self.C, self.n_columns, ":", color=GREY, lw=1.4)
        other.set_ylabel("columns (dotted)", color=GREY)
        other.grid(visible=False)
        other.spines["right"].set_visible(True)
        if self.train_error is not None:
            self.ax_.plot(self.C, self.train_error, "s--", ms=3, color=BLUE, label="training error")
        if self.validation_error is not None:
            self.ax_.plot(
                self.C, self.validation_error, "o-", ms=3.5, color=RED, label="held-out error"
            )
        if self.best is not None:
            C = self.C[self.best]
            self.ax_.axvline(C, color=GREY, lw=1, label=f"C = {C:.3g}")
        self.ax_.set(xlabel="C", ylabel="error")
        scale_price(self.ax_, self.C)
        legend_above(self.ax_)
        return self


def plot_path(path: Any, *, ax: Any = None) -> PathDisplay:
    """Draw errors and numbers of columns along a path of C.

    Parameters
    ----------
    path : PathResult or estimator
        Result of :func:`kboost.model_selection.path`, or an estimator fitted with ``C="auto"``.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    PathDisplay
        The display.
    """
    if isinstance(path, PathResult):
        return PathDisplay.from_path(path, ax=ax)
    return PathDisplay.from_estimator(path, ax=ax)
