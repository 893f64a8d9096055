"""A regression on one feature with its tube."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import AMBER, BLUE, GREY, RED, get_axes
from kboost.plotting._fitted import unwrap


class TubeDisplay:
    """The fitted curve of one feature, the tube around it, the points, and the centres.

    Use :meth:`from_estimator` to create it.

    Parameters
    ----------
    x, curve : ndarray of shape (n_grid,)
        The curve.
    epsilon : float
        Half the width of the tube.
    points : tuple of ndarray of shape (n,)
        Feature and target of the rows.
    outside : ndarray of shape (n,)
        Which of them lie outside the tube.
    centers : ndarray of shape (n_columns,) or None
        Where the columns are centred.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        The axes and the figure.
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        x: FloatArray,
        curve: FloatArray,
        epsilon: float,
        points: tuple[FloatArray, FloatArray],
        outside: Any,
        centers: FloatArray | None = None,
    ) -> None:
        self.x, self.curve, self.epsilon = x, curve, epsilon
        self.points, self.outside, self.centers = points, outside, centers

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> TubeDisplay:
        """Draw the tube of a regressor fitted to one feature.

        Parameters
        ----------
        estimator : KernelBoostRegressor
            Fitted.
        X : array-like of shape (n, 1)
            Rows.
        y : array-like of shape (n,)
            Their targets.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        TubeDisplay
            The display.
        """
        model = unwrap(estimator)
        if not hasattr(model, "epsilon_"):
            raise TypeError(
                "estimator must be a KernelBoostRegressor, which has a tube; "
                f"got {type(model).__name__}."
            )
        table, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 1:
            raise ValueError(f"X must have one feature; got shape {table.shape}.")
        names = list(X.columns) if hasattr(X, "columns") else None

        def predict(x: FloatArray) -> FloatArray:
            rows: Any = x[:, None] if names is None else type(X)({names[0]: x})
            return np.asarray(estimator.predict(rows), dtype=np.float64)

        feature = table[:, 0]
        x = np.linspace(feature.min(), feature.max(), 400)
        plain = not hasattr(estimator, "steps") and model.centers_ is not None
        display = cls(
            x=x,
            curve=predict(x),
            epsilon=float(model.epsilon_),
            points=(feature, y),
            outside=np.abs(y - predict(feature)) > model.epsilon_ * (1 + 1e-6),
            centers=np.asarray(model.centers_)[:, 0] if plain else None,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> TubeDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        TubeDisplay
            The display itself.
        """
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.ax_.fill_between(
            self.x,
            self.curve - self.epsilon,
            self.curve + self.epsilon,
            color=BLUE,
            alpha=0.18,
            lw=0,
            label=f"tube, ± {self.epsilon:.3g}",
        )
        self.ax_.plot(self.x, self.curve, color=BLUE, lw=1.8)
        feature, y = self.points
        self.ax_.scatter(feature[~self.outside], y[~self.outside], s=9, color=GREY, lw=0)
        self.ax_.scatter(
            feature[self.outside],
            y[self.outside],
            s=14,
            color=RED,
            lw=0,
            label=f"outside: {int(self.outside.sum())} of {len(y)}",
        )
        if self.centers is not None:
            heights = np.interp(self.centers, self.x, self.curve)
            self.ax_.scatter(
                self.centers,
                heights,
                s=46,
                color=AMBER,
                edgecolor="white",
                zorder=3,
                label=f"centres: {len(self.centers)}",
            )
        self.ax_.legend()
        return self


def plot_tube(estimator: Any, X: Any, y: Any, *, ax: Any = None) -> TubeDisplay:
    """Draw a regression on one feature with its tube.

    Parameters
    ----------
    estimator : KernelBoostRegressor
        Fitted.
    X : array-like of shape (n, 1)
        Rows.
    y : array-like of shape (n,)
        Their targets.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    TubeDisplay
        The display.
    """
    return TubeDisplay.from_estimator(estimator, X, y, ax=ax)
