"""Kernels and ridge for the SYB family, chosen on a few rows.

"ard" is a Gaussian with a width for each feature, by marginal likelihood. "auto" lets that one (on
dense rows that are many against their features), Gaussians on standardised features and city-block
Laplacians on ranks compete by their leave-one-out error, each at its best ridge. A ridge that is
"auto" alone is found in the same way for the sum of the kernels given. None of it needs more than
a thousand rows, and the ridge, a variance of noise in units of the kernel, carries over to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.estimators._claims import check_claim, is_claimed
from kboost.kernels.adapters import as_kernels
from kboost.kernels.ard import fit_ard
from kboost.kernels.base import Kernel
from kboost.kernels.default import default_kernels
from kboost.kernels.rows import as_dense
from kboost.kernels.stationary import Gaussian, Laplacian
from kboost.solvers.leave_one_out import leave_one_out
from kboost.solvers.threads import one_blas_thread

ROWS = 1000  # that kernels and ridge are chosen on
RIDGES = np.logspace(-6, 2, 25)  # times the mean of the kernel's diagonal
_ENOUGH, _MANY = 200, 10  # rows for widths of their own: so many, and so many a feature

_PURPOSE = "a penalty in their RKHS"


@dataclass(frozen=True)
class Lesson:
    """The few rows: in canonical order, with weights."""

    X: Any
    targets: FloatArray  # (n, q)
    weight: FloatArray
    names: Any = None  # of the features
    width: int | None = None  # rows of the input, for precomputed kernels
    points: Any = None  # numbers of these rows, for precomputed kernels

    @property
    def centers(self) -> Any:
        """The rows as the second argument of a kernel."""
        return self.X if self.points is None else self.points


def choose(kernels: Any, ridge: Any, lesson: Lesson) -> tuple[tuple[Kernel, ...], float]:
    """The kernels, resolved, and the ridge."""
    with one_blas_thread():
        if isinstance(kernels, str) and kernels == "ard":
            found = fit_ard(
                as_dense(lesson.X), lesson.targets, sample_weight=lesson.weight, n_rows=ROWS
            )
            return (found.kernel,), found.ridge if isinstance(ridge, str) else float(ridge)
        if isinstance(kernels, str) and kernels == "auto":
            return _compete(ridge, lesson)
        resolved = as_kernels(
            kernels,
            lesson.X,
            sample_weight=lesson.weight,
            feature_names=lesson.names,
            width=lesson.width,
            alone=("precomputed", "ard"),
        )
        for kernel in resolved:
            if kernel.is_psd and is_claimed(kernel):
                check_claim(kernel, lesson.X, lesson.centers, _PURPOSE, centred=False)
        if isinstance(ridge, str):
            return resolved, _best_ridge(resolved, lesson)[1]
        return resolved, float(ridge)


def _compete(ridge: Any, lesson: Lesson) -> tuple[tuple[Kernel, ...], float]:
    entrants: list[Kernel] = [
        kernel
        for kernel in default_kernels(lesson.X, lesson.weight)
        if isinstance(kernel, Gaussian | Laplacian)
    ]
    n, d = lesson.X.shape
    if isinstance(lesson.X, np.ndarray) and n >= max(_ENOUGH, _MANY * d):
        found = fit_ard(lesson.X, lesson.targets, sample_weight=lesson.weight, n_rows=ROWS)
        entrants.append(found.kernel)
    results = [(*_best_ridge([kernel], lesson), kernel) for kernel in entrants]
    _, best, kernel = min(results, key=lambda result: result[0])
    return (kernel,), best if isinstance(ridge, str) else float(ridge)


def _best_ridge(kernels: Sequence[Kernel], lesson: Lesson) -> tuple[float, float]:
    """The lowest leave-one-out error of the sum of the kernels, and its ridge."""
    K = sum(kernel(lesson.X, lesson.centers) for kernel in kernels)
    assert isinstance(K, np.ndarray)
    share = lesson.weight / lesson.weight.sum()
    targets = lesson.targets - share @ lesson.targets
    unit = float(np.mean(np.diag(K)))
    ridges = RIDGES * (unit if unit > 0 else 1.0)
    errors = leave_one_out((K + K.T) / 2, targets, lesson.weight, ridges)
    best = int(np.argmin(errors))
    return float(errors[best]), float(ridges[best])
