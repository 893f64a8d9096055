"""Families of kernels whose metric is learned: a kernel of a distance on transformed features.

    name              kernel                    features
    laplacian ranks   exp(-gamma |x - z|_1)     ranks
    laplacian         exp(-gamma |x - z|_1)     standardised
    matern            (1 + s) exp(-s)           standardised
    gaussian ARD      exp(-gamma |x - z|^2)     standardised, widths by marginal likelihood
    matern ARD        (1 + s) exp(-s)           standardised, with the same widths
    gaussian          exp(-gamma |x - z|^2)     standardised
    matern ranks      (1 + s) exp(-s)           ranks
    linear            x . z                     standardised, no width to learn
    quadratic         (1 + x . z / d)^2         standardised, no width to learn

Features of two values, such as those of one-hot encodings, are never standardised: their values
differ by 1, however rare one of them is. All other features have a variance of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.base import ViewKernel
from kboost.kernels.dot_product import Linear, Polynomial
from kboost.kernels.stationary import Gaussian, Laplacian, Matern
from kboost.kernels.transforms import Ranks, Standardize

_ARD_ROWS, _ARD_ROWS_PER_FEATURE = 150, 8  # least rows for widths by marginal likelihood
_ARD_FEATURES, _ARD_TARGETS = 60, 2  # most features and targets for them
_WIDE = 150  # features above which city-block distances cost too much


@dataclass(frozen=True)
class MetricFamily:
    """A kernel with its width and its transform still open."""

    name: str
    kind: Any  # the class of the kernel
    ranked: bool = False
    learned: bool = True  # whether there are widths to learn
    likelihood: bool = False  # whether they come from the marginal likelihood, not from gradients

    def transform(self, X: FloatArray, weight: FloatArray) -> Standardize | Ranks:
        """The transform before any width is learned."""
        return unit_ranks(X, weight) if self.ranked else unit_variance(X, weight)

    def kernel(self, gamma: float, transform: Any) -> ViewKernel:
        """The kernel of one width on transformed features."""
        kernel: ViewKernel
        if self.kind is Linear:
            kernel = Linear(on=transform)
        elif self.kind is Polynomial:
            kernel = Polynomial(2, gamma=1.0 / transform.n_features, on=transform)
        else:
            kernel = self.kind(gamma, on=transform)
        return kernel

    def widen(self, gamma: float, factor: float) -> float:
        """Gamma with all lengths multiplied by `factor`."""
        return gamma / factor if self.kind is Laplacian else gamma / factor**2


FAMILIES = (
    MetricFamily("laplacian ranks", Laplacian, ranked=True),
    MetricFamily("laplacian", Laplacian),
    MetricFamily("matern", Matern),
    MetricFamily("gaussian", Gaussian),
    MetricFamily("matern ranks", Matern, ranked=True),
    MetricFamily("gaussian ARD", Gaussian, likelihood=True),
    MetricFamily("matern ARD", Matern, likelihood=True),
    MetricFamily("linear", Linear, learned=False),
    MetricFamily("quadratic", Polynomial, learned=False),
)


def families_for(
    n_rows: int,
    n_features: int,
    n_targets: int = 1,
    families: Sequence[MetricFamily] = FAMILIES,
) -> list[MetricFamily]:
    """The families that can be searched on `n` rows at a reasonable cost."""
    dense_enough = n_rows >= max(_ARD_ROWS, _ARD_ROWS_PER_FEATURE * n_features)
    with_ard = dense_enough and n_features <= _ARD_FEATURES and n_targets <= _ARD_TARGETS
    return [
        f
        for f in families
        if (n_features <= _WIDE or f.kind.kind != "cityblock") and (with_ard or not f.likelihood)
    ]


def unit_variance(X: FloatArray, weight: FloatArray) -> Standardize:
    """Standardised features, except for those of two values."""
    transform = Standardize.fit(X, weight)
    low, high = X.min(axis=0), X.max(axis=0)
    two = np.all((low == X) | (high == X), axis=0) & (high > low)
    with np.errstate(over="ignore"):
        gap = np.ldexp(high, -transform.exponent) - np.ldexp(low, -transform.exponent)
    scale = np.where(two, 1.0 / np.where(two, gap, 1.0), transform.scale)
    return replace(transform, scale=scale)


def unit_ranks(X: FloatArray, weight: FloatArray) -> Ranks:
    """Ranks with a variance of 1; two values differ by 1."""
    transform = Ranks.fit(X, weight)
    knots = np.diff(transform.starts)
    return transform.scaled(np.where(knots == 2, 2.0, np.sqrt(12.0)))
