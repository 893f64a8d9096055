"""What boosted support vector machines share: input, duels, what is kept, prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.callbacks import (
    CallbackSupportMixin,
    callback_listeners,
    fit_task,
    with_callbacks,
)
from kboost._estimator.explained_rounds import explained_rounds
from kboost._estimator.explanation import ExplainMixin, Explanation
from kboost._estimator.parameter_rules import RULES as SHARED
from kboost._estimator.progress import show_progress
from kboost._estimator.svm_input import check_two_classes, machine_kernels
from kboost._rules import POSITIVE, UNIT, Rule, check_params, one_of
from kboost._typing import FloatArray
from kboost._validation import check_table, check_weights, unchanged_on_error
from kboost.boosting.adaboost import AdaBoost
from kboost.boosting.multiclass import (
    BinaryProblem,
    binary_problems,
    class_scores,
    output_names,
    predicted_codes,
)
from kboost.boosting.rounds import BoostedSVMs, BoostingRounds, RoundSettings, boost
from kboost.boosting.svm_ensemble import SVMEnsemble
from kboost.boosting.svm_learners import SVMLearners
from kboost.columns.gram import Gram
from kboost.core.deadline import Deadline
from kboost.core.rounds import Rounds
from kboost.core.stopping import INTERRUPTED
from kboost.data.class_weight import normalized_class_weights
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names
from kboost.kernels.normalize import normalized
from kboost.solvers.libsvm import solve_dual
from kboost.solvers.threads import blas_threads_for

TINY = 1e-300
MOST_DRAWN = 2.0**62  # rows in a round: more cannot be counted
GRAINS = 2.0**40  # in a unit of mean margin: the order of its sum must not decide a tie
_TAKEN = ("max_iter", "max_seconds", "memory_budget", "random_state", "n_jobs", "verbose")
RULES: dict[str, Rule] = {name: SHARED[name] for name in _TAKEN} | {
    "C": POSITIVE,
    "sample_ratio": UNIT,
    "tol": POSITIVE,
    "multi_class": one_of("ovo", "ovr"),
    "normalize": one_of("mean", "trace", None),
}


class KernelUse(NamedTuple):
    """How a kernel was used: rounds it is in, their weight (its share), machines trained."""

    rounds: int
    weight: float
    trained: int


class BoostedSVMBase(ExplainMixin, CallbackSupportMixin, BaseEstimator):
    """What boosted machines share: input, duels, prediction."""

    def _round_settings(self, n_drawn: int) -> RoundSettings:
        raise NotImplementedError

    def _rules(self) -> dict[str, Rule]:
        return RULES

    def _offered(
        self,
        kernels: Sequence[Kernel],
        rows: MergedRows,
        duels: Sequence[BinaryProblem],
        centers: Any,
        deadline: Deadline,
    ) -> Sequence[int]:
        """Which of the kernels take part."""
        return range(len(kernels))

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with fit_task(self, X, y, sample_weight):
            with unchanged_on_error(self):
                check_params(self.get_params(deep=False), self._rules())
                X, y = check_table(self, X, y, reset=True)
                weight = check_weights(sample_weight, X.shape[0])
                check_classification_targets(y)
                self.classes_, codes = np.unique(y, return_inverse=True)
                weight = normalized_class_weights(self.class_weight, self.classes_, codes, weight)
                rows = merge_rows(X, codes, weight)
                check_two_classes(self.classes_, rows)
                with show_progress(self.verbose), blas_threads_for(len(rows.weight)):
                    interrupted = self._learn(rows, X.shape[0])
            if interrupted:
                raise KeyboardInterrupt
        return self

    def _learn(self, rows: MergedRows, n_input_rows: int) -> bool:
        deadline = Deadline.after(self.max_seconds)
        centers = rows.first[rows.center_of_row][:, None] if self._is_precomputed else rows.X
        library = machine_kernels(self, rows, centers, n_input_rows)
        kernels = self._in_unit(library, rows, centers)
        duels = binary_problems(rows.codes, len(self.classes_), self.multi_class)
        offered = self._offered(kernels, rows, duels, centers, deadline)
        self.kernels_ = [kernels[j] for j in offered]
        boosted = self._boost_all(rows, duels, centers, deadline)
        self._keep([library[j] for j in offered], centers, duels, boosted)
        return any(one.reason is INTERRUPTED for one in boosted)

    def _in_unit(
        self, kernels: Sequence[Kernel], rows: MergedRows, centers: Any
    ) -> tuple[Kernel, ...]:
        """The kernels scaled as `normalize` says."""
        if self._is_precomputed:
            own = centers[:, 0]
            width = rows.X.shape[1] // len(kernels)
            place = np.arange(len(own))
            diagonals = [
                np.asarray(rows.X[place, j * width + own]).ravel() for j in range(len(kernels))
            ]
        else:
            diagonals = [kernel.diag(rows.X) for kernel in kernels]
        return normalized(kernels, diagonals, rows.weight, self.normalize)

    def _boost_all(
        self, rows: MergedRows, duels: Sequence[BinaryProblem], centers: Any, deadline: Deadline
    ) -> list[BoostedSVMs]:
        """One duel after the other, each with its share of the time."""
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(duels))
        n_jobs = min(effective_n_jobs(self.n_jobs), len(self.kernels_))
        solve = partial(solve_dual, tol=self.tol)
        boosted: list[BoostedSVMs] = []
        gram: Gram | None = None
        with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:
            for place, duel in enumerate(duels):
                if gram is None or len(duel.rows) != len(rows.weight):
                    gram = None  # gone before the next one is made
                    gram = Gram(
                        self.kernels_, rows.X[duel.rows], centers[duel.rows], self.memory_budget
                    )
                weight = rows.weight[duel.rows]
                drawn = min(self.sample_ratio * float(weight.sum()), MOST_DRAWN)
                rounds = BoostingRounds(
                    SVMLearners(gram, duel.signs, float(self.C), solve),
                    AdaBoost(duel.signs, weight),
                    len(self.kernels_),
                    self._round_settings(max(2, round(drawn))),
                    np.random.RandomState(seeds[place]),
                    pool,
                    n_jobs,
                )
                number = place if len(duels) > 1 else None
                found = boost(
                    rounds,
                    deadline.share(len(duels) - place),
                    callback_listeners(self, number=number, kind="pair of classes"),
                )
                boosted.append(found)
                if found.reason is INTERRUPTED:
                    break
        if len(boosted) < len(duels) or not all(one.weights for one in boosted):
            raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
        return boosted

    def _keep(
        self,
        library: Sequence[Kernel],
        centers: Any,
        duels: Sequence[BinaryProblem],
        boosted: Sequence[BoostedSVMs],
    ) -> None:
        """Set the fitted attributes; a single duel gives arrays, several give lists of them."""
        placed = [
            [
                ([replace(m, support=duel.rows[m.support]) for m in machines], votes)
                for machines, votes in one.machines
            ]
            for duel, one in zip(duels, boosted, strict=True)
        ]
        model = self._model = SVMEnsemble.assemble(self.kernels_, centers, placed)
        nobody: Any = np.zeros(0)
        self._binary_problems = [replace(duel, rows=nobody, signs=nobody) for duel in duels]
        names = unique_names([repr(kernel) for kernel in library])
        counts = model.columns_per_kernel
        self.kernel_usage_ = dict(zip(names, _usage(len(names), boosted), strict=True))
        self.columns_per_kernel_ = dict(zip(names, counts, strict=True))
        self.n_columns_ = sum(counts)
        self.centers_ = model.centers
        weights = [np.array(one.weights) for one in boosted]
        errors = [_errors(one.trace) for one in boosted]
        reasons = [str(one.reason) for one in boosted]
        traces = [one.trace for one in boosted]
        single = len(duels) == 1
        self.estimator_weights_ = weights[0] if single else weights
        self.errors_ = errors[0] if single else errors
        self.stop_reason_ = reasons[0] if single else reasons
        self.trace_ = traces[0] if single else traces
        self.n_iter_ = max(len(w) for w in weights)
        self.dual_gap_ = None

    def _rounds(self, X: Any) -> tuple[list[FloatArray], list[FloatArray]]:
        """What the rounds of each duel say, (n, n_rounds), and what they weigh."""
        check_is_fitted(self, "estimator_weights_")
        rows = check_table(self, X, reset=False)
        with blas_threads_for(rows.shape[0]):
            said = self._model.rounds(rows)
        weights: Any = self.estimator_weights_
        return said, [weights] if len(self._binary_problems) == 1 else weights

    def _scores(self, sums: Sequence[FloatArray], totals: Sequence[float]) -> FloatArray:
        """From the weighted sums of the duels to scores: (n,), or (n, n_classes)."""
        pairs = zip(sums, totals, strict=True)
        margins: list[FloatArray] = [
            np.rint(s / max(total, TINY) * GRAINS) / GRAINS for s, total in pairs
        ]
        if len(self.classes_) == 2:
            return margins[0] * totals[0]
        return class_scores(np.column_stack(margins), self._binary_problems, len(self.classes_))

    def explain(self, X: Any) -> Explanation:
        """Split each value by kernel, by group of features and by round, exactly.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        Explanation
            The shares add up to `decision_function`; one against one, to the mean margins of the
            duels. Where several kernels vote in a round there is no such split, and an error.
        """
        check_is_fitted(self, "estimator_weights_")
        rows = check_table(self, X, reset=False)
        weights: Any = self.estimator_weights_
        shares = [weights] if len(self._binary_problems) == 1 else weights
        if len(self.classes_) > 2:
            shares = [share / max(float(np.abs(share).sum()), TINY) for share in shares]
        return explained_rounds(self._model, rows, shares, self._splitting())

    def _outputs(self) -> tuple[Any, ...]:
        return output_names(self._binary_problems, self.classes_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray
            Two classes: the weighted sum of what the rounds say, positive for the second class.
            More: the votes of the pairs with their mean margins as decimals, or the mean margin
            of each class against the rest; largest for the class predicted.
        """
        said, weights = self._rounds(X)
        sums = [one @ weight for one, weight in zip(said, weights, strict=True)]
        return self._scores(sums, [float(np.abs(weight).sum()) for weight in weights])

    def predict(self, X: Any) -> Any:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.
        """
        scores = self.decision_function(X)
        return self.classes_[predicted_codes(scores)]

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the labels after each round, as a fit with so many rounds would give them.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n,)
            Labels from `classes_`. A pair of classes that has ended stays as it is.
        """
        said, weights = self._rounds(X)
        sums = [np.zeros(len(one)) for one in said]
        totals = [0.0] * len(said)
        for t in range(self.n_iter_):
            for k, (one, weight) in enumerate(zip(said, weights, strict=True)):
                if t < len(weight):
                    sums[k] = sums[k] + weight[t] * one[:, t]
                    totals[k] += abs(float(weight[t]))
            yield self.classes_[predicted_codes(self._scores(sums, totals))]

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def _errors(trace: Rounds) -> FloatArray:
    return np.array([step.error for step in trace if step.outcome != "reset"])


def _usage(n_kernels: int, boosted: Sequence[BoostedSVMs]) -> list[KernelUse]:
    rounds, weight = np.zeros(n_kernels, dtype=np.intp), np.zeros(n_kernels)
    for one in boosted:
        for (machines, votes), alpha in zip(one.machines, one.weights, strict=True):
            share = np.abs(votes) / max(float(np.abs(votes).sum()), TINY)
            for machine, part in zip(machines, share, strict=True):
                if len(machine.support):
                    rounds[machine.kernel] += 1
                    weight[machine.kernel] += alpha * part
    trained = sum((one.trained for one in boosted), np.zeros(n_kernels, dtype=np.intp))
    found = zip(rounds.tolist(), weight.tolist(), trained.tolist(), strict=True)
    return [KernelUse(*use) for use in found]
