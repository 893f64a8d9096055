"""Basis vectors that all cells share: a joint fit of all rows, whose residual the cells learn.

    f(x) = bias + f_0(x) + f_c(x),     c the cell of x

    f_0 = argmin  1/2 sum_i w_i (y_i - f_0(x_i))^2 + ridge/2 |f_0|^2     on few basis vectors,
    f_c = argmin  1/2 sum_i w_i (y_i - f_0(x_i) - f_c(x_i))^2 + ridge/2 |f_c|^2    in every cell

The joint fit has what is smooth over the whole space. What it leaves varies over short distances,
so that cells lose little at their borders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.core.deadline import Deadline
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED
from kboost.data.indexed_rows import IndexedRows
from kboost.formulations import TargetRows
from kboost.kernels.base import Kernel
from kboost.plans.basis import BasisPlan, grow_basis
from kboost.plans.sparse import SparseData, SparsePlan
from kboost.settings import Joint, MaxResidual
from kboost.solvers.threads import blas_threads_for


@dataclass(frozen=True)
class SharedFit:
    """The parts of the joint fit, its values at the rows, and its penalty."""

    parts: tuple[Any, ...]
    values: FloatArray | float  # (n, q)
    penalty: float  # ridge/2 |f_0|^2
    interrupted: bool = False


NOTHING_SHARED = SharedFit((), 0.0, 0.0)


def fit_shared(
    plan: SparsePlan,
    data: SparseData,
    rows: IndexedRows,
    targets: FloatArray,
    kernel: Kernel,
    ridge: float,
    n_columns: int,
    seed: int,
    deadline: Deadline,
) -> SharedFit:
    """The joint fit of distinct rows to centred targets, in at most half of the time."""
    with blas_threads_for(len(rows.order)):
        candidates = data.location.candidates([kernel], rows, None, [])
        basis_plan = BasisPlan(
            MaxResidual(),
            Joint(),
            ridge,
            intercept=False,
            max_columns=min(n_columns, candidates.n_columns),
            memory_budget=plan.memory_budget,
            seed=seed,
        )
        problem = TargetRows.of(targets, rows.weight)
        fit = grow_basis(basis_plan, candidates, problem, deadline.share(2), quiet=True)
    if fit.decision is None or not len(fit.coef):  # no time, or Ctrl-C before the first column
        return replace(NOTHING_SHARED, interrupted=fit.reason.rule == INTERRUPTED.rule)
    loss = 0.5 * float(np.sum(rows.weight[:, None] * (targets - fit.decision) ** 2))
    model = AdditiveModel.assemble(list(fit.hypotheses), fit.coef, np.zeros(targets.shape[1]))
    interrupted = fit.reason.rule == INTERRUPTED.rule
    return SharedFit(model.parts, fit.decision, max(0.0, fit.objective - loss), interrupted)
