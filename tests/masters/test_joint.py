"""All coefficients together: the optimum, whatever the loss, the sample and the way F is kept."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kboost.columns.design import Design
from kboost.columns.pool import Pool
from kboost.core.grow import grow
from kboost.core.protocols import Problem, Proposal
from kboost.core.stopping import MaxColumns
from kboost.formulations import TargetRows
from kboost.kernels import Gaussian, Sigmoid
from kboost.masters.forward import ForwardMaster
from kboost.masters.joint import JointMaster
from kboost.masters.losses import LOSSES
from kboost.oracles.ensemble import EnsembleOracle

RNG = np.random.default_rng(1)
X = RNG.uniform(-2, 2, size=(80, 2))
SIGNS = np.sign(np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], X[:, 0] - X[:, 1]]))
WEIGHT = RNG.uniform(0.5, 2.0, size=80)
OFFSET = 0.1 * RNG.normal(size=(80, 2))
RIDGE = 0.1
KERNELS = {"one": [Gaussian(1.0)], "two": [Gaussian(1.0), Gaussian(0.2)]}
ROWS = TargetRows(SIGNS, WEIGHT, OFFSET)


def grown(master, kernels, size=8, columns=24, selection="max-res"):
    evaluate = isinstance(master, ForwardMaster)
    oracle = EnsembleOracle(
        selection, size, 30, ridge=RIDGE, max_columns=columns, evaluate=evaluate
    )
    return grow(Problem(Pool(kernels, X), ROWS), oracle, master, MaxColumns(columns))


def problem_of(result, kernels, loss):
    """The objective of (bias, coefficients) on the columns taken, and F and Q themselves."""
    pairs = [(kernels.index(h.family.kernel), h.index) for h in result.hypotheses]
    F = np.column_stack([kernels[p](X)[:, c] for p, c in pairs])
    Q = np.array([[kernels[p](X)[c, d] if p == s else 0.0 for s, d in pairs] for p, c in pairs])

    def objective(z, bias):
        f = OFFSET + F @ z + bias
        value = np.sum(WEIGHT[:, None] * loss.value(SIGNS, f))
        slope = WEIGHT[:, None] * loss.slope(SIGNS, f)
        pull = Q @ z
        gradient = np.vstack([-slope.sum(axis=0), RIDGE * pull - F.T @ slope])
        return value + 0.5 * RIDGE * np.sum(z * pull), gradient

    return objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("make", [JointMaster, ForwardMaster])
def test_the_end_is_the_optimum(loss, kernels, make):
    result = grown(make(LOSSES[loss], RIDGE), KERNELS[kernels])
    objective = problem_of(result, KERNELS[kernels], LOSSES[loss])
    value, gradient = objective(result.fit.coef, result.fit.bias)
    assert result.fit.objective == pytest.approx(value, rel=1e-6)

    def flat(raw):
        z = raw.reshape(-1, 2)
        found, slope = objective(z[1:], z[0])
        return found, slope.ravel()

    best = minimize(
        flat,
        np.zeros(2 * (len(result.fit.coef) + 1)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9},
    )
    assert value == pytest.approx(best.fun, rel=1e-5)
    assert np.abs(gradient).max() < 1e-2 * np.abs(flat(np.zeros_like(best.x))[1]).max()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_never_rises(loss):
    values = grown(JointMaster(LOSSES[loss], RIDGE), KERNELS["two"]).trace.values("objective")
    assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_the_sample_of_the_preconditioner_does_not_matter(monkeypatch):
    whole = grown(JointMaster(ridge=RIDGE), KERNELS["one"])
    monkeypatch.setattr("kboost.masters.joint._FEW", 1)
    monkeypatch.setattr("kboost.masters.joint._SAMPLE", 2)
    some = grown(JointMaster(ridge=RIDGE, capacity=24), KERNELS["one"])
    assert some.fit.objective == pytest.approx(whole.fit.objective, rel=1e-4)


def test_a_derivative_is_that_of_the_value():
    f = RNG.normal(size=(50, 1))
    y = np.sign(RNG.normal(size=(50, 1)))
    step = 1e-6
    for loss in LOSSES.values():
        numeric = (loss.value(y, f - step) - loss.value(y, f + step)) / (2 * step)
        np.testing.assert_allclose(loss.slope(y, f), numeric, atol=1e-6)
        bend = (loss.slope(y, f - step) - loss.slope(y, f + step)) / (2 * step)
        np.testing.assert_allclose(loss.curvature(y, f), bend, atol=1e-6)
        assert np.all(loss.curvature(y, f) <= loss.bound)


@pytest.mark.parametrize(
    ("budget", "tolerance"), [(1 << 30, 1e-12), (80 * 24 * 4, 1e-6), (1, 1e-12)]
)
def test_a_design_is_kept_rounded_or_made_again(budget, tolerance):
    pool = Pool(KERNELS["one"], X)
    design = Design(pool, 24, budget)
    ids = np.arange(0, 48, 2)
    for part in np.split(ids, 3):
        design.append(pool.values(part), part)
    F, right = KERNELS["one"][0](X)[:, ids], RNG.normal(size=(80, 3))
    np.testing.assert_allclose(design.times(right[:24]), F @ right[:24], atol=30 * tolerance)
    np.testing.assert_allclose(design.transposed_times(right), F.T @ right, atol=80 * tolerance)
    np.testing.assert_allclose(design.at(np.array([5, 3])), F[[5, 3]], atol=tolerance)
    stored = design.stored(F)
    np.testing.assert_allclose(stored, F, atol=tolerance)
    assert (stored is F) == (budget != 80 * 24 * 4)
    again = Design(pool, 24, budget)
    again.make(ids)
    np.testing.assert_allclose(again.at(np.arange(80)), design.at(np.arange(80)), atol=tolerance)


@pytest.mark.parametrize("budget", [80 * 24 * 4, 1])
def test_a_small_budget_changes_little(budget):
    master = JointMaster(ridge=RIDGE, capacity=24, budget=budget)
    small, large = grown(master, KERNELS["two"]), grown(JointMaster(ridge=RIDGE), KERNELS["two"])
    assert small.fit.objective == pytest.approx(large.fit.objective, rel=1e-4)


@pytest.fixture
def always_single(monkeypatch):
    monkeypatch.setattr("kboost.columns.design._LARGE", 1)


def test_a_single_design_rounds_little_and_can_be_promoted(always_single):
    pool = Pool(KERNELS["two"], X)
    design, ids = Design(pool, 24, 1 << 30, single=True), np.arange(0, 120, 5)
    design.make(ids)
    F, right = pool.values(ids), RNG.normal(size=(80, 3))
    assert design.is_single
    for rough in (False, True):
        found = design.transposed_times(right, rough=rough)
        np.testing.assert_allclose(found, F.T @ right, atol=1e-4)
        own, image = design.through(right[:24], lambda rows, u: 2 * u, rough=rough)
        np.testing.assert_allclose(own, F @ right[:24], atol=1e-4)
        np.testing.assert_allclose(image, 2 * F.T @ (F @ right[:24]), atol=1e-3)
    away = (F - design.at(np.arange(80))) @ right[:24]
    assert design.rounding(right[:24]) == pytest.approx(np.sqrt(np.mean(away**2)))
    assert design.promote()
    assert not design.is_single
    assert not design.promote()
    np.testing.assert_array_equal(design.at(np.arange(80)), F)
    assert design.rounding(right[:24]) == 0.0
    tight = Design(pool, 24, 4 * 80 * 24, single=True)
    assert not tight.promote()


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_a_single_fit_is_as_good_as_a_double_one(loss, always_single):
    master = JointMaster(LOSSES[loss], ridge=RIDGE)
    single = grown(master, KERNELS["one"], selection="random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kboost.columns.design._LARGE", 1 << 30)
        double = grown(master, KERNELS["one"], selection="random")
    np.testing.assert_array_equal(
        [h.index for h in single.hypotheses], [h.index for h in double.hypotheses]
    )
    assert single.fit.objective == pytest.approx(double.fit.objective, rel=1e-4)


def test_where_rounding_shows_the_columns_are_made_again(always_single):
    """A tiny ridge and exact targets: coefficients are huge, and cancel."""
    kernel = Gaussian(0.01).resolve(X)
    exact = TargetRows.of(np.sin(X[:, :1]), np.ones(80))
    master = JointMaster(ridge=1e-9, capacity=24)
    run = master.start(Problem(Pool([kernel], X), exact))
    ids = np.arange(0, 72, 3)
    run.extend(Proposal(ids, [], np.zeros((80, 0)), 0.0, None, 24))
    rough = run.fit.objective
    fit = run.finish()
    assert not run._design.is_single
    assert fit.objective < rough
    F = kernel(X, X[ids])
    again = F @ fit.coef + fit.bias
    np.testing.assert_allclose(again, fit.decision, atol=1e-6)


def test_a_preconditioner_whose_pivots_round_is_made_again(always_single, monkeypatch):
    monkeypatch.setattr("kboost.masters.joint._SOUND", 2.0)
    again = grown(JointMaster(ridge=RIDGE, capacity=24), KERNELS["one"], selection="random")
    monkeypatch.setattr("kboost.masters.joint._SOUND", 0.0)
    once = grown(JointMaster(ridge=RIDGE, capacity=24), KERNELS["one"], selection="random")
    assert again.fit.objective == pytest.approx(once.fit.objective, rel=1e-4)


@pytest.mark.parametrize("make", [JointMaster, ForwardMaster])
def test_a_kernel_without_an_rkhs_is_refused(make):
    with pytest.raises(ValueError, match="positive semidefinite"):
        make().start(Problem(Pool([Sigmoid().resolve(X)], X), ROWS))
