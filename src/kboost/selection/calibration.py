"""Probabilities that agree with the predicted class.

With the decision values f_k of the classes (two classes: 0 and f) and one slope a > 0,

    p_k = exp(a f_k) / sum_l exp(a f_l)          (two classes: 1 / (1 + exp(-a f)))

There is no offset and the slope is the same for every class, so the largest p belongs to the
largest f. Where rounding makes two of them equal, the predicted class gets the next larger number.

The slope maximises the weighted likelihood (selection/platt.py). A margin classifier is too
confident on its training rows, so f comes from models without the row (selection/left_out.py): a
fifth of the rows at a time, by distinct x and class by class, until there are enough rows for one
number. Where that is not possible (no time, Ctrl-C, too few rows, a solver that fails), half the
slope of the training rows is used, and `held_out` is False.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.deadline import Deadline
from kboost.core.interruptible import interruptible
from kboost.core.iterate import Method, iterate, logger
from kboost.core.protocols import Fit, Hypothesis
from kboost.core.stopping import OUT_OF_TIME, StopReason
from kboost.core.validation import columns_at
from kboost.data.merged_rows import MergedRows, majority_code
from kboost.exceptions import SolverError
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty
from kboost.selection.left_out import Norm, leave_out
from kboost.selection.platt import fit_slope, per_class
from kboost.solvers.softmax import log_softmax, softmax

FOLDS = 5
ENOUGH = 500  # rows left out
SHRUNKEN = 0.5  # of the slope of training rows
COMPUTED = StopReason("computed", "the decision values of rows left out are known.")
COMPLETE = StopReason("complete", "every output was solved without the rows left out.")
TOO_FEW_ROWS = StopReason("rows", "there are too few rows to leave some out.")


@dataclass(frozen=True)
class Calibration:
    """The slope, the number of distinct rows behind it, and whether these were held out."""

    slope: float
    n_rows: int
    held_out: bool

    def probabilities(self, decision: FloatArray) -> FloatArray:
        """`p_k` of each row, (n, n_classes), from (n,) or (n, n_classes) values."""
        scores = per_class(decision)
        return _agreeing(softmax(self._times(scores)), scores)

    def log_probabilities(self, decision: FloatArray) -> FloatArray:
        """`log p_k`; finite also where p_k underflows to 0."""
        scores = per_class(decision)
        return _agreeing(log_softmax(self._times(scores)), scores)

    def __str__(self) -> str:
        source = "held-out rows" if self.held_out else "training rows, halved"
        if not self.n_rows:
            return f"probabilities: slope {self.slope:.3g}, without rows"
        return f"probabilities: slope {self.slope:.3g}, from {self.n_rows} {source}"

    def _times(self, scores: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            gaps = self.slope * (scores - scores.max(axis=1, keepdims=True))
        bounded: FloatArray = np.maximum(gaps, -np.finfo(np.float64).max)
        return bounded


@dataclass(frozen=True)
class FittedOutput:
    """An output, and the problem it was fitted to."""

    problem: MarginRows
    hypotheses: Sequence[Hypothesis]
    fit: Fit


def calibrate(
    rows: MergedRows,
    outputs: Sequence[FittedOutput],
    *,
    norm: Norm,
    penalty: MarginPenalty,
    rng: np.random.RandomState,
    deadline: Deadline,
) -> tuple[Calibration, StopReason]:
    """Fit the slope; the reason is that of the refits without some of the rows."""
    method = LeftOutDecisions(rows, outputs, deal(rows, rng), norm, penalty, deadline)
    reason = iterate(method, level=logging.DEBUG)
    values = np.full(len(rows.weight), np.nan)
    if reason is COMPLETE:
        values = _joined(method.decisions)
    elif reason.rule == "solver":
        logger.info("%s", reason)
    finite = ~np.isnan(values.reshape(len(values), -1)).any(axis=1)
    if finite.any():
        slope = fit_slope(values[finite], rows.codes[finite], rows.weight[finite])
        calibration = Calibration(slope, int(finite.sum()), held_out=True)
    else:
        fitted = _joined([output.fit.decision for output in outputs])
        slope = fit_slope(fitted, rows.codes, rows.weight)
        if any(output.fit.coef.any() for output in outputs):  # a constant fits no row too well
            slope *= SHRUNKEN
        calibration = Calibration(slope, len(fitted), held_out=False)
    logger.info("%s", calibration)
    return calibration, reason


class LeftOutDecisions(Method[str]):
    """Decision values at rows left out, one output per step."""

    def __init__(
        self,
        rows: MergedRows,
        outputs: Sequence[FittedOutput],
        parts: Sequence[BoolArray],
        norm: Norm,
        penalty: MarginPenalty,
        deadline: Deadline,
    ) -> None:
        self._X, self._outputs, self._parts = rows.X, outputs, parts
        self._norm, self._penalty, self._deadline = norm, penalty, deadline
        self.decisions: list[FloatArray] = []  # one per output, NaN at rows never left out
        self.trace: list[str] = []

    def advance(self) -> str | StopReason:
        if not self._parts:
            return TOO_FEW_ROWS
        if len(self.decisions) == len(self._outputs):
            return COMPLETE
        try:
            self.decisions.append(self._solve(self._outputs[len(self.decisions)]))
        except SolverError as error:
            return StopReason("solver", str(error))
        return f"output {len(self.decisions)} solved without the rows left out"

    def _solve(self, output: FittedOutput) -> FloatArray:
        """Decision values of one output at the rows of each part, by models without the part."""
        fit, used = output.fit, np.flatnonzero(output.fit.coef)
        return leave_out(
            columns_at(self._X, [output.hypotheses[j] for j in used.tolist()]),
            output.problem,
            replace(fit, coef=fit.coef[used]),
            self._parts,
            norm=self._norm,
            penalty=self._penalty,
            deadline=self._deadline,
        )


def _joined(outputs: Sequence[FloatArray]) -> FloatArray:
    """One column per output; a single one stays a vector."""
    return outputs[0] if len(outputs) == 1 else np.column_stack(outputs)


@dataclass(frozen=True)
class LeftOut:
    """Decision values at rows left out, with the classes and weights of these rows."""

    decision: FloatArray  # (n,) or (n, n_classes)
    codes: IntArray
    weight: FloatArray


def calibrate_on(
    compute: Callable[[], LeftOut | None], fallback: float, deadline: Deadline
) -> tuple[Calibration, StopReason]:
    """Fit the slope to what `compute` returns; the reason may be that Ctrl-C ended it.

    Without a result (None, no time, Ctrl-C, a solver that fails) the slope is `fallback`.
    """

    def left_out() -> tuple[LeftOut | None, StopReason]:
        if not deadline.remaining:
            return None, OUT_OF_TIME
        try:
            return compute(), COMPUTED
        except SolverError as error:
            return None, StopReason("solver", str(error))

    result, reason = interruptible(left_out, None)
    if result is None or not len(np.unique(result.codes)) > 1:
        calibration = Calibration(fallback, 0, held_out=False)
    else:
        slope = fit_slope(result.decision, result.codes, result.weight)
        calibration = Calibration(slope, len(result.codes), held_out=True)
    logger.info("%s", calibration)
    return calibration, reason


def deal(rows: MergedRows, rng: np.random.RandomState) -> list[BoolArray]:
    """Parts to leave out, each a fifth of the distinct x of every class, never a whole class.

    The result depends neither on the order of the rows nor on the names of the classes.
    """
    kind = majority_code(rows)
    order = np.lexsort((rng.permutation(len(kind)), kind))
    first = np.searchsorted(kind[order], kind[order])  # where the class begins
    fold = np.empty(len(kind), dtype=np.intp)
    fold[order] = (np.arange(len(kind)) - first) % FOLDS
    fold[np.bincount(kind)[kind] == 1] = -1
    of_row = fold[rows.center_of_row]
    parts: list[BoolArray] = []
    held = 0
    for number in range(FOLDS):
        part = of_row == number
        if held < ENOUGH and part.any():
            parts.append(part)
            held += int(part.sum())
    return parts


def normalised_logistic(values: FloatArray) -> FloatArray:
    """`1 / (1 + exp(-f_k))` of the outputs (n, q), divided by their sum; the largest f stays so."""
    scores, logs = _log_logistic(values)
    raw = np.exp(logs - logs.max(axis=1, keepdims=True))
    return _agreeing(raw / raw.sum(axis=1, keepdims=True), scores)


def log_normalised_logistic(values: FloatArray) -> FloatArray:
    """The logarithm of `normalised_logistic`, finite also where that is 0."""
    scores, logs = _log_logistic(values)
    return _agreeing(logs - logsumexp(logs, axis=1, keepdims=True), scores)


def _log_logistic(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A score per class, and `log(1 / (1 + exp(-f_k)))` of each."""
    scores = np.hstack([-values, values]) if values.shape[1] == 1 else values
    return scores, -np.logaddexp(0.0, -scores)


def _agreeing(values: FloatArray, scores: FloatArray) -> FloatArray:
    """Lift the value of the class predicted where rounding has made another one as large."""
    winner = scores.argmax(axis=1)
    tied = np.flatnonzero(values.argmax(axis=1) != winner)
    values[tied, winner[tied]] = np.nextafter(values[tied].max(axis=1), np.inf)
    return values
