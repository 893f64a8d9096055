"""The battery of kboost.testing for every master; special cases are in tests/masters.

A case says how to make the rows of a problem, what the objective of given coefficients is, and how
an independent solver finds the optimum. A new master adds its cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kboost.columns.library import KernelLibrary
from kboost.core.protocols import Problem, Proposal
from kboost.formulations import MarginRows
from kboost.masters.lp import LPMaster
from kboost.masters.qp import QPMaster
from kboost.testing.masters import MASTER_CHECKS, MasterReference, check_equivalent
from tests.contracts.reference import (
    MIXED,
    margin_lp,
    margin_objective,
    margin_qp,
    margin_qp_objective,
    table,
)

MANY = 10**9  # of few_rows: always the LP with one row per sample
N_ROWS = 12


@dataclass(frozen=True)
class LPCase:
    """The margin LP, against linprog with both signs of every column."""

    master: LPMaster
    scaling: Any = "floored"
    C: float = 1.5

    def reference(self, rows):
        sign, intercept = self.master.nonnegative, self.master.intercept
        return MasterReference(
            lambda H, coef, bias: margin_objective(H, rows, coef, bias, intercept),
            lambda H: margin_lp(H, rows, sign, intercept).objective,
        )


@dataclass(frozen=True)
class QPCase:
    """The margin QP, against Clarabel with all slacks as variables."""

    master: QPMaster
    scaling: Any = "floored"
    C: float = 0.05  # so low that some rows are errors

    def reference(self, rows):
        sign, intercept = self.master.nonnegative, self.master.intercept
        return MasterReference(
            lambda H, coef, bias: margin_qp_objective(H, rows, coef, bias, intercept),
            lambda H: margin_qp(H, rows, sign, intercept).objective,
            lambda fit: 0.5 * fit.coef**2 / fit.objective,  # the edge is the coefficient
        )


CASES = {
    f"lp {shape} {'nonnegative' if sign else 'signed'} {intercept}": LPCase(
        LPMaster(nonnegative=sign, intercept=intercept, few_rows=few)
    )
    for shape, few in (("columns", 0), ("samples", MANY))
    for sign in (False, True)
    for intercept in ("free", "penalized", "none")
}
CASES |= {
    f"qp {'nonnegative' if sign else 'signed'} {intercept}": QPCase(QPMaster(sign, intercept))
    for sign in (False, True)
    for intercept in ("free", "penalized", "none")
}
CASES |= {
    "qp unscaled": QPCase(QPMaster(), scaling=None, C=1e-3),
    "qp large C": QPCase(QPMaster(), C=3.0),
    "lp unscaled": LPCase(LPMaster(few_rows=0), scaling=None),
    "lp unscaled nonnegative": LPCase(LPMaster(True, "none", few_rows=0), scaling=None),
}
EACH = pytest.mark.parametrize(
    ("case", "seed"), [(case, k % 2) for k, case in enumerate(CASES.values())], ids=CASES.keys()
)


def make(case, seed, which=slice(None), count=1.0):
    """A problem of the case: the rows `which` of the table, weighted by `count`."""
    X, y, weight = table(seed, N_ROWS)
    targets = np.random.default_rng(seed + 1000).uniform(0.2, 1.5, size=N_ROWS)
    weight = weight * count
    library = KernelLibrary(
        MIXED, X[which], centers=X, sample_weight=weight[which], scaling=case.scaling
    )
    return Problem(library, MarginRows(y[which], targets[which], case.C * weight[which]))


@EACH
@pytest.mark.parametrize("check", MASTER_CHECKS, ids=lambda check: check.__name__)
def test_battery(check, case, seed):
    problem = make(case, seed)
    check(case.master, problem, case.reference(problem.rows), seed)


@EACH
def test_duals_are_exactly_feasible(case, seed):
    problem = make(case, seed)
    library, run = problem.columns, case.master.start(problem)
    check_duals(case, problem.rows, run.fit)
    n_columns = library.n_columns
    for ids in np.array_split(np.random.default_rng(seed).permutation(n_columns), 12):
        run.extend(
            Proposal(ids, library.hypotheses(ids), library.values(ids), 1.0, None, n_columns)
        )
        check_duals(case, problem.rows, run.fit)


def check_duals(case, rows, fit):
    duals = rows.signs * fit.weights
    assert (duals >= 0).all()
    assert (duals <= rows.slack_costs).all()
    if case.master.intercept == "free":
        assert abs(fit.weights.sum()) <= 1e-14 * np.abs(fit.weights).sum()


@EACH
def test_order_of_rows_does_not_matter(case, seed):
    order = np.random.default_rng(seed).permutation(N_ROWS)
    check_equivalent(case.master, make(case, seed), make(case, seed, order), seed)


@EACH
def test_a_row_given_twice_is_a_row_of_weight_two(case, seed):
    again = np.array([1, 4, 4])
    merged = make(case, seed, count=1.0 + np.bincount(again, minlength=N_ROWS))
    repeated = make(case, seed, np.concatenate([np.arange(N_ROWS), again]))
    check_equivalent(case.master, merged, repeated, seed)
