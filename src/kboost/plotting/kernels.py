"""Bars of the number of columns per kernel, with shares of the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table
from kboost.plotting._axes import get_axes, marker_of
from kboost.plotting._fitted import input_of, kernel_names, kernel_weights, unwrap


class KernelsDisplay:
    """Number of columns per kernel as bars, with the share of each kernel in the output.

    Use :meth:`from_estimator` to create it.

    Parameters
    ----------
    names : list of str
        Names of the kernels of the library.
    counts : ndarray of shape (n_kernels,)
        Number of columns of each kernel.
    shares : ndarray of shape (n_kernels,) or None
        Share of each kernel in the output, by standard deviation over the rows; the sum is 1.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        The axes and the figure.
    """

    ax_: Any
    figure_: Any

    def __init__(
        self, *, names: Sequence[str], counts: IntArray, shares: FloatArray | None = None
    ) -> None:
        self.names, self.counts, self.shares = list(names), counts, shares

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, ax: Any = None) -> KernelsDisplay:
        """Draw the kernels of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted kboost estimator, or a pipeline or search that ends in one.
        X : array-like or CSR matrix of shape (n, n_features), optional
            Rows on which the shares of the output are measured.
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        KernelsDisplay
            The display.
        """
        model = unwrap(estimator)
        shares = None
        if X is not None:
            rows = check_table(model, input_of(estimator, X), reset=False)
            weights = kernel_weights(model, rows)
            shares = weights / weights.sum() if weights.any() else weights
        counts = np.array(list(model.columns_per_kernel_.values()))
        return cls(names=kernel_names(model), counts=counts, shares=shares).plot(ax=ax)

    def plot(self, ax: Any = None) -> KernelsDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        KernelsDisplay
            The display itself.
        """
        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        positions = np.arange(len(self.names))
        colours = [marker_of(name)[1] for name in self.names]
        bars = self.ax_.barh(positions, self.counts, color=colours, height=0.62)
        labels = [f"{n}" for n in self.counts]
        if self.shares is not None:
            labels = [
                f"{n} ({100 * share:.0f} % of the output)" if n else "0"
                for n, share in zip(self.counts, self.shares, strict=True)
            ]
        room = 1.15 if self.shares is None else 2.1  # for the labels of the bars
        self.ax_.bar_label(bars, labels, padding=4)
        self.ax_.set_yticks(positions, self.names, parse_math=False)
        self.ax_.set(xlabel="columns", xlim=(0, room * max(1, int(self.counts.max()))))
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.invert_yaxis()
        return self


def plot_kernels(estimator: Any, X: Any = None, *, ax: Any = None) -> KernelsDisplay:
    """Draw the number of columns per kernel and, measured on X, their shares of the output.

    Parameters
    ----------
    estimator : estimator
        A fitted kboost estimator, or a pipeline or search that ends in one.
    X : array-like or CSR matrix of shape (n, n_features), optional
        Rows on which the shares of the output are measured.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    KernelsDisplay
        The display.
    """
    return KernelsDisplay.from_estimator(estimator, X, ax=ax)
