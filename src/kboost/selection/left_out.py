"""Decision values of a margin classifier at rows left out, at a fraction of the cost of a fit.

The columns of the fitted model stay; only their coefficients are solved for again without some of
the rows, and these rows are evaluated. Both programs start from the coefficients and duals of the
model and are solved loosely: the LP by an interior-point method without a vertex, the QP as usual.

A nu problem is replaced by the hinge problem with the same solution and margin 1: divided by the
margin rho (2-norm), or by tau, the optimum and largest edge of the LP (nu_lp.py), it is

    2-norm   minimise  1/2 |x|^2  + sum_i w_i / (W rho)     slack_i     with the duals u / rho
    1-norm   minimise  sum_j |x_j| + sum_i w_i / (nu W tau)  slack_i    with the duals u / tau

Where the model is the 2-norm optimum over a whole library, `H H'` of its columns is known, and its
dual is solved again by libsvm, with an upper bound of 0 for the duals of rows left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from kboost._typing import BoolArray, FloatArray
from kboost.core.deadline import Deadline
from kboost.core.protocols import Fit
from kboost.exceptions import OutOfTimeError, SolverError
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty
from kboost.solvers.interior_point import begin, solve_interior
from kboost.solvers.libsvm import solve_dual
from kboost.solvers.margin_lp import MarginData
from kboost.solvers.margin_qp import MarginQP
from kboost.solvers.predictor_corrector import scaled_lp

_LOOSE = 1e-3  # relative gap
_LOOSE_MARGIN = 0.03  # of libsvm, on margins of 1: a gap of about 1e-3
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
    tol: float = _LOOSE,
) -> FloatArray:
    """Decision values of each sample by the model without its part, (n,); NaN outside the parts.

    `columns` are those of `fit` at the samples, (n, k); `rows` are the hinge or nu-SVM rows it was
    fitted to.
    """
    hinge, duals = _as_hinge(rows, fit, norm)
    solve = _linear if norm == "l1" else _quadratic
    out = np.full(len(columns), np.nan)
    for part in parts:
        if not deadline.remaining:
            raise OutOfTimeError("no time is left to leave rows out.")
        kept = ~part
        data = MarginData(
            hinge.signs[kept],
            hinge.targets[kept],
            hinge.slack_costs[kept],
            penalty.nonnegative,
            penalty.intercept,
        )
        start = replace(fit, weights=duals[kept])
        coef, bias = solve(columns[kept], data, start, tol, deadline.remaining)
        out[part] = columns[part] @ coef + bias
    return out


def leave_out_of_dual(
    products: FloatArray,
    rows: MarginRows,
    parts: Iterable[BoolArray],
    deadline: Deadline,
    tol: float = _LOOSE_MARGIN,
) -> FloatArray:
    """As `leave_out`, for hinge rows and all columns of a library: `products` is their H H'."""
    out = np.full(len(products), np.nan)
    for part in parts:
        if not deadline.remaining:
            raise OutOfTimeError("no time is left to leave rows out.")
        upper = np.where(part, 0.0, rows.slack_costs)
        duals, bias, _ = solve_dual(products, rows.signs, upper, tol, deadline.remaining)
        out[part] = products[part] @ (rows.signs * duals) + bias
    return out


def _as_hinge(rows: MarginRows, fit: Fit, norm: Norm) -> tuple[MarginRows, FloatArray]:
    """The hinge problem with the same solution, and its duals."""
    duals = rows.signs * fit.weights
    if rows.margin_width is None:
        return rows, duals
    unit = fit.margin_width if norm == "l2" else -fit.objective
    if unit <= _NOTHING:
        raise SolverError("a nu-SVM without a margin has no equivalent hinge problem.")
    slack_costs = rows.slack_costs / (unit if norm == "l2" else -rows.margin_width.cost * unit)
    hinge = replace(
        rows, targets=np.ones_like(rows.targets), slack_costs=slack_costs, margin_width=None
    )
    return hinge, np.clip(duals / unit, 0.0, slack_costs)


def _linear(
    columns: FloatArray, rows: MarginData, fit: Fit, tol: float, seconds: float
) -> tuple[FloatArray, float]:
    """Coefficients and bias of the LP; the weights of `fit` are its first duals."""
    k, penalized = columns.shape[1], rows.intercept == "penalized"
    signed = rows.signs[:, None] * np.hstack([columns, np.ones((len(columns), int(penalized)))])
    two_sided = np.array([not rows.nonnegative] * k + [True] * penalized, dtype=bool)
    free = rows.intercept == "free"
    lp, size = scaled_lp(signed, rows, np.ones(len(two_sided)), two_sided, free_bias=free)
    x = np.append(fit.coef, [fit.bias] * penalized) * size
    start = begin(lp, x, fit.bias if free else 0.0, fit.weights)
    best = solve_interior(lp, start, tol=tol, seconds=seconds).best
    coef = best.x / size
    return coef[:k], float(coef[k]) if penalized else best.bias


def _quadratic(
    columns: FloatArray, rows: MarginData, fit: Fit, tol: float, seconds: float
) -> tuple[FloatArray, float]:
    """Coefficients and bias of the QP."""
    qp = MarginQP(rows, fit.weights)
    qp.extend(columns)
    qp.start_from(fit.coef, fit.bias)
    optimum = qp.solve(seconds, tol=tol).checked()
    return optimum.coef, optimum.bias
