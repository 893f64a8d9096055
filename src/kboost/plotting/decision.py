"""The decision surface over two features, with the centres of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.rows import as_dense
from kboost.plotting._axes import BLUE, OTHER_MARKER, RED, get_axes, marker_of
from kboost.plotting._fitted import kernel_of_centers, unwrap

_COLOURS = ("#dd9a8b", "#f3d5cd", "#fbfaf8", "#cfe0ec", "#8fb8d4")  # from one class to the other
_MARGIN = 0.08  # of the range, around the points
_POINTS = (RED, BLUE)


class DecisionDisplay:
    """Values of a model of two features, the points, and the centres by kernel.

    Use :meth:`from_estimator` to create it.

    Parameters
    ----------
    first, second : ndarray of shape (n,) and (m,)
        The grid.
    values : ndarray of shape (m, n)
        Values there: of the decision function, of a regression, or numbers of classes.
    X, y : ndarray, optional
        Points to show.
    centers : ndarray of shape (n_columns, 2), optional
        Centres of the model's columns.
    kernel_of_center : list of str, optional
        The kernel of each.
    is_class : bool, default=False
        Whether values are the numbers of classes.

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
        first: FloatArray,
        second: FloatArray,
        values: FloatArray,
        X: Any = None,
        y: Any = None,
        centers: Any = None,
        kernel_of_center: list[str] | None = None,
        is_class: bool = False,
    ) -> None:
        self.first, self.second, self.values = first, second, values
        self.X, self.y, self.is_class = X, y, is_class
        self.centers, self.kernel_of_center = centers, kernel_of_center or []

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, grid_resolution: int = 200, ax: Any = None
    ) -> DecisionDisplay:
        """Draw the surface of an estimator fitted to two features.

        Parameters
        ----------
        estimator : estimator
            A fitted kboost estimator, or a pipeline or search that ends in one. Centres are not
            drawn if a pipeline transforms X.
        X : array-like of shape (n, 2)
            Points; they set the range.
        y : array-like of shape (n,), optional
            Their labels.
        grid_resolution : int, default=200
            Points of the grid per feature.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        DecisionDisplay
            The display.
        """
        model = unwrap(estimator)
        names = list(X.columns) if hasattr(X, "columns") else None
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X must have two features; got shape {points.shape}.")
        low, high = points.min(axis=0), points.max(axis=0)
        margin = _MARGIN * np.where(high > low, high - low, 1.0)
        first, second = np.linspace(low - margin, high + margin, grid_resolution).T
        grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
        rows: Any = grid if names is None else type(X)(dict(zip(names, grid.T, strict=True)))
        values, is_class = _values(estimator, rows)
        plain = not hasattr(estimator, "steps") or len(estimator.steps) == 1
        centers = as_dense(model.centers_) if plain and model.centers_ is not None else None
        shown = centers is not None and centers.shape[1] == 2
        display = cls(
            first=first,
            second=second,
            values=values.reshape(grid_resolution, grid_resolution),
            X=points,
            y=None if y is None else np.asarray(y),
            centers=centers if shown else None,
            kernel_of_center=kernel_of_centers(model) if shown else None,
            is_class=is_class,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> DecisionDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        DecisionDisplay
            The display itself.
        """
        from matplotlib.colors import LinearSegmentedColormap

        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        two_sided = not self.is_class and self.values.min() < 0 < self.values.max()
        size = np.percentile(np.abs(self.values), 98) or 1.0
        style = (
            {"vmin": -size, "vmax": size, "cmap": LinearSegmentedColormap.from_list("", _COLOURS)}
            if two_sided
            else {"cmap": "Pastel1" if self.is_class else "Blues"}
        )
        self.ax_.pcolormesh(
            self.first, self.second, self.values, shading="nearest", rasterized=True, **style
        )
        if two_sided:
            self.ax_.contour(
                self.first, self.second, self.values, [0], colors="#22303c", linewidths=1.4
            )
        if self.X is not None:
            self._scatter_points()
        if self.centers is not None:
            self._scatter_centers()
        return self

    def _scatter_points(self) -> None:
        labels = np.zeros(len(self.X), dtype=int)
        if self.y is not None and len(np.unique(self.y)) <= 10:
            labels = np.unique(self.y, return_inverse=True)[1]
        for label in np.unique(labels):
            colour = _POINTS[label] if labels.max() < 2 else f"C{label}"
            self.ax_.scatter(*self.X[labels == label].T, s=7, color=colour, alpha=0.55, lw=0)

    def _scatter_centers(self) -> None:
        families = np.array([name.split("(")[0] or name for name in self.kernel_of_center])
        for family in dict.fromkeys(families.tolist()):
            marker, colour = marker_of(family) if family else OTHER_MARKER
            chosen = self.centers[families == family]
            self.ax_.scatter(
                *chosen.T,
                s=48,
                marker=marker,
                color=colour,
                edgecolor="white",
                lw=1.1,
                zorder=3,
                label=f"{family} ({len(chosen)})",
            )
        self.ax_.legend(title="centres by kernel", framealpha=0.9, loc="lower left")


def _values(estimator: Any, rows: Any) -> tuple[FloatArray, bool]:
    """The values to draw, and whether they are class indices."""
    if not hasattr(estimator, "decision_function"):
        return np.asarray(estimator.predict(rows), dtype=np.float64), False
    decision = np.asarray(estimator.decision_function(rows))
    if decision.ndim == 1:
        return decision, False
    return decision.argmax(axis=1).astype(np.float64), True


def plot_decision(
    estimator: Any, X: Any, y: Any = None, *, grid_resolution: int = 200, ax: Any = None
) -> DecisionDisplay:
    """Draw the surface of a model of two features, with its centres by kernel.

    Parameters
    ----------
    estimator : estimator
        A fitted kboost estimator, or a pipeline or search that ends in one.
    X : array-like of shape (n, 2)
        Points; they set the range.
    y : array-like of shape (n,), optional
        Their labels.
    grid_resolution : int, default=200
        Points of the grid per feature.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    DecisionDisplay
        The display.
    """
    return DecisionDisplay.from_estimator(estimator, X, y, grid_resolution=grid_resolution, ax=ax)
