"""Several basis vectors per step: the local selection, the base learner, and its price."""

import numpy as np
import pytest

from kboost.columns.candidates import CandidateColumns
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import MaxColumns
from kboost.formulations import TargetRows
from kboost.kernels import Gaussian
from kboost.masters.growing_cholesky import CholeskyMaster
from kboost.oracles.ensemble import EnsembleOracle
from kboost.solvers.forward_selection import select

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(60, 2))
Y = np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], X[:, 0] * X[:, 1]])
WEIGHT = RNG.uniform(0.5, 2.0, size=60)
KERNEL, RIDGE = Gaussian(1.0), 0.05


@pytest.mark.parametrize("rule", ["max-res", "mp", "boost"])
def test_local_selection_is_greedy_with_a_full_update(rule):
    K = KERNEL(X)
    picks, drop = select(K, Y, WEIGHT, RIDGE, 10, rule)
    z, residual = np.zeros((0, 2)), Y
    for m, j in enumerate(picks):
        taken = picks[:m]
        function = K[:, taken] @ z
        gain = np.sum((K.T @ (WEIGHT[:, None] * residual) - RIDGE * function) ** 2, axis=1)
        score = {
            "max-res": np.sum(residual**2, axis=1),
            "mp": gain / (RIDGE + WEIGHT @ K**2),
            "boost": gain,
        }[rule]
        score[taken] = -1
        assert score[j] == pytest.approx(score.max(), rel=1e-6)
        A = K[:, picks[: m + 1]]
        G = A.T @ (WEIGHT[:, None] * A) + RIDGE * K[np.ix_(picks[: m + 1], picks[: m + 1])]
        z = np.linalg.solve(G, A.T @ (WEIGHT[:, None] * Y))
        residual = Y - A @ z
    penalty = 0.5 * RIDGE * np.sum(z * (K[np.ix_(picks, picks)] @ z))
    left = 0.5 * np.sum(WEIGHT[:, None] * residual**2) + penalty
    assert drop == pytest.approx(0.5 * np.sum(WEIGHT[:, None] * Y**2) - left, rel=1e-6)


def test_a_selection_skips_columns_that_the_others_span():
    twice = np.vstack([X[:5], X[:5]])
    picks, _ = select(KERNEL(twice), np.vstack([Y[:5], Y[:5]]), np.ones(10), RIDGE, 10, "mp")
    assert sorted(picks % 5) == list(range(5))


@pytest.mark.parametrize("combination", ["boost", "mp"])
@pytest.mark.parametrize("update", ["full", "one"])
def test_a_base_learner_is_combined_and_weighted_as_in_the_paper(combination, update):
    size, steps, targets = 5, 4, Y[:, :1]
    oracle = EnsembleOracle("max-res", size, 20, ridge=RIDGE, max_columns=size * steps)
    master = CholeskyMaster(
        ridge=RIDGE, fit_intercept=False, update=update, combine=True, combination=combination
    )
    problem = Problem(CandidateColumns([KERNEL], X), TargetRows.of(targets, WEIGHT))
    result = grow(problem, oracle, master, MaxColumns(size * steps))
    rows = np.array([h.index for h in result.hypotheses]).reshape(steps, size)
    K, y = KERNEL(X), targets[:, 0]
    columns, mixes, c = np.zeros((len(X), 0)), [], np.zeros(0)
    for chosen in rows:
        function = columns @ c
        values, Q = K[:, chosen], K[np.ix_(chosen, chosen)]
        u = values.T @ (WEIGHT * (y - function)) - RIDGE * function[chosen]  # (24)
        G = Q if combination == "boost" else RIDGE * Q + values.T @ (WEIGHT[:, None] * values)
        a = np.linalg.solve(G, u)  # (25), (29)
        f = values @ a
        a *= (f @ (WEIGHT * (y - function))) / (f @ (WEIGHT * f))  # (26)
        f = values @ a
        if update == "one":  # (31)
            inner = a @ function[chosen]
            new = (f @ (WEIGHT * (y - function)) - RIDGE * inner) / (
                RIDGE * (a @ Q @ a) + f @ (WEIGHT * f)
            )
            c = np.append(c, new)
            columns, mixes = np.column_stack([columns, f]), [*mixes, a]
        else:  # (12)
            columns, mixes = np.column_stack([columns, f]), [*mixes, a]
            A = np.zeros((len(X), len(mixes)))
            for m, mix in enumerate(mixes):
                A[rows[m], m] += mix
            G = columns.T @ (WEIGHT[:, None] * columns) + RIDGE * A.T @ K @ A
            c = np.linalg.solve(G, columns.T @ (WEIGHT * y))
    expected = np.concatenate([mix * weight for mix, weight in zip(mixes, c, strict=True)])
    np.testing.assert_allclose(result.fit.coef[:, 0], expected, rtol=1e-5, atol=1e-8)


def test_of_several_kernels_the_one_with_the_larger_drop_is_taken():
    signal = np.sin(20 * X[:, :1])  # far too fast for a wide kernel
    kernels = [Gaussian(0.01), Gaussian(20.0)]
    oracle = EnsembleOracle("mp", 5, 60, ridge=RIDGE)
    problem = Problem(CandidateColumns(kernels, X), TargetRows.of(signal, WEIGHT))
    proposal = oracle.start(problem).propose(CholeskyMaster(ridge=RIDGE).start(problem))
    assert {h.family.kernel for h in proposal.hypotheses} == {kernels[1]}


def test_rows_of_large_residual_are_drawn_more_often():
    targets = np.where(np.arange(60)[:, None] < 10, 5.0, 0.01)
    problem = Problem(CandidateColumns([KERNEL], X), TargetRows.of(targets, np.ones(60)))
    run = CholeskyMaster(ridge=RIDGE, fit_intercept=False).start(problem)
    counts = {
        draw: np.mean(
            EnsembleOracle("max-res", 4, 8, draw=draw, seed=s)
            .start(problem)
            ._drawn(run, np.ones(60, dtype=bool), 8)
            < 10
        )
        for s, draw in enumerate(["residual", "even"])
    }
    assert counts["residual"] == 1.0
    assert counts["even"] < 0.6


@pytest.mark.parametrize("per_step", [20, 50])
def test_without_a_residual_no_column_is_taken(per_step, monkeypatch):
    monkeypatch.setattr("kboost.oracles.ensemble._MOST_ROWS", 60)
    rows = TargetRows.of(np.full((100, 1), 2.0), np.ones(100))
    points = np.random.default_rng(0).normal(size=(100, 2))
    oracle = EnsembleOracle("max-res", per_step, None, draw="residual")
    problem = Problem(CandidateColumns([Gaussian(1.0)], points), rows)
    result = grow(problem, oracle, CholeskyMaster(ridge=0.1, combine=False), MaxColumns(50))
    assert not result.hypotheses
