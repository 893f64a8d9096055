"""Checks of an oracle that searches a finite dictionary and prices from edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import EdgePricer, Master, Oracle, Problem, Proposal

EdgeOracle: TypeAlias = Oracle[EdgePricer]
EdgeMaster: TypeAlias = Master[EdgePricer]
AnyProblem: TypeAlias = Problem[Any, Any]
Check: TypeAlias = Callable[[EdgeOracle, EdgeMaster, AnyProblem], None]


def check_oracle(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Run every check of an oracle.

    Parameters
    ----------
    oracle : Oracle
        The oracle. Its attributes `columns_per_step` and `max_columns`, if any, are checked.
    master : Master
        A master whose runs have `price` and `bound`, for example `LPMaster()`.
    problem : Problem
        A small problem of that master; `problem.columns` is a Dictionary.
    """
    for check in ORACLE_CHECKS:
        check(oracle, master, problem)


def check_proposals(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Columns proposed are new, have a positive price and keep the limits."""
    per_step = getattr(oracle, "columns_per_step", None)
    limit = getattr(oracle, "max_columns", None)
    for _, prices, proposal, taken in _steps(oracle, master, problem):
        ids = proposal.ids
        assert len(set(ids.tolist())) == len(ids)
        assert not set(ids.tolist()) & set(taken.tolist())
        assert (prices[ids] > 0).all()
        assert (problem.columns.rms[ids] > 0).all()
        assert per_step is None or len(ids) <= per_step
        assert limit is None or len(taken) + len(ids) <= limit


def check_values(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Values, hypotheses and counts of a proposal are those of the library."""
    library = problem.columns
    for run, _, proposal, _ in _steps(oracle, master, problem, limit=5):
        assert_allclose(proposal.values, library.values(proposal.ids))
        assert list(proposal.hypotheses) == list(library.hypotheses(proposal.ids))
        assert proposal.values.shape == (len(run.fit.decision), len(proposal.ids))
        assert 0 < proposal.n_priced <= library.n_columns
        assert proposal.complete == (proposal.n_priced == library.n_columns)


def check_bound(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Only a search that has priced the whole library has a bound."""
    search, run = oracle.start(problem), master.start(problem)
    for _ in range(5):
        proposal = search.propose(run)
        bound = run.bound(problem.columns.edges(run.fit.weights))
        assert search.bound(run) == bound
        if not proposal.complete or bound is None:
            assert proposal.bound is None
        else:
            assert proposal.bound is not None
            assert_allclose(proposal.bound, bound, rtol=1e-9, atol=1e-12)
        run.extend(proposal)


def check_price(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """The price is the best of the columns priced and not taken before."""
    for _, prices, proposal, taken in _steps(oracle, master, problem):
        open_prices = _open_prices(problem, prices, taken)
        best = max(0.0, float(open_prices.max()))
        if proposal.complete:
            assert_allclose(proposal.price, best, rtol=1e-9, atol=1e-12)
        else:
            proposed = float(open_prices[proposal.ids].max(initial=0.0))
            assert proposed * (1 - 1e-9) <= proposal.price <= best * (1 + 1e-9)


def check_error_price(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """The price at error points, if reported, is the best of the columns centred there."""
    for run, prices, proposal, taken in _steps(oracle, master, problem, limit=8):
        if proposal.error_price is None:
            continue
        assert run.fit.errors is not None
        centered = problem.columns.centered_at(run.fit.errors)
        best = max(0.0, float(_open_prices(problem, prices, taken)[centered].max(initial=0.0)))
        assert 0.0 <= proposal.error_price <= best * (1 + 1e-9)
        if proposal.complete:
            assert_allclose(proposal.error_price, best, rtol=1e-9, atol=1e-12)


def check_end(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Without a limit on columns the last proposal is empty, of price 0, and complete."""
    if getattr(oracle, "max_columns", None) is not None:
        return
    *_, (run, prices, proposal, taken) = _steps(oracle, master, problem, limit=500)
    assert len(proposal.ids) == len(proposal.hypotheses) == 0
    assert proposal.values.shape == (len(run.fit.decision), 0)
    assert proposal.price == 0.0
    assert proposal.complete
    assert (_open_prices(problem, prices, taken) <= 1e-12).all()


def check_independent_searches(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Two searches of one oracle share no state, and equal calls give equal proposals."""
    run = master.start(problem)
    first, second = oracle.start(problem), oracle.start(problem)
    ids = first.propose(run).ids
    assert len(ids) > 0
    assert_array_equal(ids, second.propose(run).ids)


ORACLE_CHECKS: tuple[Check, ...] = (
    check_proposals,
    check_values,
    check_bound,
    check_price,
    check_error_price,
    check_end,
    check_independent_searches,
)


def _open_prices(problem: AnyProblem, prices: FloatArray, taken: IntArray) -> FloatArray:
    """Prices with 0 for columns that are taken or never offered."""
    out = np.where(problem.columns.rms > 0, prices, 0.0)
    out[taken] = 0.0
    return out


def _steps(
    oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem, limit: int = 60
) -> Iterator[tuple[EdgePricer, FloatArray, Proposal, IntArray]]:
    """Run, prices of all columns, proposal, and the columns taken before it, step by step."""
    search, run = oracle.start(problem), master.start(problem)
    taken = np.zeros(0, dtype=np.intp)
    for _ in range(limit):
        prices = run.price(problem.columns.edges(run.fit.weights))
        proposal = search.propose(run)
        yield run, prices, proposal, taken
        if len(proposal.ids) == 0:
            return
        taken = np.concatenate([taken, proposal.ids])
        run.extend(proposal)
