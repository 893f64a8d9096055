"""One basis vector per step: every choice and coefficient against the formulas."""

import numpy as np
import pytest

from kboost.columns.candidates import CandidateColumns
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import MaxColumns
from kboost.formulations import TargetRows
from kboost.kernels import Gaussian
from kboost.masters.growing_cholesky import CholeskyMaster
from kboost.oracles import online_novelty
from kboost.oracles.forward_selection import ForwardOracle
from kboost.oracles.online_novelty import NoveltyOracle

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, size=(40, 2))
Y = np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], X[:, 0] * X[:, 1]])
WEIGHT = RNG.uniform(0.5, 2.0, size=40)
RIDGE, STEPS = 0.05, 12
NARROW, WIDE = Gaussian(2.0), Gaussian(0.3)


def grown(oracle, kernels, update="full", targets=Y):
    problem = Problem(CandidateColumns(kernels, X), TargetRows.of(targets, WEIGHT))
    return grow(problem, oracle, CholeskyMaster(ridge=RIDGE, update=update), MaxColumns(STEPS))


def chosen(result, kernels):
    """The pairs (kernel, row) in the order taken."""
    return [(kernels.index(h.family.kernel), h.index) for h in result.hypotheses]


class Reference:
    """The model on columns taken so far, from the normal equations, bias included."""

    def __init__(self, kernels, targets):
        self.K = [kernel(X) for kernel in kernels]
        self.targets, self.taken = targets, []
        self.solve()

    def matrices(self, taken):
        F = np.column_stack([np.ones(len(X)), *(self.K[p][:, c] for p, c in taken)])
        Q = np.zeros((F.shape[1],) * 2)
        for i, (p, c) in enumerate(taken):
            for j, (s, d) in enumerate(taken):
                Q[i + 1, j + 1] = self.K[p][c, d] if p == s else 0.0
        return F, Q

    def objective_of(self, taken):
        F, Q = self.matrices(taken)
        G = F.T @ (WEIGHT[:, None] * F) + RIDGE * Q
        z = np.linalg.solve(G, F.T @ (WEIGHT[:, None] * self.targets))
        r = self.targets - F @ z
        return 0.5 * np.sum(WEIGHT[:, None] * r**2) + 0.5 * RIDGE * np.sum(z * (Q @ z)), z, r

    def solve(self):
        self.objective, self.coef, self.residual = self.objective_of(self.taken)

    def gain(self, p, c):
        inner = sum(
            (self.K[p][c, d] * self.coef[i + 1] for i, (s, d) in enumerate(self.taken) if s == p),
            start=np.zeros(self.targets.shape[1]),
        )
        edge = self.K[p][:, c] @ (WEIGHT[:, None] * self.residual)
        return np.sum((edge - RIDGE * inner) ** 2)

    def score(self, rule, p, c):
        k = self.K[p][:, c]
        if rule == "boost":  # (27)
            return 0.5 * self.gain(p, c) / k[c]
        return 0.5 * self.gain(p, c) / (RIDGE * k[c] + WEIGHT @ k**2)  # (28)

    def novelty(self, p, c):
        own = [d for s, d in self.taken if s == p]
        k = self.K[p][own, c]
        return self.K[p][c, c] - (k @ np.linalg.solve(self.K[p][np.ix_(own, own)], k) if own else 0)

    def take(self, pair):
        self.taken.append(pair)
        self.solve()


@pytest.mark.parametrize("rule", ["mp", "boost"])
@pytest.mark.parametrize("kernels", [[NARROW], [WIDE, NARROW]])
def test_the_best_of_all_candidates_is_taken(rule, kernels):
    result = grown(ForwardOracle(rule, None, STEPS), kernels)
    reference = Reference(kernels, Y)
    pairs = [(p, c) for p in range(len(kernels)) for c in range(len(X))]
    for step, pair in zip(result.trace, chosen(result, kernels), strict=False):
        scores = {p: reference.score(rule, *p) for p in pairs if p not in reference.taken}
        assert step.objective == pytest.approx(reference.objective, rel=1e-9)
        assert scores[pair] == pytest.approx(max(scores.values()), rel=1e-9)
        assert step.price == pytest.approx(scores[pair], rel=1e-7)
        reference.take(pair)
    np.testing.assert_allclose(result.fit.coef, reference.coef[1:], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("kernels", [[NARROW], [WIDE, NARROW]])
def test_max_res_takes_the_row_with_the_largest_residual(kernels):
    result = grown(ForwardOracle("max-res", max_columns=STEPS), kernels)
    reference = Reference(kernels, Y)
    for p, c in chosen(result, kernels):
        full = [
            d for d in range(len(X)) if all((s, d) in reference.taken for s in range(len(kernels)))
        ]
        size = np.linalg.norm(reference.residual, axis=1)
        size[full] = -1
        assert size[c] == pytest.approx(size.max())
        left = {
            s: reference.score("mp", s, c)
            for s in range(len(kernels))
            if (s, c) not in reference.taken
        }
        assert left[p] == pytest.approx(max(left.values()))
        reference.take((p, c))


def test_random_takes_each_column_once():
    result = grown(ForwardOracle("random", max_columns=STEPS), [NARROW, WIDE])
    pairs = chosen(result, [NARROW, WIDE])
    assert len(set(pairs)) == STEPS
    assert {p for p, _ in pairs} == {0, 1}


def test_one_update_sets_the_new_coefficient_alone():
    result = grown(ForwardOracle("mp", None, STEPS), [NARROW], update="one")
    K, bias = NARROW(X), WEIGHT @ Y / WEIGHT.sum()
    function, coef, taken = np.zeros_like(Y), [], []
    for c in (h.index for h in result.hypotheses):
        residual = Y - bias - function
        gain = K[:, c] @ (WEIGHT[:, None] * residual) - RIDGE * function[c]
        coef.append(gain / (RIDGE * K[c, c] + WEIGHT @ K[:, c] ** 2))  # (31)
        function = function + K[:, [c]] * coef[-1]
        taken.append(c)
    np.testing.assert_allclose(result.fit.coef, coef, rtol=1e-9)
    loss = 0.5 * np.sum(WEIGHT[:, None] * (Y - bias - function) ** 2)
    penalty = 0.5 * RIDGE * np.sum(coef * (K[np.ix_(taken, taken)] @ coef))
    assert result.fit.objective == pytest.approx(loss + penalty, rel=1e-9)


@pytest.mark.parametrize("kernels", [[NARROW], [WIDE, NARROW]])
def test_ald_takes_what_is_new_in_one_pass(kernels):
    oracle = NoveltyOracle("ald", 0.2, max_columns=None, seed=5)
    problem = Problem(CandidateColumns(kernels, X), TargetRows.of(Y, WEIGHT))
    result = grow(problem, oracle, CholeskyMaster(ridge=RIDGE), MaxColumns(1000))
    order = np.random.default_rng(5).permutation(len(kernels) * len(X))
    reference = Reference(kernels, Y)
    for p in range(len(kernels)):  # kernels do not see each other
        for j in order[order // len(X) == p]:
            if reference.novelty(p, j % len(X)) > 0.2:
                reference.taken.append((p, int(j % len(X))))
    assert sorted(chosen(result, kernels)) == sorted(reference.taken)
    assert 5 < len(reference.taken) < 2 * len(X)


def test_ran_takes_what_is_new_and_lowers_the_objective():
    threshold = 0.3
    oracle = NoveltyOracle("ran", threshold, seed=5)
    problem = Problem(CandidateColumns([NARROW], X), TargetRows.of(Y, WEIGHT))
    result = grow(problem, oracle, CholeskyMaster(ridge=RIDGE), MaxColumns(1000))
    reference, share = Reference([NARROW], Y), WEIGHT / WEIGHT.sum()
    unit = np.sum(share @ (Y - share @ Y) ** 2)
    for c in np.random.default_rng(5).permutation(len(X)):
        drop = reference.objective - reference.objective_of([*reference.taken, (0, c)])[0]
        if reference.novelty(0, c) * drop / unit > threshold:
            reference.take((0, int(c)))
    assert chosen(result, [NARROW]) == reference.taken
    assert 3 < len(reference.taken) < len(X)


@pytest.mark.parametrize("selection", ["ald", "ran"])
@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_pass_out_of_time_keeps_its_columns(monkeypatch, selection, looks):
    class Clock:
        looked = 0

        @property
        def remaining(self):
            self.looked += 1
            return 1.0 if self.looked <= looks else 0.0

    monkeypatch.setitem(online_novelty._CHUNK, selection, 10)
    oracle = NoveltyOracle(selection, 1e-4, per_step=100, seed=5)
    rows, master = TargetRows.of(Y, WEIGHT), CholeskyMaster(ridge=RIDGE)

    def first(**more):
        problem = Problem(CandidateColumns([NARROW], X), rows, **more)
        return oracle.start(problem).propose(master.start(problem)).ids

    seen = np.random.default_rng(5).permutation(len(X))[: 10 * looks]
    np.testing.assert_array_equal(
        first(deadline=Clock()), [j for j in first() if j in seen.tolist()]
    )
