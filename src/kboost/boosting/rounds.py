"""The rounds of boosted machines, Algorithms 1 to 4 of Xia and Hoi, on one problem of two classes.

A round whose error is 1/2 or more is not taken: the distribution goes back to its start and rows
are drawn again, a bounded number of times in a row. One without an error is taken with a capped
weight. Both are in the trace.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.boosting.adaboost import SAME, AdaBoost, least
from kboost.boosting.svm_learners import Committee, KernelDraw, SVMLearners
from kboost.columns.gram import SVM, signs
from kboost.core.deadline import Deadline
from kboost.core.rounds import Round, Rounds
from kboost.core.stopping import INTERRUPTED, StopReason

RETRIES = 10  # draws in a row of an error of 1/2 or more, before a fit gives up
logger = logging.getLogger("kboost")


@dataclass(frozen=True)
class Scheme:
    """What tells the variants apart, and the limits they share."""

    vote: bool  # all machines of a round, or the best of them
    decay: float
    C: float
    max_iter: int


@dataclass
class Boosted:
    """The rounds of one task; support is among all merged rows."""

    committees: list[tuple[Sequence[SVM], FloatArray]]
    weights: list[float]
    trace: Rounds
    trained: IntArray  # (n_kernels,)
    reason: StopReason | None = None


def boost(
    machines: SVMLearners,
    ada: AdaBoost,
    n_kernels: int,
    scheme: Scheme,
    size: int,
    rng: np.random.RandomState,
    deadline: Deadline,
    pool: ThreadPoolExecutor | None,
    n_jobs: int,
    told: Callable[[Any], Any] = lambda rule: rule,
) -> Boosted:
    """The rounds of one task, until `max_iter` of them were taken.

    `told` may make of the rule that ends them another one that ends them earlier.
    """
    started, failures = time.monotonic(), 0
    kernels = KernelDraw(n_kernels, scheme.decay)
    out = Boosted([], [], Rounds(), np.zeros(n_kernels, dtype=np.intp))

    def ended(trace: Rounds) -> StopReason | None:
        return _reason(out, failures, scheme.max_iter, deadline)

    try:
        rule = told(ended)
        while out.reason is None:
            rows, counts = ada.draw(size, rng)
            drawn = kernels.draw(rng.random_sample(n_kernels))
            found = machines.train(drawn, rows, counts, pool, n_jobs)
            predicted = machines.predicted(found)
            errors = ada.errors(predicted)
            kernels.update(drawn, errors)
            out.trained[drawn] += 1
            committee, error = choose(found, predicted, errors, ada, scheme.vote)
            taken = error < 0.5 - SAME
            step = Round(
                iteration=len(out.weights),
                outcome="reset" if not taken else "perfect" if error == 0 else "taken",
                error=error,
                weight=float(ada.weights(np.array([error]))[0]) if taken else 0.0,
                kernels=tuple(machine.kernel for machine in committee.machines),
                n_trained=len(drawn),
                n_rows=len(rows),
                one_class=not len(found[0].support),
                seconds=time.monotonic() - started,
            )
            if not taken:
                failures += 1
                ada.reset()
            else:
                failures = 0
                ada.extend(committee.predicted, step.weight)
                out.committees.append((committee.machines, committee.votes))
                out.weights.append(step.weight)
            out.trace.append(step)
            logger.info("%s", step)
            out.reason = rule(out.trace)
    except KeyboardInterrupt:
        out.reason = INTERRUPTED
    if not out.weights and out.reason is not INTERRUPTED:
        _settle_for_constant(out, ada)
    return out


def choose(
    machines: Sequence[SVM],
    predicted: FloatArray,
    errors: FloatArray,
    ada: AdaBoost,
    vote: bool,
) -> tuple[Committee, float]:
    """The machine of the lowest error, or the vote of all of them; and its error."""
    if vote:
        weights = ada.weights(errors)
        said = signs(weights @ predicted)
        return Committee(machines, weights, said), float(ada.errors(said[None])[0])
    best = least(errors)
    return Committee([machines[best]], np.ones(1), predicted[best]), float(errors[best])


def _reason(out: Boosted, failures: int, max_iter: int, deadline: Deadline) -> StopReason | None:
    done = len(out.weights)
    if done >= max_iter:
        return StopReason("max_iter", f"max_iter={max_iter} rounds done.")
    if failures >= RETRIES:
        return StopReason(
            "weak",
            f"{RETRIES} draws in a row gave no error below 1/2, after {done} rounds; "
            "raise sample_ratio or C, or offer other kernels.",
        )
    if deadline.remaining == 0.0 and done:
        return StopReason(
            "max_seconds", f"max_seconds reached after {done} rounds; raise max_seconds."
        )
    return None


def _settle_for_constant(out: Boosted, ada: AdaBoost) -> None:
    """The heavier class everywhere: no draw was any good."""
    ada.reset()
    constant = 1.0 if ada.distribution @ ada.targets > 0 else -1.0
    error = ada.errors(np.full((1, len(ada.targets)), constant))
    weight = float(ada.weights(error)[0])
    out.committees.append(([SVM(0, np.zeros(0, dtype=np.intp), np.zeros(0), constant)], np.ones(1)))
    out.weights.append(weight)
    seconds = out.trace[-1].seconds
    out.trace.append(Round(0, "constant", float(error[0]), weight, (), 0, 0, True, seconds))
