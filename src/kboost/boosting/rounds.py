"""Boosting rounds over support vector machines, Algorithms 1 to 4 of Xia and Hoi, two classes.

A round draws rows from the distribution, trains one SVM per kernel drawn, and takes the SVM of the
lowest error (D1, S1) or the weighted vote of all of them (D2, S2):

    error_t = sum_i D_t(i) [f_t(x_i) != y_i],      weight_t = 1/2 ln((1 - error_t) / error_t)

A round with an error of 1/2 or more is not taken: the distribution is reset and rows are drawn
again, at most `MAX_RESETS` times in a row. A round without an error is taken with a capped weight.
Both are in the trace. If no round is taken, the model is the majority class.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray
from kboost.boosting.adaboost import TIE, AdaBoost, lowest
from kboost.boosting.svm_learners import KernelDraw, RoundClassifier, SVMLearners
from kboost.columns.gram import SVM, signs
from kboost.core.checkpoint import digest
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.rounds import Round, Rounds
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason, no_columns

MAX_RESETS = 10  # draws in a row with an error of 1/2 or more, before the fit ends


@dataclass(frozen=True)
class RoundSettings:
    """The variant and the limits of the rounds."""

    vote: bool  # the weighted vote of all SVMs of a round, or the best of them
    kernel_decay: float
    max_iter: int
    n_drawn: int  # rows drawn per round


@dataclass(frozen=True)
class BoostedSVMs:
    """The rounds of one binary problem; support vectors are indices of its rows."""

    rounds: Sequence[tuple[Sequence[SVM], FloatArray]]  # SVMs of each round, with their votes
    weights: Sequence[float]
    trace: Rounds
    n_trained: IntArray  # (n_kernels,), SVMs trained per kernel
    reason: StopReason
    left_out: FloatArray  # (n,), mean sign of the rounds that did not draw a row; NaN without one


class BoostingRounds(Method[Round]):
    """AdaBoost over support vector machines."""

    trace: Rounds

    def __init__(
        self,
        learners: SVMLearners,
        adaboost: AdaBoost,
        n_kernels: int,
        settings: RoundSettings,
        rng: np.random.RandomState,
        pool: ThreadPool | None = None,
        n_jobs: int = 1,
    ) -> None:
        self._learners, self._adaboost, self._settings = learners, adaboost, settings
        self._kernels, self._rng = KernelDraw(n_kernels, settings.kernel_decay), rng
        self._pool, self._n_jobs = pool, n_jobs
        self._started, self._resets = time.monotonic(), 0
        self.trace = Rounds()
        self.rounds: list[tuple[Sequence[SVM], FloatArray]] = []
        self.weights: list[float] = []
        self.n_trained = np.zeros(n_kernels, dtype=np.intp)
        self._left_out = np.zeros((2, len(adaboost.targets)))  # sums of signs and of weights

    @property
    def left_out(self) -> FloatArray:
        """The weighted mean sign of the rounds that did not draw a row; NaN without one."""
        signs, weights = self._left_out
        return np.where(weights > 0, signs / np.where(weights > 0, weights, 1.0), np.nan)

    def advance(self) -> Round:
        adaboost, rng = self._adaboost, self._rng
        rows, counts = adaboost.draw(self._settings.n_drawn, rng)
        drawn = self._kernels.draw(rng.random_sample(len(self.n_trained)))
        svms = self._learners.train(drawn, rows, counts, self._pool, self._n_jobs)
        predicted = self._learners.predicted(svms)
        errors = adaboost.errors(predicted)
        self._kernels.update(drawn, errors)
        self.n_trained[drawn] += 1
        classifier, error = choose(svms, predicted, errors, adaboost, self._settings.vote)
        accepted = error < 0.5 - TIE
        record = Round(
            iteration=len(self.weights),
            outcome="reset" if not accepted else "perfect" if error == 0 else "taken",
            error=error,
            weight=float(adaboost.weights(np.array([error]))[0]) if accepted else 0.0,
            kernels=tuple(svm.kernel for svm in classifier.svms),
            n_trained=len(drawn),
            n_rows=len(rows),
            one_class=not len(svms[0].support),
            seconds=time.monotonic() - self._started,
        )
        self._resets = 0 if accepted else self._resets + 1
        if accepted:
            adaboost.extend(classifier.predicted, record.weight)
            self.rounds.append((classifier.svms, classifier.votes))
            self.weights.append(record.weight)
            outside = np.full(len(classifier.predicted), record.weight)
            outside[rows] = 0.0
            self._left_out += [outside * classifier.predicted, outside]
        else:
            adaboost.reset()
        return record

    def identity(self) -> str:
        """The problem, and what a round draws."""
        start = self._adaboost.distribution
        return digest(self._adaboost.targets, start, len(self.n_trained), self._settings)

    def state(self) -> Any:
        """The rounds, the distributions of rows and kernels, and the random numbers."""
        return {
            "rounds": [
                ([(m.kernel, m.support, m.coef, m.bias) for m in machines], votes)
                for machines, votes in self.rounds
            ],
            "weights": list(self.weights),
            "resets": self._resets,
            "n_trained": self.n_trained.copy(),
            "left_out": self._left_out.copy(),
            "rows": self._adaboost.distribution,
            "kernels": self._kernels.probability.copy(),
            "random": self._rng.get_state(),
            "trace": Rounds(self.trace),
        }

    def restore(self, state: Any) -> None:
        """Continue after the last round."""
        self.rounds = [
            ([SVM(*machine) for machine in machines], votes) for machines, votes in state["rounds"]
        ]
        self.weights, self._resets = state["weights"], state["resets"]
        self.n_trained, self._left_out = state["n_trained"], state["left_out"]
        self._adaboost.distribution = state["rows"]
        self._kernels.probability = state["kernels"]
        self._rng.set_state(state["random"])
        self.trace = state["trace"]
        self._started -= self.trace[-1].seconds

    def certify(self) -> None:
        """Without a round the model is the majority class."""
        if not self.weights:
            self._take_constant()

    def limit(self, trace: Sequence[Round]) -> StopReason | None:
        """The stop rule: enough rounds, or too many draws without one."""
        done, max_iter = len(self.weights), self._settings.max_iter
        if done >= max_iter:
            return StopReason("max_iter", f"max_iter={max_iter} rounds done.")
        if self._resets >= MAX_RESETS:
            return StopReason(
                "weak",
                f"{MAX_RESETS} draws in a row gave no error below 1/2, after {done} rounds; "
                "raise sample_ratio or C, or add other kernels.",
            )
        return None

    def _take_constant(self) -> None:
        round_, weight, record = _constant(self._adaboost)
        self.rounds.append(round_)
        self.weights.append(weight)
        self.trace.append(replace(record, seconds=time.monotonic() - self._started))


def constant_rounds(adaboost: AdaBoost, n_kernels: int, deadline: Deadline) -> BoostedSVMs:
    """The model of a problem for which there was no time: the majority class."""
    rounds, weight, record = _constant(adaboost)
    trace = Rounds([record])
    n_trained = np.zeros(n_kernels, dtype=np.intp)
    never = np.full(len(adaboost.targets), np.nan)
    return BoostedSVMs([rounds], [weight], trace, n_trained, no_columns(deadline), never)


def _constant(adaboost: AdaBoost) -> tuple[tuple[Sequence[SVM], FloatArray], float, Round]:
    """A round with the majority class, its weight and its record."""
    adaboost.reset()
    sign = 1.0 if adaboost.distribution @ adaboost.targets > 0 else -1.0
    error = adaboost.errors(np.full((1, len(adaboost.targets)), sign))
    weight = float(adaboost.weights(error)[0])
    constant = SVM(0, np.zeros(0, dtype=np.intp), np.zeros(0), sign)
    record = Round(0, "constant", float(error[0]), weight, (), 0, 0, True, 0.0)
    return ([constant], np.ones(1)), weight, record


def boost(
    method: BoostingRounds, deadline: Deadline = NO_LIMIT, listeners: Sequence[Listener] = ()
) -> BoostedSVMs:
    """Run the rounds until `max_iter` of them were taken, or a limit ends them."""
    reason = iterate(method, method.limit, deadline=deadline, listeners=listeners)
    if reason is INTERRUPTED and not method.weights:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    if reason is OUT_OF_TIME and method.trace[-1].outcome == "constant":
        reason = no_columns(deadline)
    return BoostedSVMs(
        method.rounds, method.weights, method.trace, method.n_trained, reason, method.left_out
    )


def choose(
    svms: Sequence[SVM],
    predicted: FloatArray,
    errors: FloatArray,
    adaboost: AdaBoost,
    vote: bool,
) -> tuple[RoundClassifier, float]:
    """The SVM of the lowest error, or the vote of all of them; and its error."""
    if vote:
        weights = adaboost.weights(errors)
        majority = signs(weights @ predicted)
        error = float(adaboost.errors(majority[None])[0])
        return RoundClassifier(svms, weights, majority), error
    best = lowest(errors)
    return RoundClassifier([svms[best]], np.ones(1), predicted[best]), float(errors[best])
