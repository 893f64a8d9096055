"""Probabilities that never contradict the prediction.

With the decision values f_k of the classes (two classes: 0 and f) and one slope a > 0,

    p_k = exp(a f_k) / sum_l exp(a f_l)          (two classes: 1 / (1 + exp(-a f)))

There is no offset, and the slope is the same for every class: the largest p is that of the largest
f. Where rounding makes them equal, the class predicted gets the next larger number, so that holds
for every row and to the last bit.

The slope is the weighted maximum of likelihood,

    minimise  - sum_i w_i sum_k t_ik log p_ik,    t_ik = (N_k + 1) / (N_k + 2)  for the row's class,

the rest of 1 shared by the others (Platt's targets; N_k the weight of the class): convex in a, and
never without a minimum. A margin classifier is too sure of the rows it was fitted to, so f is that
of rows left out (selection/left_out.py): a fifth at a time, by distinct x and class by class, until
there are enough for one number. Where that cannot be had (no time left, Ctrl-C, too few rows, a
solver that gives up), half the slope of the training rows stands in, and `held_out` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.deadline import Deadline
from kboost.core.iterate import logger
from kboost.core.protocols import Fit, Hypothesis
from kboost.core.validation import columns_at
from kboost.data.merged_rows import MergedRows, majority_code
from kboost.exceptions import OutOfTimeError, SolverError
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty
from kboost.selection.left_out import Norm, leave_out

FOLDS = 5
ENOUGH = 500  # rows left out
SHRUNKEN = 0.5  # of the slope of training rows
LEAST, MOST = 1e-3, 1e6  # slope times the size of the decision values


@dataclass(frozen=True)
class Calibration:
    """The slope, the number of distinct rows it was fitted to, and whether these were held out."""

    slope: float
    n_rows: int
    held_out: bool

    def probabilities(self, decision: FloatArray) -> FloatArray:
        """`p_k` of each row, (n, n_classes), from (n,) or (n, n_classes) values."""
        scores = _per_class(decision)
        return _agreeing(softmax(self._times(scores), axis=1), scores)

    def log_probabilities(self, decision: FloatArray) -> FloatArray:
        """`log p_k`, finite also where p_k is too small for a number."""
        scores = _per_class(decision)
        return _agreeing(log_softmax(self._times(scores), axis=1), scores)

    def __str__(self) -> str:
        source = "held-out rows" if self.held_out else "training rows, and halved"
        return f"probabilities: slope {self.slope:.3g}, from {self.n_rows} {source}"

    def _times(self, scores: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            gaps = self.slope * (scores - scores.max(axis=1, keepdims=True))
        bounded: FloatArray = np.maximum(gaps, -np.finfo(np.float64).max)
        return bounded


@dataclass(frozen=True)
class Output:
    """A fitted output, and what it was fitted to."""

    problem: MarginRows
    hypotheses: Sequence[Hypothesis]
    fit: Fit


def calibrate(
    rows: MergedRows,
    outputs: Sequence[Output],
    *,
    norm: Norm,
    penalty: MarginPenalty,
    rng: np.random.RandomState,
    deadline: Deadline,
) -> tuple[Calibration, bool]:
    """Fit the slope; says also whether Ctrl-C ended it."""
    values, stopped = np.full(len(rows.weight), np.nan), False
    try:
        if parts := deal(rows, rng):
            values = _joined(
                [_left_out(rows.X, o, parts, norm, penalty, deadline) for o in outputs]
            )
    except (OutOfTimeError, SolverError) as reason:
        logger.info("%s", reason)
    except KeyboardInterrupt:
        stopped = True
    known = ~np.isnan(values.reshape(len(values), -1)).any(axis=1)
    if known.any():
        slope = fit_slope(values[known], rows.codes[known], rows.weight[known])
        calibration = Calibration(slope, int(known.sum()), held_out=True)
    else:
        fitted = _joined([output.fit.decision for output in outputs])
        slope = SHRUNKEN * fit_slope(fitted, rows.codes, rows.weight)
        calibration = Calibration(slope, len(fitted), held_out=False)
    logger.info("%s", calibration)
    return calibration, stopped


def _left_out(
    X: Any,
    output: Output,
    parts: Sequence[BoolArray],
    norm: Norm,
    penalty: MarginPenalty,
    deadline: Deadline,
) -> FloatArray:
    """Decision values of one output at the rows of each part, by models without it."""
    fit, used = output.fit, np.flatnonzero(output.fit.coef)
    return leave_out(
        columns_at(X, [output.hypotheses[j] for j in used.tolist()]),
        output.problem,
        replace(fit, coef=fit.coef[used]),
        parts,
        norm=norm,
        penalty=penalty,
        deadline=deadline,
    )


def _joined(outputs: Sequence[FloatArray]) -> FloatArray:
    """One column an output; a single one stays a vector."""
    return outputs[0] if len(outputs) == 1 else np.column_stack(outputs)


def deal(rows: MergedRows, rng: np.random.RandomState) -> list[BoolArray]:
    """Parts to leave out, each a fifth of the distinct x of every class; no class goes whole.

    Neither the order of the rows nor the names of the classes matter.
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


def fit_slope(decision: FloatArray, codes: IntArray, weight: FloatArray) -> float:
    """The slope of largest likelihood; see the head of this file."""
    scores = _per_class(decision)
    size = float(np.abs(scores - scores.mean(axis=1, keepdims=True)).max())
    if not 0.0 < size < np.inf:
        return 1.0
    scores, targets = scores / size, _targets(codes, weight, scores.shape[1])

    def rise(slope: float) -> float:
        """Derivative of what is minimised."""
        surplus = softmax(slope * scores, axis=1) - targets
        return float(weight @ np.einsum("ij,ij->i", surplus, scores))

    if rise(LEAST) >= 0.0:
        return LEAST / size
    if rise(MOST) <= 0.0:
        return MOST / size
    return float(brentq(rise, LEAST, MOST, rtol=1e-12)) / size


def _targets(codes: IntArray, weight: FloatArray, n_classes: int) -> FloatArray:
    """Platt's targets, (n, n_classes)."""
    mass = np.bincount(codes, weights=weight, minlength=n_classes)
    own = ((mass + 1.0) / (mass + 2.0))[codes]
    targets = np.repeat(((1.0 - own) / (n_classes - 1))[:, None], n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = own
    return targets


def _per_class(decision: FloatArray) -> FloatArray:
    """A value for each class: (0, f) for two classes."""
    if decision.ndim == 2:
        return decision
    return np.column_stack([np.zeros_like(decision), decision])


def _agreeing(values: FloatArray, scores: FloatArray) -> FloatArray:
    """Lift the value of the class predicted where rounding has made another one as large."""
    winner = scores.argmax(axis=1)
    tied = np.flatnonzero(values.argmax(axis=1) != winner)
    values[tied, winner[tied]] = np.nextafter(values[tied].max(axis=1), np.inf)
    return values
