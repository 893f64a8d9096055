"""The default library: eight kernels of four kinds.

- linear and quadratic, on standardised features: global trends and pairs of features;
- Gaussians of three widths on the same features: smooth data, one shared distance block;
- city-block Laplacians of three widths on ranks: tables with jumps, heavy tails and irrelevant
  features. Ranks of CSR rows are expensive; scaled features are used instead.

Widths stay within a factor of 4 of the mean distance, so that no column is a spike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear, Polynomial
from kboost.kernels.rows import as_rows
from kboost.kernels.sample import Sample
from kboost.kernels.stationary import Gaussian, Laplacian
from kboost.kernels.transforms import Standardize

GAUSSIAN_WIDTHS = (0.25, 1.0, 4.0)
LAPLACIAN_WIDTHS = (0.5, 1.0, 2.0)


def default_kernels(X: Any, sample_weight: Any = None) -> list[Kernel]:
    """Return the default library for these rows, resolved.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Rows on which widths and transforms are computed; features may have any scale.
    sample_weight : array-like of shape (n,), optional
        Weights; a row of weight 2 is equivalent to the row given twice.

    Returns
    -------
    list of Kernel
        Eight kernels, which share three blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import default_kernels
    >>> len(default_kernels(np.random.default_rng(0).normal(size=(20, 3))))
    8
    """
    return library_on(Sample(as_rows(X), sample_weight))


def library_on(sample: Sample) -> list[Kernel]:
    """Return the default library on a shared sample."""
    standard = sample.view(None, "standard")
    transform = standard.transform
    assert isinstance(transform, Standardize)
    varying = max(1, int((transform.scale > 0).sum()))
    ranks = sample.view(None, "ranks" if isinstance(sample.X, np.ndarray) else transform)
    square = sample.width("mean", "sqeuclidean", standard)
    cityblock = sample.width("mean", "cityblock", ranks)
    kernels: list[Kernel] = [
        Linear(on=transform),
        Polynomial(2, gamma=1.0 / varying, on=transform),
        *(Gaussian(f * square, on=transform) for f in GAUSSIAN_WIDTHS),
        *(Laplacian(f * cityblock, on=ranks.transform) for f in LAPLACIAN_WIDTHS),
    ]
    return [kernel.resolve_on(sample) for kernel in kernels]
