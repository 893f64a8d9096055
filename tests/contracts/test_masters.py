"""The battery every master passes; what is special to one is in tests/masters.

A case says how to make the problem, what the objective of given coefficients is, and how an
independent solver finds the optimum over some of the columns. A new master adds its cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kboost.columns.inner_products import InnerProducts
from kboost.columns.library import KernelLibrary
from kboost.core.protocols import Problem, Proposal
from kboost.formulations import MarginRows, SquaredRows
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial
from kboost.masters.least_squares import LeastSquaresMaster
from kboost.masters.lp import LPMaster
from kboost.masters.qp import QPMaster
from tests.contracts.reference import (
    MIXED,
    kernel_ridge,
    margin_lp,
    margin_objective,
    margin_qp,
    margin_qp_objective,
    table,
)

MANY = 10**9  # of few_rows: always the shape whose rows are samples


@dataclass(frozen=True)
class LPCase:
    """The margin LP, against linprog with both signs of every column."""

    master: LPMaster
    kernels: tuple[Any, ...] = MIXED
    scaling: Any = "unit"

    def rows(self, y, weight, seed):
        targets = np.random.default_rng(seed + 1000).uniform(0.2, 1.5, size=len(y))
        return MarginRows(y, targets, 1.5 * weight)

    def take(self, rows, which, count):
        """The rows `which`, each with the weight of `count` rows."""
        return MarginRows(rows.signs[which], rows.targets[which], rows.caps[which] * count)

    def inner(self, library, center_of_row=None):
        return None

    def objective(self, setup, ids, coef, bias):
        return margin_objective(setup.H[:, ids], setup.rows, coef, bias, self.master.intercept)

    def optimum(self, setup, ids):
        master = self.master
        H = setup.H[:, ids]
        return margin_lp(H, setup.rows, master.nonnegative, master.intercept).objective

    def full(self, setup):
        return self.optimum(setup, np.arange(setup.library.n_columns))

    def worth_inside(self, fit):
        """Nothing: the optimum has taken all there was."""
        return 0.0

    def check_weights(self, setup, fit):
        duals = setup.rows.signs * fit.weights
        assert (duals >= 0).all()
        assert (duals <= setup.rows.caps).all()
        if self.master.intercept == "free":
            assert abs(fit.weights.sum()) <= 1e-14 * np.abs(fit.weights).sum()


@dataclass(frozen=True)
class QPCase:
    """The margin QP, against Clarabel with all slacks as variables."""

    master: QPMaster
    kernels: tuple[Any, ...] = MIXED
    scaling: Any = "unit"
    price: float = 0.05  # of errors: so low that some are made

    def rows(self, y, weight, seed):
        targets = np.random.default_rng(seed + 1000).uniform(0.2, 1.5, size=len(y))
        return MarginRows(y, targets, self.price * weight)

    def take(self, rows, which, count):
        return MarginRows(rows.signs[which], rows.targets[which], rows.caps[which] * count)

    def inner(self, library, center_of_row=None):
        return None

    def objective(self, setup, ids, coef, bias):
        return margin_qp_objective(setup.H[:, ids], setup.rows, coef, bias, self.master.intercept)

    def optimum(self, setup, ids):
        master = self.master
        H = setup.H[:, ids]
        return margin_qp(H, setup.rows, master.nonnegative, master.intercept).objective

    def full(self, setup):
        return self.optimum(setup, np.arange(setup.library.n_columns))

    def worth_inside(self, fit):
        """The dual goes on charging for them: the edge is the coefficient."""
        return 0.5 * fit.coef**2 / fit.objective

    def check_weights(self, setup, fit):
        duals = setup.rows.signs * fit.weights
        assert (duals >= 0).all()
        assert (duals <= setup.rows.caps).all()
        if self.master.intercept == "free":
            assert abs(fit.weights.sum()) <= 1e-14 * np.abs(fit.weights).sum()


@dataclass(frozen=True)
class LeastSquaresCase:
    """Squared loss, against plain kernel ridge on the sum of the kernels."""

    master: LeastSquaresMaster
    kernels: tuple[Any, ...] = MIXED
    scaling: Any = "unit"

    def rows(self, y, weight, seed):
        return SquaredRows(y + np.random.default_rng(seed + 2000).normal(size=len(y)), weight)

    def take(self, rows, which, count):
        return SquaredRows(rows.targets[which], rows.sample_weight[which] * count)

    def inner(self, library, center_of_row=None):
        return InnerProducts(library, center_of_row)

    def gram(self, setup, ids):
        library = setup.library
        owner, center = np.divmod(ids, library.n_centers)
        Q = np.zeros((len(ids), len(ids)))
        for p, kernel in enumerate(library.kernels):
            mine = np.flatnonzero(owner == p)
            points = library.centers[center[mine]]
            Q[np.ix_(mine, mine)] = kernel(points, points) if len(mine) else 0.0
        return Q / np.outer(library.scales[ids], library.scales[ids])

    def objective(self, setup, ids, coef, bias):
        rows, total = setup.rows, 0.0
        for h, y, w in zip(setup.H[:, ids], rows.targets, rows.sample_weight, strict=True):
            total += 0.5 * w * (y - h @ coef - bias) ** 2
        return total + 0.5 * self.master.ridge * coef @ self.gram(setup, ids) @ coef

    def optimum(self, setup, ids):
        """Least squares on rows stacked over a root of the penalty, the bias first."""
        rows, Q = setup.rows, self.gram(setup, ids)
        values, vectors = np.linalg.eigh(Q) if len(ids) else (np.zeros(0), np.zeros((0, 0)))
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        w = np.sqrt(rows.sample_weight)
        A = np.vstack([w[:, None] * setup.H[:, ids], np.sqrt(self.master.ridge) * root])
        b = np.concatenate([w * rows.targets, np.zeros(len(ids))])
        if self.master.fit_intercept:
            A = np.column_stack([np.concatenate([w, np.zeros(len(ids))]), A])
        x = np.linalg.lstsq(A, b, rcond=None)[0]
        return 0.5 * np.sum((A @ x - b) ** 2)

    def full(self, setup):
        K = sum(kernel(setup.library.centers) for kernel in self.kernels)
        return kernel_ridge(K, setup.rows, self.master.ridge, self.master.fit_intercept)[0]

    def worth_inside(self, fit):
        """Nothing: the optimum has taken all there was."""
        return 0.0

    def check_weights(self, setup, fit):
        rows = setup.rows
        assert_allclose(fit.weights, rows.sample_weight * (rows.targets - fit.decision), atol=1e-12)
        if self.master.fit_intercept:
            assert abs(fit.weights.sum()) <= 1e-8 * np.abs(fit.weights).sum()


ONE, TWO = (Gaussian(0.5),), (Gaussian(0.5), Laplacian(0.3))
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
    "qp unscaled": QPCase(QPMaster(), scaling=None, price=1e-3),
    "qp large price": QPCase(QPMaster(), price=3.0),
    "lp unscaled": LPCase(LPMaster(few_rows=0), scaling=None),
    "lp unscaled nonnegative": LPCase(LPMaster(True, "none", few_rows=0), scaling=None),
    "ls one kernel": LeastSquaresCase(LeastSquaresMaster(0.5), ONE),
    "ls two kernels": LeastSquaresCase(LeastSquaresMaster(0.5), TWO),
    "ls no intercept": LeastSquaresCase(LeastSquaresMaster(0.3, fit_intercept=False), TWO),
    "ls unscaled": LeastSquaresCase(LeastSquaresMaster(2.0), TWO, scaling=None),
    "ls mixture": LeastSquaresCase(LeastSquaresMaster(1.0)),
    "ls mixture, no intercept": LeastSquaresCase(LeastSquaresMaster(0.1, fit_intercept=False)),
    "ls linear and quadratic": LeastSquaresCase(LeastSquaresMaster(0.5), (Linear(), Polynomial(2))),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
SEEDS = pytest.mark.parametrize("seed", range(2))


@dataclass(frozen=True)
class Setup:
    library: KernelLibrary
    rows: Any
    H: np.ndarray
    problem: Problem

    def proposal(self, ids):
        library = self.library
        return Proposal(
            ids, library.hypotheses(ids), library.values(ids), 1.0, None, library.n_columns
        )


def set_up(case, seed, n=16):
    X, y, weight = table(seed, n)
    library = KernelLibrary(case.kernels, X, sample_weight=weight, scaling=case.scaling)
    return finish(case, library, case.rows(y, weight, seed))


def finish(case, library, rows, center_of_row=None):
    H = library.values(np.arange(library.n_columns))
    problem = Problem(library, rows, inner_products=case.inner(library, center_of_row))
    return Setup(library, rows, H, problem)


def blocks(n_columns, seed, size=5, limit=None):
    """All ids (or the first `limit`) in a random order, a few at a time."""
    order = np.random.default_rng(seed).permutation(n_columns)[:limit]
    return np.array_split(order, max(1, len(order) // size))


def steps(case, seed, limit=None):
    """A run that was given some columns, after each block: (setup, run, ids so far)."""
    setup = set_up(case, seed)
    run = case.master.start(setup.problem)
    ids = np.zeros(0, dtype=int)
    yield setup, run, ids
    for block in blocks(setup.library.n_columns, seed, limit=limit):
        run.extend(setup.proposal(block))
        ids = np.concatenate([ids, block])
        yield setup, run, ids


@EACH
@SEEDS
def test_a_fit_is_what_it_says(case, seed):
    for setup, run, ids in steps(case, seed):
        fit = run.fit
        assert fit.coef.shape == ids.shape
        assert fit.decision.shape == fit.weights.shape == (setup.library.n_rows,)
        assert_allclose(fit.decision, setup.H[:, ids] @ fit.coef + fit.bias, atol=1e-9)
        recomputed = case.objective(setup, ids, fit.coef, fit.bias)
        assert_allclose(fit.objective, recomputed, rtol=1e-9, atol=1e-10)
        assert fit.settled
        case.check_weights(setup, fit)


@EACH
@SEEDS
def test_a_fit_is_the_optimum_over_its_columns(case, seed):
    for setup, run, ids in steps(case, seed):
        assert_allclose(run.fit.objective, case.optimum(setup, ids), rtol=1e-7, atol=1e-8)


@EACH
@SEEDS
def test_the_objective_never_rises(case, seed):
    objectives = [run.fit.objective for _, run, _ in steps(case, seed)]
    assert (np.diff(objectives) <= 1e-9 * np.abs(objectives[:-1])).all()
    assert objectives[-1] < objectives[0]


@EACH
@SEEDS
def test_all_columns_give_the_full_optimum(case, seed):
    *_, (setup, run, ids) = steps(case, seed)
    assert len(ids) == setup.library.n_columns
    assert_allclose(run.fit.objective, case.full(setup), rtol=1e-6, atol=1e-8)


@EACH
@SEEDS
def test_the_bound_is_below_the_optimum_at_every_step_and_meets_it(case, seed):
    optimum = None
    for setup, run, _ in steps(case, seed):
        optimum = case.full(setup) if optimum is None else optimum
        bound = run.bound(setup.library.edges(run.fit.weights))
        assert bound <= optimum + 1e-9 * abs(optimum)
    assert_allclose(bound, optimum, rtol=1e-5, atol=1e-8)


@EACH
@SEEDS
def test_the_price_is_positive_just_where_a_column_lowers_the_optimum(case, seed):
    for setup, run, ids in steps(case, seed, limit=10):
        prices = run.price(setup.library.edges(run.fit.weights))
        assert prices.shape == (setup.library.n_columns,)
        others = np.setdiff1d(np.arange(setup.library.n_columns), ids)
        now = case.optimum(setup, ids)
        for j in others[:: max(1, len(others) // 8)]:
            drop = now - case.optimum(setup, np.append(ids, j))
            if prices[j] > 1e-6:
                assert drop > 1e-10
            elif prices[j] < 1e-10:
                assert abs(drop) < 1e-7


@EACH
@SEEDS
def test_columns_already_in_are_worth_what_they_must(case, seed):
    for setup, run, ids in steps(case, seed, limit=20):
        prices = run.price(setup.library.edges(run.fit.weights))[ids]
        assert_allclose(np.maximum(prices, 0.0), case.worth_inside(run.fit), atol=1e-6)


@EACH
def test_no_columns_change_nothing(case):
    for setup, run, _ in steps(case, 0, limit=10):
        before = run.fit
        run.extend(setup.proposal(np.zeros(0, dtype=int)))
        assert_allclose(run.fit.objective, before.objective, rtol=1e-9)
        assert run.fit.coef.shape == before.coef.shape


@EACH
def test_runs_do_not_share_state(case):
    setup = set_up(case, 0)
    first, second = case.master.start(setup.problem), case.master.start(setup.problem)
    before = second.fit
    first.extend(setup.proposal(np.arange(5)))
    assert second.fit is before
    second.extend(setup.proposal(np.arange(5)))
    assert_array_equal(first.fit.coef, second.fit.coef)


@EACH
@SEEDS
def test_order_of_rows_does_not_matter(case, seed):
    setup = set_up(case, seed)
    library, order = setup.library, np.random.default_rng(seed).permutation(16)
    X, weight = library.centers, library.sample_weight
    shuffled = finish(
        case,
        KernelLibrary(
            case.kernels, X[order], centers=X, sample_weight=weight[order], scaling=case.scaling
        ),
        case.take(setup.rows, order, 1.0),
        center_of_row=order,
    )
    ids = np.random.default_rng(seed).permutation(library.n_columns)[:12]
    compare(case, setup, shuffled, ids)


@EACH
@SEEDS
def test_a_row_given_twice_is_a_row_of_weight_two(case, seed):
    setup = set_up(case, seed)
    X, weight = setup.library.centers, setup.library.sample_weight
    again = np.array([1, 4, 4])
    count = 1.0 + np.bincount(again, minlength=16)
    merged = finish(
        case,
        KernelLibrary(case.kernels, X, sample_weight=weight * count, scaling=case.scaling),
        case.take(setup.rows, slice(None), count),
    )
    twice = np.concatenate([np.arange(16), again])
    repeated = finish(
        case,
        KernelLibrary(
            case.kernels, X[twice], centers=X, sample_weight=weight[twice], scaling=case.scaling
        ),
        case.take(setup.rows, twice, 1.0),
        center_of_row=twice,
    )
    ids = np.random.default_rng(seed).permutation(merged.library.n_columns)[:12]
    compare(case, merged, repeated, ids)


def compare(case, one, other, ids):
    """Two statements of one problem: same optimum, same certificate at the optimum."""
    runs = [case.master.start(setup.problem) for setup in (one, other)]
    for part in (ids, np.setdiff1d(np.arange(one.library.n_columns), ids)):
        for run, setup in zip(runs, (one, other), strict=True):
            run.extend(setup.proposal(part))
        assert_allclose(runs[0].fit.objective, runs[1].fit.objective, rtol=1e-7)
    left, right = (
        run.bound(setup.library.edges(run.fit.weights))
        for run, setup in zip(runs, (one, other), strict=True)
    )
    assert_allclose(left, right, rtol=1e-5)
