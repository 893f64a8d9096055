"""Checks of a master that prices from edges and solves its problem exactly at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import EdgePricer, Fit, Master, Problem, Proposal

_BLOCK = 5  # columns per step


@dataclass(frozen=True)
class MasterReference:
    """The problem of a master, solved by an independent method.

    Parameters
    ----------
    objective : callable
        `objective(H, coef, bias)`: the value at coefficients (k,) of the columns H (n, k).
    optimum : callable
        `optimum(H)`: the least value over all coefficients of the columns H (n, k).
    price_inside : callable
        `price_inside(fit)`: the prices of the columns in the model, (k,), at their optimum.
        0 by default; positive for a penalty whose dual has a charge per column.
    """

    objective: Callable[[FloatArray, FloatArray, float], float]
    optimum: Callable[[FloatArray], float]
    price_inside: Callable[[Fit], FloatArray | float] = lambda fit: 0.0


EdgeMaster: TypeAlias = Master[EdgePricer]
AnyProblem: TypeAlias = Problem[Any, Any]
Check: TypeAlias = Callable[[EdgeMaster, AnyProblem, MasterReference, int], None]


def check_master(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """Run every check of a master.

    Parameters
    ----------
    master : Master
        The master, whose runs have `price` and `bound`.
    problem : Problem
        A small problem (some 20 rows, 100 columns): every column is added once.
    reference : MasterReference
        The same problem solved by an independent method.
    seed : int, default=0
        The order in which columns are added.
    """
    for check in MASTER_CHECKS:
        check(master, problem, reference, seed)


def check_fit(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """A fit has the right shapes, decision values and objective."""
    H = _all_columns(problem)
    for run, ids in _steps(master, problem, seed):
        fit = run.fit
        _check_count(fit, len(ids))
        assert fit.decision.shape == (len(H),), f"fit.decision has shape {fit.decision.shape}"
        assert fit.weights.shape == (len(H),), f"fit.weights has shape {fit.weights.shape}"
        message = "fit.decision is not the value of the columns with fit.coef and fit.bias"
        assert_allclose(fit.decision, H[:, ids] @ fit.coef + fit.bias, atol=1e-9, err_msg=message)
        value = reference.objective(H[:, ids], fit.coef, fit.bias)
        message = "fit.objective is not reference.objective at the coefficients"
        assert_allclose(fit.objective, value, rtol=1e-9, atol=1e-10, err_msg=message)
        assert fit.converged, "fit.converged is False"


def check_optimum(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """Every fit is the optimum over its columns; the objective never rises."""
    H, objectives = _all_columns(problem), []
    for run, ids in _steps(master, problem, seed):
        optimum = reference.optimum(H[:, ids])
        message = f"fit.objective with {len(ids)} columns is not reference.optimum"
        assert_allclose(run.fit.objective, optimum, rtol=1e-7, atol=1e-8, err_msg=message)
        objectives.append(run.fit.objective)
    assert (np.diff(objectives) <= 1e-9 * np.abs(objectives[:-1])).all(), "the objective rose"
    assert objectives[-1] < objectives[0], "no column lowered the objective: take another problem"


def check_bound(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """The bound is below the full optimum at every step and meets it with all columns."""
    optimum, bound = reference.optimum(_all_columns(problem)), None
    for run, _ in _steps(master, problem, seed):
        bound = run.bound(problem.columns.edges(run.fit.weights))
        if bound is None:  # no certificate
            return
        message = f"the bound {bound} is above the optimum over all columns, {optimum}"
        assert bound <= optimum + 1e-9 * abs(optimum), message
    assert_allclose(run.fit.objective, optimum, rtol=1e-6, atol=1e-8)
    assert bound is not None
    message = "with all columns in the model, the bound does not meet the optimum"
    assert_allclose(bound, optimum, rtol=1e-5, atol=1e-8, err_msg=message)


def check_price(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """The price of a column is positive if and only if the column lowers the optimum."""
    H = _all_columns(problem)
    for run, ids in _steps(master, problem, seed, limit=10):
        prices = run.price(problem.columns.edges(run.fit.weights))
        assert prices.shape == (H.shape[1],), "price must return one price per edge"
        others = np.setdiff1d(np.arange(H.shape[1]), ids)
        optimum = reference.optimum(H[:, ids])
        for j in others[:: max(1, len(others) // 8)]:
            drop = optimum - reference.optimum(H[:, np.append(ids, j)])
            message = (
                f"column {j} has the price {prices[j]:.3g}, but lowers the optimum by {drop:.3g}"
            )
            if prices[j] > 1e-6:
                assert drop > 1e-10, message
            elif prices[j] < 1e-10:
                assert abs(drop) < 1e-7, message


def check_price_inside(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """Columns in the model have the price of `reference.price_inside`."""
    for run, ids in _steps(master, problem, seed, limit=20):
        prices = run.price(problem.columns.edges(run.fit.weights))[ids]
        expected = reference.price_inside(run.fit)
        message = "the prices of columns in the model are not reference.price_inside"
        assert_allclose(np.maximum(prices, 0.0), expected, atol=1e-6, err_msg=message)


def check_empty_proposal(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """An empty proposal does not change the optimum."""
    for run, _ in _steps(master, problem, seed, limit=10):
        before = run.fit
        run.extend(_proposal(problem, np.zeros(0, dtype=np.intp)))
        message = "an empty proposal changed the objective"
        assert_allclose(run.fit.objective, before.objective, rtol=1e-9, err_msg=message)
        _check_count(run.fit, len(before.coef))


def check_independent_runs(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """Two runs of one master share no state, and equal calls give equal fits."""
    first, second = master.start(problem), master.start(problem)
    before = second.fit
    first.extend(_proposal(problem, np.arange(5)))
    assert second.fit is before, "two runs of one master share state"
    second.extend(_proposal(problem, np.arange(5)))
    message = "equal columns gave two runs different coefficients"
    assert_array_equal(first.fit.coef, second.fit.coef, err_msg=message)


def check_final_forms(
    master: EdgeMaster, problem: AnyProblem, reference: MasterReference, seed: int = 0
) -> None:
    """`finish`, `complete` and `cut_short` return a fit of the same columns."""
    for run, ids in _steps(master, problem, seed, limit=10):
        _check_count(run.complete(run.fit), len(ids))
        _check_count(run.cut_short(run.fit), len(ids))
    _check_count(run.finish(), len(ids))


MASTER_CHECKS: tuple[Check, ...] = (
    check_fit,
    check_optimum,
    check_bound,
    check_price,
    check_price_inside,
    check_empty_proposal,
    check_independent_runs,
    check_final_forms,
)


def check_equivalent(
    master: EdgeMaster, problem: AnyProblem, other: AnyProblem, seed: int = 0
) -> None:
    """Two statements of one problem have the same optimum and certificate.

    For example rows in another order, or a row of weight 2 and the same row given twice.
    """
    n_columns = problem.columns.n_columns
    ids = np.random.default_rng(seed).permutation(n_columns)[:12]
    runs = [master.start(problem), master.start(other)]
    for block in (ids, np.setdiff1d(np.arange(n_columns), ids)):
        for run, stated in zip(runs, (problem, other), strict=True):
            run.extend(_proposal(stated, block))
        assert_allclose(runs[0].fit.objective, runs[1].fit.objective, rtol=1e-7)
    bounds = [
        run.bound(stated.columns.edges(run.fit.weights))
        for run, stated in zip(runs, (problem, other), strict=True)
    ]
    if bounds[0] is None or bounds[1] is None:
        assert bounds[0] is bounds[1]
        return
    assert_allclose(bounds[0], bounds[1], rtol=1e-5)


def _check_count(fit: Fit, n_columns: int) -> None:
    message = f"fit.coef has shape {fit.coef.shape} with {n_columns} columns added"
    assert fit.coef.shape == (n_columns,), message


def _all_columns(problem: AnyProblem) -> FloatArray:
    values: FloatArray = problem.columns.values(np.arange(problem.columns.n_columns))
    return values


def _proposal(problem: AnyProblem, ids: IntArray) -> Proposal:
    library = problem.columns
    return Proposal(ids, library.hypotheses(ids), library.values(ids), 1.0, None, library.n_columns)


def _steps(
    master: EdgeMaster, problem: AnyProblem, seed: int, limit: int | None = None
) -> Iterator[tuple[EdgePricer, IntArray]]:
    """A run before the first and after each block of columns, with the columns so far."""
    run, ids = master.start(problem), np.zeros(0, dtype=np.intp)
    yield run, ids
    order = np.random.default_rng(seed).permutation(problem.columns.n_columns)[:limit]
    for block in np.array_split(order, max(1, len(order) // _BLOCK)):
        run.extend(_proposal(problem, block))
        ids = np.concatenate([ids, block])
        yield run, ids
