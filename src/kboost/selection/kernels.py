"""Kernels and ridge for the SYB family, chosen on a few rows.

"ard" is a Gaussian with a width for each feature, by marginal likelihood. "auto" lets that one (on
dense rows that are many against their features), Gaussians on standardised features and city-block
Laplacians on ranks compete by their leave-one-out error, each at its best ridge. A ridge that is
"auto" alone is found in the same way for the sum of the kernels given. None of it needs more than
a thousand rows, and the ridge, a variance of noise in units of the kernel, carries over to all.

With little time the rows are fewer, and out of it the best of those judged so far is taken. The
middle width of each kind is judged first, and half of the time is kept for the widths of each
feature. If none was judged, it is a Gaussian of the middle width, or what was given, with a ridge
of a hundredth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kboost._typing import FloatArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.data.kernel_checks import check_symmetric_psd, is_user_kernel
from kboost.kernels.adapters import as_kernels
from kboost.kernels.ard import ARD, fit_ard
from kboost.kernels.base import Kernel
from kboost.kernels.default import default_kernels
from kboost.kernels.rows import as_dense
from kboost.kernels.stationary import Gaussian, Laplacian
from kboost.solvers.leave_one_out import leave_one_out
from kboost.solvers.threads import one_blas_thread

ROWS = 1000  # that kernels and ridge are chosen on
_FEWER = (200, 400, 700)  # for want of time, in steps: milliseconds must not change a model
_SECONDS = 8.0  # for that many, of which the time is cubic; on a slow machine
RIDGES = np.logspace(-6, 2, 25)  # times the mean of the kernel's diagonal
_UNJUDGED = 1e-2  # in the same, where there was no time
_ENOUGH, _MANY = 200, 10  # rows for widths of their own: so many, and so many a feature

_PURPOSE = "a penalty in their RKHS"


@dataclass(frozen=True)
class SelectionSample:
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


def sample_size(kernels: Any, ridge: Any, deadline: Deadline) -> int:
    """How many rows there is time for; all of them where nothing is judged on them."""
    left = deadline.seconds
    named = isinstance(kernels, str) and kernels in ("auto", "ard")
    if left is None or not (named or isinstance(ridge, str)):
        return ROWS
    most = ROWS * (left / _SECONDS) ** (1 / 3)
    return max((size for size in (*_FEWER, ROWS) if size <= most), default=_FEWER[0])


class Chosen(NamedTuple):
    """The kernels, resolved, and the ridge."""

    kernels: tuple[Kernel, ...]
    ridge: float
    finished: bool = True  # False where time ended the choice


def choose(
    kernels: Any, ridge: Any, sample: SelectionSample, deadline: Deadline = NO_LIMIT
) -> Chosen:
    """What was asked for, and for the rest what is best on the sample."""
    with one_blas_thread():
        if isinstance(kernels, str) and kernels == "ard":
            found = _own_widths(as_dense(sample.X), sample, deadline)
            return _chosen([found.kernel], ridge, found.ridge, found.finished)
        if isinstance(kernels, str) and kernels == "auto":
            return _compete(ridge, sample, deadline)
        resolved = as_kernels(
            kernels,
            sample.X,
            sample_weight=sample.weight,
            feature_names=sample.names,
            width=sample.width,
            alone=("precomputed", "ard"),
        )
        for kernel in resolved:
            if kernel.is_psd and is_user_kernel(kernel):
                check_symmetric_psd(kernel, sample.X, sample.centers, _PURPOSE, centred=False)
        if not isinstance(ridge, str):
            return Chosen(resolved, float(ridge))
        error, best = _best_ridge(resolved, sample, deadline)
        return Chosen(resolved, best, error is not None)


def _chosen(kernels: Sequence[Kernel], ridge: Any, best: float, finished: bool) -> Chosen:
    return Chosen(tuple(kernels), best if isinstance(ridge, str) else float(ridge), finished)


def _compete(ridge: Any, sample: SelectionSample, deadline: Deadline) -> Chosen:
    entrants: list[Kernel] = [
        kernel
        for kernel in default_kernels(sample.X, sample.weight)
        if isinstance(kernel, Gaussian | Laplacian)
    ]
    n, d = sample.X.shape
    more = isinstance(sample.X, np.ndarray) and n >= max(_ENOUGH, _MANY * d)
    order = sorted(range(len(entrants)), key=lambda place: place % 3 != 1)  # of each kind three
    until = deadline.share(2) if more else deadline
    results: dict[int, tuple[float, float]] = {}  # errors and ridges

    def judge(place: int, until: Deadline) -> bool:
        if not until.remaining:
            return False
        error, best = _best_ridge([entrants[place]], sample, until)
        if error is not None:
            results[place] = error, best
        return error is not None

    finished = all([judge(place, until) for place in order])
    if more and deadline.remaining:
        found = _own_widths(sample.X, sample, deadline.share(2))
        entrants.append(found.kernel)
        finished = judge(len(order), deadline) and found.finished and finished
    elif more:
        finished = False
    if not results:
        return _chosen([entrants[order[0]]], ridge, _UNJUDGED, False)
    first = min(sorted(results), key=lambda place: results[place][0])
    return _chosen([entrants[first]], ridge, results[first][1], finished)


def _own_widths(X: FloatArray, sample: SelectionSample, deadline: Deadline) -> ARD:
    left = deadline.seconds
    return fit_ard(
        X,
        sample.targets,
        sample_weight=sample.weight,
        n_rows=ROWS,
        max_seconds=None if left is None else max(left, np.finfo(float).tiny),
    )


def _best_ridge(
    kernels: Sequence[Kernel], sample: SelectionSample, deadline: Deadline
) -> tuple[float | None, float]:
    """The lowest leave-one-out error of the sum of the kernels, and its ridge.

    Out of time there is no error, and the ridge is a plain one.
    """
    K = sum(kernel(sample.X, sample.centers) for kernel in kernels)
    assert isinstance(K, np.ndarray)
    share = sample.weight / sample.weight.sum()
    targets = sample.targets - share @ sample.targets
    unit = float(np.mean(np.diag(K)))
    unit = unit if unit > 0 else 1.0
    if not deadline.remaining:
        return None, _UNJUDGED * unit
    ridges = RIDGES * unit
    errors = leave_one_out((K + K.T) / 2, targets, sample.weight, ridges)
    best = int(np.argmin(errors))
    return float(errors[best]), float(ridges[best])
