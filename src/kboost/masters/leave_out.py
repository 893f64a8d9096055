"""What a margin classifier says of rows it has not seen, for a fraction of what it cost.

The columns of a finished model stay; only their coefficients are found again, without some of the
rows, and these rows are judged by them. A row whose slack costs nothing is not there: in the LP
it is enough to set the caps of the rows left out to 0, and simplex goes on from the vertex that
the model names. The QP starts from the model's coefficients and duals and is solved loosely.

A nu problem is replaced by the hinge problem of the same solution, whose margin is 1. Divided by
the margin rho, or by tau, the optimum and largest edge of the LP (nu_lp.py), it is

    2-norm   minimise  1/2 |x|^2  + sum_i w_i / (W rho)     slack_i     with the duals u / rho
    1-norm   minimise  sum_j |x_j| + sum_i w_i / (nu W tau)  slack_i    with the duals u / tau
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from kboost._errors import OutOfTimeError, SolverError
from kboost._typing import BoolArray, FloatArray
from kboost.core.protocols import Deadline, Fit
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty
from kboost.solvers.box_qp import MarginQP
from kboost.solvers.lp import ColumnShape, MarginData

_LOOSE = 1e-3  # relative gap of the quadratic programs
_NOTHING = 1e-12  # of a margin

Norm = Literal["l1", "l2"]


def leave_out(
    columns: FloatArray,
    rows: MarginRows,
    fit: Fit,
    parts: Iterable[BoolArray],
    *,
    norm: Norm,
    penalty: MarginPenalty,
    deadline: Deadline,
) -> FloatArray:
    """Decision values of the samples in some part, (n,), by models without it; else NaN.

    `columns` are those of `fit`, (n, k), at the samples; `rows` those it was fitted to, of a hinge
    or a nu-SVM.
    """
    hinge, duals = _as_hinge(rows, fit, norm)
    start = replace(fit, weights=hinge.signs * duals)
    again: _Again = (_Simplex if norm == "l1" else _Newton)(columns, hinge, start, penalty)
    out = np.full(len(columns), np.nan)
    for part in parts:
        if not deadline.remaining:
            raise OutOfTimeError("no time is left to find the coefficients again.")
        coef, bias = again.without(part, deadline.remaining)
        out[part] = columns[part] @ coef + bias
    return out


def _as_hinge(rows: MarginRows, fit: Fit, norm: Norm) -> tuple[MarginRows, FloatArray]:
    """The hinge problem of the same solution, and its duals."""
    duals = rows.signs * fit.weights
    if rows.level is None:
        return rows, duals
    unit = fit.level if norm == "l2" else -fit.objective
    if unit <= _NOTHING:
        raise SolverError("a nu-SVM without a margin has no hinge problem of the same solution.")
    caps = rows.caps / (unit if norm == "l2" else -rows.level.price * unit)
    hinge = replace(rows, targets=np.ones_like(rows.targets), caps=caps, level=None)
    return hinge, np.clip(duals / unit, 0.0, caps)


class _Again(Protocol):
    """The problem once more, some rows left out."""

    def without(self, part: BoolArray, seconds: float) -> tuple[FloatArray, float]:
        """Coefficients and bias."""


class _Simplex:
    def __init__(
        self, columns: FloatArray, rows: MarginRows, fit: Fit, penalty: MarginPenalty
    ) -> None:
        self._data = _data(rows, penalty)
        self._lp = ColumnShape(self._data)
        self._lp.extend(rows.signed(columns))
        self._lp.crash(fit.coef, rows.signs * fit.weights)

    def without(self, part: BoolArray, seconds: float) -> tuple[FloatArray, float]:
        self._lp.recap(replace(self._data, caps=np.where(part, 0.0, self._data.caps)))
        vertex = self._lp.solve(seconds)
        return vertex.coef, vertex.bias


class _Newton:
    def __init__(
        self, columns: FloatArray, rows: MarginRows, fit: Fit, penalty: MarginPenalty
    ) -> None:
        self._columns, self._rows, self._fit, self._penalty = columns, rows, fit, penalty

    def without(self, part: BoolArray, seconds: float) -> tuple[FloatArray, float]:
        kept, rows = ~part, self._rows
        left = replace(
            rows, signs=rows.signs[kept], targets=rows.targets[kept], caps=rows.caps[kept]
        )
        qp = MarginQP(_data(left, self._penalty), left.signs * self._fit.weights[kept])
        qp.extend(self._columns[kept])
        qp.start_from(self._fit.coef, self._fit.bias)
        optimum = qp.solve(seconds, tol=_LOOSE)
        return optimum.coef, optimum.bias


def _data(rows: MarginRows, penalty: MarginPenalty) -> MarginData:
    return MarginData(rows.signs, rows.targets, rows.caps, penalty.nonnegative, penalty.intercept)
