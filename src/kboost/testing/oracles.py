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
        again = set(ids.tolist()) & set(taken.tolist())
        assert len(set(ids.tolist())) == len(ids), "a column is proposed twice in one step"
        assert not again, f"the columns {sorted(again)} were proposed before"
        assert (prices[ids] > 0).all(), "a column without a positive price is proposed"
        assert (problem.columns.rms[ids] > 0).all(), "a column of rms 0 is proposed"
        message = f"{len(ids)} columns proposed with columns_per_step={per_step}"
        assert per_step is None or len(ids) <= per_step, message
        message = f"{len(taken) + len(ids)} columns proposed with max_columns={limit}"
        assert limit is None or len(taken) + len(ids) <= limit, message


def check_values(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Values, hypotheses and counts of a proposal are those of the library."""
    library = problem.columns
    for run, _, proposal, _ in _steps(oracle, master, problem, limit=5):
        message = "proposal.values are not library.values(proposal.ids)"
        assert_allclose(proposal.values, library.values(proposal.ids), err_msg=message)
        message = "proposal.hypotheses are not library.hypotheses(proposal.ids)"
        assert list(proposal.hypotheses) == list(library.hypotheses(proposal.ids)), message
        shape = (len(run.fit.decision), len(proposal.ids))
        assert proposal.values.shape == shape, f"proposal.values must have shape {shape}"
        message = f"n_priced={proposal.n_priced} of {library.n_columns} columns"
        assert 0 < proposal.n_priced <= library.n_columns, message
        message += f", but complete={proposal.complete}"
        assert proposal.complete == (proposal.n_priced == library.n_columns), message


def check_bound(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Only a search that has priced the whole library has a bound."""
    search, run = oracle.start(problem), master.start(problem)
    for _ in range(5):
        proposal = search.propose(run)
        bound = run.bound(problem.columns.edges(run.fit.weights))
        assert search.bound(run) == bound, "search.bound is not run.bound of all edges"
        if not proposal.complete or bound is None:
            assert proposal.bound is None, "proposal.bound without pricing the whole library"
        else:
            message = "proposal.bound is not run.bound of all edges"
            assert proposal.bound is not None, message
            assert_allclose(proposal.bound, bound, rtol=1e-9, atol=1e-12, err_msg=message)
        run.extend(proposal)


def check_price(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """The price is the best of the columns priced and not taken before."""
    for _, prices, proposal, taken in _steps(oracle, master, problem):
        open_prices = _open_prices(problem, prices, taken)
        best = max(0.0, float(open_prices.max()))
        if proposal.complete:
            message = "proposal.price is not the best price of the columns not taken"
            assert_allclose(proposal.price, best, rtol=1e-9, atol=1e-12, err_msg=message)
        else:
            proposed = float(open_prices[proposal.ids].max(initial=0.0))
            message = (
                f"proposal.price={proposal.price:.6g} must be at least the best price proposed, "
                f"{proposed:.6g}, and at most the best price of all, {best:.6g}"
            )
            assert proposed * (1 - 1e-9) <= proposal.price <= best * (1 + 1e-9), message


def check_error_price(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """The price at error points, if reported, is the best of the columns centred there."""
    for run, prices, proposal, taken in _steps(oracle, master, problem, limit=8):
        if proposal.error_price is None:
            continue
        assert run.fit.errors is not None, "error_price without fit.errors"
        centered = problem.columns.centered_at(run.fit.errors)
        best = max(0.0, float(_open_prices(problem, prices, taken)[centered].max(initial=0.0)))
        message = f"error_price={proposal.error_price:.6g}; the best at error points is {best:.6g}"
        assert 0.0 <= proposal.error_price <= best * (1 + 1e-9), message
        if proposal.complete:
            assert_allclose(proposal.error_price, best, rtol=1e-9, atol=1e-12, err_msg=message)


def check_end(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Without a limit on columns the last proposal is empty, of price 0, and complete."""
    if getattr(oracle, "max_columns", None) is not None:
        return
    *_, (run, prices, proposal, taken) = _steps(oracle, master, problem, limit=500)
    assert len(proposal.ids) == len(proposal.hypotheses) == 0, "no empty proposal in 500 steps"
    assert proposal.values.shape == (len(run.fit.decision), 0), "values must have shape (n, 0)"
    assert proposal.price == 0.0, "the price of an empty proposal must be 0"
    assert proposal.complete, "an empty proposal must price the whole library"
    message = "an empty proposal, but a column has a positive price"
    assert (_open_prices(problem, prices, taken) <= 1e-12).all(), message


def check_independent_searches(oracle: EdgeOracle, master: EdgeMaster, problem: AnyProblem) -> None:
    """Two searches of one oracle share no state, and equal calls give equal proposals."""
    run = master.start(problem)
    first, second = oracle.start(problem), oracle.start(problem)
    ids = first.propose(run).ids
    assert len(ids) > 0, "no column has a positive price at the start: take another problem"
    message = "two searches of one oracle propose different columns"
    assert_array_equal(ids, second.propose(run).ids, err_msg=message)


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
