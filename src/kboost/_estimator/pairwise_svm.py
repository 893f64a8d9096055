"""What rivals with one machine a duel share: input, kernels in a unit, duels, prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.callbacks import CallbackSupportMixin, fit_task, with_callbacks
from kboost._estimator.explanation import ExplainMixin
from kboost._estimator.parameter_rules import RULES as SHARED
from kboost._estimator.progress import show_progress
from kboost._estimator.svm_input import check_two_classes, machine_kernels
from kboost._rules import POSITIVE, Rule, one_of
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table, check_weights, unchanged_on_error
from kboost.boosting.multiclass import (
    BinaryProblem,
    binary_problems,
    class_scores,
    output_names,
    predicted_codes,
)
from kboost.columns.hypothesis import KernelPart
from kboost.core.deadline import Deadline
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED
from kboost.data.class_weight import apply_class_factors, class_factors
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.kernels.algebra import scale, sum_kernels
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names
from kboost.kernels.normalize import normalized
from kboost.kernels.shared import evaluate
from kboost.solvers.threads import blas_threads_for

_TAKEN = ("max_iter", "max_seconds", "tol", "memory_budget", "n_jobs", "verbose")
RULES: dict[str, Rule] = {name: SHARED[name] for name in _TAKEN} | {
    "C": POSITIVE,
    "normalize": one_of("mean", "trace"),
    "multi_class": one_of("ovo", "ovr"),
}


@dataclass(frozen=True)
class BinaryRows:
    """The rows of a duel, as first and as second argument of a kernel."""

    X: Any
    centers: Any
    signs: FloatArray
    weight: FloatArray
    number: int | None = None  # of the duel, where there are several

    def matrices(self, kernels: Sequence[Kernel]) -> FloatArray:
        """All kernels between all rows, (P, n, n)."""
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        blocks = {pairing: pairing.compute(self.X, self.centers) for pairing in pairings}
        n = len(self.signs)
        out = np.empty((len(kernels), n, n))
        for j, values in evaluate(kernels, blocks):
            out[j] = values
        return out


@dataclass(frozen=True)
class Outcome:
    """A duel's function `sum_p weight_p sum_i coef_i k_p(x, x_i) + bias`, and what ended it."""

    support: IntArray  # (m,), of the duel's rows
    coef: FloatArray  # (m,)
    weights: FloatArray  # (P,)
    bias: float
    reason: Any


class PairwiseSVMBase(ExplainMixin, CallbackSupportMixin, BaseEstimator):
    """The engine behind `fit`; what a duel learns is the subclasses' business."""

    def _duel(self, kernels: Sequence[Kernel], rows: BinaryRows, deadline: Deadline) -> Outcome:
        raise NotImplementedError

    def _show(self, outcomes: Sequence[Any]) -> None:
        """Set the attributes that tell of the outcomes."""
        raise NotImplementedError

    def _check(self) -> None:
        raise NotImplementedError

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, learn, keep; after Ctrl-C keep what there is and raise it again."""
        with fit_task(self, X, y, sample_weight):
            with unchanged_on_error(self):
                self._check()
                X, y = check_table(self, X, y, reset=True)
                weight = check_weights(sample_weight, X.shape[0])
                check_classification_targets(y)
                self.classes_, codes = np.unique(y, return_inverse=True)
                factors = class_factors(self.class_weight, self.classes_, codes, weight)
                weight = apply_class_factors(factors, codes, weight, named=self.class_weight)
                rows = merge_rows(X, codes, weight)
                check_two_classes(self.classes_, rows)
                with show_progress(self.verbose), blas_threads_for(len(rows.weight)):
                    interrupted = self._learn(rows, X.shape[0])
            if interrupted:
                raise KeyboardInterrupt
        return self

    def _learn(self, rows: MergedRows, n_input_rows: int) -> bool:
        """All duels; says whether Ctrl-C ended one."""
        centers = rows.first[rows.center_of_row][:, None] if self._is_precomputed else rows.X
        kernels = machine_kernels(self, rows, centers, n_input_rows)
        diagonals = self._diagonals(kernels, rows.X, centers)
        kernels = normalized(kernels, diagonals, rows.weight, self.normalize)
        duels = binary_problems(rows.codes, len(self.classes_), self.multi_class)
        self._check_memory(len(kernels), max(len(duel.rows) for duel in duels))
        outcomes = self._all_duels(kernels, rows, centers, duels)
        self._keep(kernels, centers, duels, outcomes)
        self._show(outcomes)
        return any(outcome.reason is INTERRUPTED for outcome in outcomes)

    def _all_duels(
        self,
        kernels: Sequence[Kernel],
        rows: MergedRows,
        centers: Any,
        duels: Sequence[BinaryProblem],
    ) -> list[Outcome]:
        deadline = Deadline.after(self.max_seconds)

        def one(place: int, duel: BinaryProblem, until: Deadline) -> Outcome:
            own = duel.rows
            weight, number = rows.weight[own], place if len(duels) > 1 else None
            given = BinaryRows(rows.X[own], centers[own], duel.signs, weight, number)
            return self._duel(kernels, given, until)

        if len(duels) > 1 and effective_n_jobs(self.n_jobs) > 1:
            workers = Parallel(n_jobs=self.n_jobs, prefer="threads")
            try:
                return list(workers(delayed(one)(*job, deadline) for job in enumerate(duels)))
            except KeyboardInterrupt:
                deadline.call_off()  # the threads look at it
                raise
        outcomes: list[Outcome] = []
        for place, duel in enumerate(duels):  # one after the other, each with its share of the time
            outcomes.append(one(place, duel, deadline.share(len(duels) - place)))
            if outcomes[-1].reason is INTERRUPTED:
                break
        if len(outcomes) < len(duels):
            raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
        return outcomes

    def _diagonals(self, kernels: Sequence[Kernel], X: Any, centers: Any) -> list[FloatArray]:
        if not self._is_precomputed:
            return [kernel.diag(X) for kernel in kernels]
        place, own, width = np.arange(X.shape[0]), centers[:, 0], X.shape[1] // len(kernels)
        return [np.asarray(X[place, j * width + own]).ravel() for j in range(len(kernels))]

    def _check_memory(self, n_kernels: int, n_rows: int) -> None:
        needed = 8 * (n_kernels + 2) * n_rows**2
        if needed > self.memory_budget:
            raise ValueError(
                f"memory_budget must be at least {needed} bytes for {n_kernels} kernel matrices of "
                f"{n_rows} rows; got memory_budget={self.memory_budget}."
            )

    def _keep(
        self,
        kernels: Sequence[Kernel],
        centers: Any,
        duels: Sequence[BinaryProblem],
        outcomes: Sequence[Outcome],
    ) -> None:
        """One model; each duel is a part of it, on a mixture of its own."""
        single, n_duels = len(duels) == 1, len(duels)
        coef = np.zeros((centers.shape[0], n_duels))
        parts, counts = [], np.zeros(len(kernels), dtype=np.intp)
        for k, (duel, outcome) in enumerate(zip(duels, outcomes, strict=True)):
            own = duel.rows[outcome.support]
            coef[own, k] = outcome.coef
            weighed = zip(outcome.weights.tolist(), kernels, strict=True)
            mixed = sum_kernels([scale(weight, kernel) for weight, kernel in weighed if weight > 0])
            if mixed is not None and len(own):
                only = np.zeros((len(own), n_duels))
                only[:, k] = outcome.coef
                parts.append(KernelPart(mixed, centers[own], only, own))
                counts[outcome.weights > 0] += len(own)
        bias = np.array([outcome.bias for outcome in outcomes])
        used = np.flatnonzero(coef.any(axis=1))
        self._model = AdditiveModel(tuple(parts), bias)
        self._binary_problems = [
            replace(duel, rows=duel.rows[:0], signs=duel.signs[:0]) for duel in duels
        ]
        self.kernels_ = list(kernels)
        names = unique_names([repr(kernel) for kernel in kernels])
        self.columns_per_kernel_ = dict(zip(names, counts.tolist(), strict=True))
        self.n_columns_ = int(counts.sum())
        self.centers_ = centers[used]
        self.coef_ = coef[used, 0] if single else coef[used].T
        self.intercept_ = float(bias[0]) if single else bias

    def _weights_of_kernels(self) -> FloatArray:
        """Of each duel, (n_duels, n_kernels)."""
        return np.ones((len(self._binary_problems), len(self.kernels_)))

    def _sum(self) -> AdditiveModel:
        """The mixtures taken apart again."""
        weights, parts = self._weights_of_kernels(), []
        mixed: Sequence[Any] = self._model.parts
        for part in mixed:
            for duel in np.flatnonzero(part.coef.any(axis=0)):  # the one it belongs to
                for weight, kernel in zip(weights[duel].tolist(), self.kernels_, strict=True):
                    if weight > 0:
                        coef = weight * part.coef
                        parts.append(KernelPart(kernel, part.centers, coef, part.indices))
        return AdditiveModel(tuple(parts), self._model.bias)

    def _outputs(self) -> tuple[Any, ...]:
        return output_names(self._binary_problems, self.classes_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            BinaryRows.

        Returns
        -------
        ndarray
            Two classes: the value of the machine, positive for the second class. More: the duels
            a class wins, with the sum of their values as decimals, or the value of each class
            against the rest; largest for the class predicted.
        """
        check_is_fitted(self, "intercept_")
        values = self._model.decision(check_table(self, X, reset=False))
        return class_scores(values, self._binary_problems, len(self.classes_))

    def predict(self, X: Any) -> Any:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            BinaryRows.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.
        """
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def scalar(values: Any) -> Any:
    """The value of a single duel, or all of them."""
    return values[0] if len(values) == 1 else values
