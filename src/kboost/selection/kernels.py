"""Kernels and ridge of the sparse kernel machines, chosen on a sample of the rows.

"ard" is a Gaussian with one width per feature, by marginal likelihood. "auto" compares Gaussians on
standardised features and city-block Laplacians on ranks by their leave-one-out errors, each at its
best ridge. On dense rows the best of them then competes with kernels that learn one width per
feature (selection/learned_kernels.py), on rows that neither has seen: leave-one-out errors would
prefer the metric with most parameters. A ridge of "auto" alone is found in the same way for the sum
of the given kernels. A thousand rows are enough, and the ridge, a variance of noise in units of the
kernel, holds for all rows.

With little time the sample is smaller, and when the time limit is reached the best candidate so far
is taken. The middle width of each kind comes first, and half of the time is reserved for learned
widths. Without any result the choice is a Gaussian of the middle width, or the given kernels, with
a ridge of 0.01.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
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
from kboost.metric.folds import LearningRows
from kboost.metric.rounds import fixed_error
from kboost.selection.learned_kernels import can_learn, judge_kernels
from kboost.solvers.leave_one_out import leave_one_out
from kboost.solvers.threads import one_blas_thread

ROWS = 1000  # of the sample
_FEWER = (200, 400, 700)  # with little time, in steps: milliseconds must not change a model
_SECONDS = 8.0  # for ROWS, on a slow machine; the time is cubic in the rows
RIDGES = np.logspace(-6, 2, 25)  # times the mean of the kernel's diagonal
_DEFAULT_RIDGE = 1e-2  # in the same unit, without time to choose

_PURPOSE = "a penalty in their RKHS"


@dataclass(frozen=True)
class SelectionSample:
    """A sample of the rows in canonical order, with weights."""

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
    """Rows of the sample that there is time for; all where no kernels are compared."""
    seconds = deadline.seconds
    named = isinstance(kernels, str) and kernels in ("auto", "ard")
    if seconds is None or not (named or isinstance(ridge, str)):
        return ROWS
    most = ROWS * (seconds / _SECONDS) ** (1 / 3)
    return max((size for size in (*_FEWER, ROWS) if size <= most), default=_FEWER[0])


class KernelChoice(NamedTuple):
    """The kernels, resolved, and the ridge."""

    kernels: tuple[Kernel, ...]
    ridge: float
    finished: bool = True  # False if time ended the choice
    errors: Mapping[str, float] = MappingProxyType({})  # on rows left out, of learned widths


def choose(
    kernels: Any, ridge: Any, sample: SelectionSample, deadline: Deadline = NO_LIMIT
) -> KernelChoice:
    """The given kernels and ridge; what is "auto" or "ard" is chosen on the sample."""
    with one_blas_thread():
        if isinstance(kernels, str) and kernels == "ard":
            ard = _fit_ard(as_dense(sample.X), sample, deadline)
            return _choice([ard.kernel], ridge, ard.ridge, ard.finished)
        if isinstance(kernels, str) and kernels == "auto":
            return _compare(ridge, sample, deadline)
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
            return KernelChoice(resolved, float(ridge))
        error, best = _best_ridge(resolved, sample, deadline)
        return KernelChoice(resolved, best, error is not None)


def _choice(kernels: Sequence[Kernel], ridge: Any, best: float, finished: bool) -> KernelChoice:
    return KernelChoice(tuple(kernels), best if isinstance(ridge, str) else float(ridge), finished)


def _compare(ridge: Any, sample: SelectionSample, deadline: Deadline) -> KernelChoice:
    candidates: list[Kernel] = [
        kernel
        for kernel in default_kernels(sample.X, sample.weight)
        if isinstance(kernel, Gaussian | Laplacian)
    ]
    learned = isinstance(sample.X, np.ndarray) and can_learn(*sample.X.shape)
    order = sorted(range(len(candidates)), key=lambda number: number % 3 != 1)  # three per kind
    until = deadline.share(2) if learned else deadline
    results: dict[int, tuple[float, float]] = {}  # errors and ridges

    def evaluate(number: int) -> bool:
        if not until.remaining:
            return False
        error, best = _best_ridge([candidates[number]], sample, until)
        if error is not None:
            results[number] = error, best
        return error is not None

    finished = all([evaluate(number) for number in order])
    if not results:
        return _choice([candidates[order[0]]], ridge, _DEFAULT_RIDGE, False)
    first = min(sorted(results), key=lambda number: results[number][0])
    plain = _choice([candidates[first]], ridge, results[first][1], finished)
    if not learned:
        return plain
    return _learned(plain, ridge, sample, deadline) or plain._replace(finished=False)


def _learned(
    plain: KernelChoice, ridge: Any, sample: SelectionSample, deadline: Deadline
) -> KernelChoice | None:
    """The kernel with learned widths, if it is better than the plain one; None without time."""
    if not deadline.remaining:
        return None
    rows = LearningRows(sample.X, sample.targets, sample.weight)
    judged, folds = judge_kernels(rows, deadline=deadline)
    best = judged[0]
    errors = {each.family.name: each.error for each in judged}
    before = float(np.mean([fixed_error(plain.kernels[0], plain.ridge, f) for f in folds]))
    if before <= best.error:
        return plain._replace(errors={"plain": before} | errors)
    kernel = best.kernel(sample.X, sample.weight)
    choice = _choice([kernel], ridge, best.ridge, plain.finished)
    return choice._replace(errors=errors | {"plain": before})


def _fit_ard(X: FloatArray, sample: SelectionSample, deadline: Deadline) -> ARD:
    seconds = deadline.seconds
    return fit_ard(
        X,
        sample.targets,
        sample_weight=sample.weight,
        n_rows=ROWS,
        max_seconds=None if seconds is None else max(seconds, np.finfo(float).tiny),
    )


def _best_ridge(
    kernels: Sequence[Kernel], sample: SelectionSample, deadline: Deadline
) -> tuple[float | None, float]:
    """The lowest leave-one-out error of the sum of the kernels, and its ridge.

    Without time the error is None and the ridge a default.
    """
    K = sum(kernel(sample.X, sample.centers) for kernel in kernels)
    assert isinstance(K, np.ndarray)
    share = sample.weight / sample.weight.sum()
    targets = sample.targets - share @ sample.targets
    unit = float(np.mean(np.diag(K)))
    unit = unit if unit > 0 else 1.0
    if not deadline.remaining:
        return None, _DEFAULT_RIDGE * unit
    ridges = RIDGES * unit
    errors = leave_one_out((K + K.T) / 2, targets, sample.weight, ridges)
    best = int(np.argmin(errors))
    return float(errors[best]), float(ridges[best])
