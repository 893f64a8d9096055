"""All coefficients together: the optimum for every loss, sample and storage of F."""

import numpy as np
import pytest
from sklearn.base import clone

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.columns.candidates import CandidateColumns
from kboost.columns.design_matrix import DesignMatrix
from kboost.core.column_generation import grow
from kboost.core.deadline import Deadline
from kboost.core.protocols import Problem, Proposal
from kboost.core.stopping import MaxColumns
from kboost.exceptions import OutOfTimeError
from kboost.formulations import TargetRows
from kboost.kernels import Gaussian, Linear, Sigmoid
from kboost.masters import preconditioned_cg
from kboost.masters.growing_cholesky import CholeskyMaster
from kboost.masters.losses import LOSSES
from kboost.masters.preconditioned_cg import PCGMaster
from kboost.oracles.ensemble import EnsembleOracle
from tests.contracts.reference import ridge_bound

RNG = np.random.default_rng(1)
X = RNG.uniform(-2, 2, size=(80, 2))
SIGNS = np.sign(np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], X[:, 0] - X[:, 1]]))
WEIGHT = RNG.uniform(0.5, 2.0, size=80)
OFFSET = 0.1 * RNG.normal(size=(80, 2))
RIDGE = 0.1
KERNELS = {"one": [Gaussian(1.0)], "two": [Gaussian(1.0), Gaussian(0.2)]}
ROWS = TargetRows(SIGNS, WEIGHT, OFFSET)


def grown(master, kernels, size=8, columns=24, selection="max-res"):
    evaluate = isinstance(master, CholeskyMaster)
    oracle = EnsembleOracle(
        selection, size, 30, ridge=RIDGE, max_columns=columns, evaluate=evaluate
    )
    return grow(Problem(CandidateColumns(kernels, X), ROWS), oracle, master, MaxColumns(columns))


def problem_of(result, kernels, loss):
    """The objective of (bias, coefficients) on the columns taken, and F and Q themselves."""
    pairs = [(kernels.index(h.family.kernel), h.index) for h in result.hypotheses]
    K = [kernel(X) for kernel in kernels]
    F = np.column_stack([K[p][:, c] for p, c in pairs])
    Q = np.array([[K[p][c, d] if p == s else 0.0 for s, d in pairs] for p, c in pairs])

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
@pytest.mark.parametrize("make", [PCGMaster, CholeskyMaster])
def test_the_end_is_the_optimum(loss, kernels, make):
    result = grown(make(LOSSES[loss], RIDGE), KERNELS[kernels])
    objective = problem_of(result, KERNELS[kernels], LOSSES[loss])
    value, gradient = objective(result.fit.coef, result.fit.bias)
    assert result.fit.objective == pytest.approx(value, rel=1e-6)
    assert _above_the_bound(result, KERNELS[kernels], ROWS, LOSSES[loss], RIDGE) <= 1e-5
    flat = objective(np.zeros_like(result.fit.coef), np.zeros(2))[1]
    assert np.abs(gradient).max() < 1e-2 * np.abs(flat).max()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_never_rises(loss):
    values = grown(PCGMaster(LOSSES[loss], RIDGE), KERNELS["two"]).trace.values("objective")
    assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_the_sample_of_the_preconditioner_does_not_matter(monkeypatch):
    whole = grown(PCGMaster(ridge=RIDGE), KERNELS["one"])
    monkeypatch.setattr("kboost.masters._sampled_preconditioner._LEAST_ROWS", 1)
    monkeypatch.setattr("kboost.masters._sampled_preconditioner._ROWS_PER_COLUMN", 2)
    some = grown(PCGMaster(ridge=RIDGE, capacity=24), KERNELS["one"])
    assert some.fit.objective == pytest.approx(whole.fit.objective, rel=1e-4)


def test_a_derivative_is_that_of_the_value():
    f = RNG.normal(size=(50, 1))
    y = np.sign(RNG.normal(size=(50, 1)))
    step = 1e-6
    for loss in LOSSES.values():
        numeric = (loss.value(y, f - step) - loss.value(y, f + step)) / (2 * step)
        np.testing.assert_allclose(loss.slope(y, f), numeric, atol=1e-6)
        curvature = (loss.slope(y, f - step) - loss.slope(y, f + step)) / (2 * step)
        np.testing.assert_allclose(loss.curvature(y, f), curvature, atol=1e-6)
        assert np.all(loss.curvature(y, f) <= loss.bound)


@pytest.mark.parametrize(
    ("budget", "tolerance"), [(1 << 30, 1e-12), (80 * 24 * 4, 1e-6), (1, 1e-12)]
)
def test_a_design_is_kept_rounded_or_made_again(budget, tolerance):
    candidates = CandidateColumns(KERNELS["one"], X)
    design = DesignMatrix(candidates, 24, budget)
    ids = np.arange(0, 48, 2)
    for part in np.split(ids, 3):
        design.append(candidates.values(part), part)
    F, right = KERNELS["one"][0](X)[:, ids], RNG.normal(size=(80, 3))
    np.testing.assert_allclose(design.times(right[:24]), F @ right[:24], atol=30 * tolerance)
    np.testing.assert_allclose(design.transposed_times(right), F.T @ right, atol=80 * tolerance)
    new = design.transposed_times(right, after=16)
    np.testing.assert_allclose(new, F[:, 16:].T @ right, atol=80 * tolerance)
    np.testing.assert_allclose(design.at(np.array([5, 3])), F[[5, 3]], atol=tolerance)
    stored = design.stored(F)
    np.testing.assert_allclose(stored, F, atol=tolerance)
    assert (stored is F) == (budget != 80 * 24 * 4)
    again = DesignMatrix(candidates, 24, budget)
    again.make(ids)
    np.testing.assert_allclose(again.at(np.arange(80)), design.at(np.arange(80)), atol=tolerance)


@pytest.mark.parametrize("budget", [80 * 24 * 4, 1])
def test_a_small_budget_changes_little(budget):
    master = PCGMaster(ridge=RIDGE, capacity=24, budget=budget)
    small, large = grown(master, KERNELS["two"]), grown(PCGMaster(ridge=RIDGE), KERNELS["two"])
    assert small.fit.objective == pytest.approx(large.fit.objective, rel=1e-4)


@pytest.fixture
def always_single(monkeypatch):
    monkeypatch.setattr("kboost.columns.design_matrix._LARGE", 1)


def test_a_single_design_rounds_little_and_can_be_promoted(always_single):
    candidates = CandidateColumns(KERNELS["two"], X)
    design, ids = DesignMatrix(candidates, 24, 1 << 30, single=True), np.arange(0, 120, 5)
    design.make(ids)
    F, right = candidates.values(ids), RNG.normal(size=(80, 3))
    assert design.is_float32
    for rough in (False, True):
        found = design.transposed_times(right, rough=rough)
        np.testing.assert_allclose(found, F.T @ right, atol=1e-4)
        image_rows, image = design.normal_product(right[:24], lambda rows, u: 2 * u, rough=rough)
        np.testing.assert_allclose(image_rows, F @ right[:24], atol=1e-4)
        np.testing.assert_allclose(image, 2 * F.T @ (F @ right[:24]), atol=1e-3)
    distance = (F - design.at(np.arange(80))) @ right[:24]
    np.testing.assert_allclose(design.rounding(right[:24]), np.sqrt(np.mean(distance**2, axis=0)))
    assert design.promote()
    assert not design.is_float32
    assert not design.promote()
    np.testing.assert_array_equal(design.at(np.arange(80)), F)
    assert not design.rounding(right[:24]).any()
    tight = DesignMatrix(candidates, 24, 4 * 80 * 24, single=True)
    tight.make(ids)
    assert not tight.promote()
    assert tight.promote(made=True)
    np.testing.assert_array_equal(tight.at(np.arange(80)), F)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernels", KERNELS)
def test_the_updated_gradient_is_the_gradient(kernels, fit_intercept):
    problem = Problem(CandidateColumns(KERNELS[kernels], X), ROWS)
    run = PCGMaster(ridge=RIDGE, fit_intercept=fit_intercept).start(problem)
    for ids in np.split(np.arange(0, 48, 2), 3):
        run.extend(Proposal(ids, [], np.zeros((80, 0)), 0.0, None, 0))
        came, gradient = run._residual, run._objective.evaluate(run._raw)[1]
        assert came is not None
        np.testing.assert_allclose(came, -gradient, atol=1e-9)
    run.finish()
    assert run._residual is None


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_a_single_fit_is_as_good_as_a_double_one(loss, always_single):
    master = PCGMaster(LOSSES[loss], ridge=RIDGE)
    single = grown(master, KERNELS["one"], selection="random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kboost.columns.design_matrix._LARGE", 1 << 30)
        double = grown(master, KERNELS["one"], selection="random")
    np.testing.assert_array_equal(
        [h.index for h in single.hypotheses], [h.index for h in double.hypotheses]
    )
    assert single.fit.objective == pytest.approx(double.fit.objective, rel=1e-4)


def test_where_rounding_shows_the_columns_are_made_again(always_single):
    """A tiny ridge and exact targets: coefficients are huge, and cancel."""
    kernel = Gaussian(0.01).resolve(X)
    exact = TargetRows.of(np.sin(X[:, :1]), np.ones(80))
    master = PCGMaster(ridge=1e-9, capacity=24)
    run = master.start(Problem(CandidateColumns([kernel], X), exact))
    ids = np.arange(0, 72, 3)
    run.extend(Proposal(ids, [], np.zeros((80, 0)), 0.0, None, 24))
    rough = run.fit.objective
    fit = run.finish()
    assert not run._design.is_float32
    assert fit.objective < rough
    F = kernel(X, X[ids])
    again = F @ fit.coef + fit.bias
    np.testing.assert_allclose(again, fit.decision, atol=1e-6)


def test_a_preconditioner_whose_pivots_round_is_made_again(always_single, monkeypatch):
    monkeypatch.setattr("kboost.masters._sampled_preconditioner._LEAST_PIVOT", 2.0)
    again = grown(PCGMaster(ridge=RIDGE, capacity=24), KERNELS["one"], selection="random")
    monkeypatch.setattr("kboost.masters._sampled_preconditioner._LEAST_PIVOT", 0.0)
    once = grown(PCGMaster(ridge=RIDGE, capacity=24), KERNELS["one"], selection="random")
    assert again.fit.objective == pytest.approx(once.fit.objective, rel=1e-4)


@pytest.mark.parametrize("make", [PCGMaster, CholeskyMaster])
def test_a_kernel_without_an_rkhs_is_refused(make):
    with pytest.raises(ValueError, match="positive semidefinite"):
        make().start(Problem(CandidateColumns([Sigmoid().resolve(X)], X), ROWS))


@pytest.mark.parametrize("unit", [1e-150, 1e-45, 1e45, 1e150])
def test_float32_products_do_not_depend_on_units(unit, always_single):
    candidates, ids = CandidateColumns(KERNELS["one"], X), np.arange(24)
    design, right = (
        DesignMatrix(candidates, 24, 1 << 30, single=True),
        unit * RNG.normal(size=(80, 2)),
    )
    design.make(ids)
    F = candidates.values(ids)
    found = design.transposed_times(right, rough=True)
    np.testing.assert_allclose(found, F.T @ right, atol=1e-4 * unit)
    image_rows, image = design.normal_product(right[:24], lambda rows, u: u, rough=True)
    np.testing.assert_allclose(image_rows, F @ right[:24], atol=1e-4 * unit)
    np.testing.assert_allclose(image, F.T @ (F @ right[:24]), atol=1e-3 * unit)


@pytest.mark.parametrize(("scale", "single"), [(1e-10, False), (1.0, True), (1e20, False)])
def test_values_out_of_range_are_not_rounded(scale, single, always_single):
    candidates = CandidateColumns([Linear().resolve(X)], scale * X)
    assert DesignMatrix(candidates, 24, 1 << 30, single=True).is_float32 == single
    assert DesignMatrix(candidates, 24, 80 * 24 * 4).is_float32 == single


def least_squares(kernel, ids, targets, weight, ridge):
    """The least objective by dense least squares, intercept included."""
    F = kernel(X, X[ids])
    values, vectors = np.linalg.eigh(F[ids])
    root = (vectors * np.sqrt(ridge * np.maximum(values, 0.0))).T
    A = np.vstack([np.c_[np.ones(80), F] * np.sqrt(weight)[:, None], np.c_[0 * ids, root]])
    b = np.concatenate([targets * np.sqrt(weight), 0.0 * ids])
    z = np.linalg.lstsq(A, b, rcond=1e-15)[0]
    return 0.5 * np.sum((A @ z - b) ** 2), lambda raw: 0.5 * np.sum((A @ raw - b) ** 2)


@pytest.mark.parametrize("budget", [1 << 30, 80 * 30 * 4])
@pytest.mark.parametrize("heavy", [1.0, 1e12])
def test_rounding_never_makes_a_bad_model(budget, heavy, always_single):
    """Ill-conditioned columns, or one row that is all of the loss, with and without the room."""
    kernel = Gaussian(0.1 if heavy == 1.0 else 1.0).resolve(X)
    targets = np.sin(3 * X[:, 0]) * X[:, 1]
    weight = np.r_[heavy, np.ones(79)]
    ridge, ids = (1e-9 if heavy == 1.0 else 1e-3), np.arange(0, 60, 2)
    master = PCGMaster(ridge=ridge, capacity=30, budget=budget)
    run = master.start(
        Problem(CandidateColumns([kernel], X), TargetRows.of(targets[:, None], weight))
    )
    run.extend(Proposal(ids, [], np.zeros((80, 0)), 0.0, None, 30))
    fit = run.finish()
    assert not run._design.is_float32
    best, objective = least_squares(kernel, ids, targets, weight, ridge)
    found = objective(np.r_[fit.bias, fit.coef[:, 0]])
    assert fit.objective == pytest.approx(found, rel=1e-3)
    assert found < 1.5 * best


class Ends(Deadline):
    """Raises when it is looked at for the n-th time, or from then on."""

    def __new__(cls, error, after, again):
        return super().__new__(cls)

    def __init__(self, error, after, again):
        super().__init__(float("inf"))
        self.__dict__.update(error=error, after=after, again=again, looks=0)

    def check(self):
        self.__dict__["looks"] += 1
        if self.looks == self.after or (self.again and self.looks > self.after):
            raise self.error


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("error", [OutOfTimeError, KeyboardInterrupt])
@pytest.mark.parametrize("after", [1, 4, 9, 14, 60])
def test_out_of_time_keeps_the_last_finished_step(after, error, single, monkeypatch):
    """Wherever time ends, in a step or in the last solution."""
    monkeypatch.setattr("kboost.columns.design_matrix._LARGE", 1 if single else 1 << 30)
    kernel = Gaussian(0.01).resolve(X)
    rows = TargetRows.of(5.0 + np.sin(X[:, :1]), np.ones(80))
    oracle = EnsembleOracle("random", 8, 30, ridge=1e-9, max_columns=24, evaluate=False)
    problem = Problem(
        CandidateColumns([kernel], X), rows, Ends(error, after, error is OutOfTimeError)
    )
    master = PCGMaster(ridge=1e-9, capacity=24)
    result = grow(problem, oracle, master, MaxColumns(24))
    assert len(result.hypotheses) == len(result.fit.coef)
    centers = [h.index for h in result.hypotheses]
    found = kernel(X, X[centers]) @ result.fit.coef + result.fit.bias
    assert np.mean((found - rows.targets) ** 2) <= 1.01 * np.var(rows.targets)


@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("error", [OutOfTimeError, KeyboardInterrupt])
@pytest.mark.parametrize("intercept", [True, False])
def test_rounded_columns_never_make_a_model_worse_with_more_time(
    loss, error, intercept, always_single, monkeypatch
):
    """A problem too large for a direct solution, whose coefficients only fit rounded columns."""
    monkeypatch.setattr(preconditioned_cg, "_MAX_WORK", 0)
    kernel, value = Gaussian(0.003).resolve(X), LOSSES[loss].value
    targets = 10.0 + np.sin(X[:, :1]) if loss == "squared" else np.sign(X[:, :1] * X[:, 1:] + 0.5)
    rows = TargetRows.of(targets, np.ones(80))
    master = PCGMaster(LOSSES[loss], 1e-12, intercept, capacity=36)
    losses = []
    for after in range(1, 24):
        oracle = EnsembleOracle("random", 4, 30, ridge=1e-12, max_columns=36, evaluate=False)
        deadline = Ends(error, after, error is OutOfTimeError)
        problem = Problem(CandidateColumns([kernel], X), rows, deadline)
        result = grow(problem, oracle, master, MaxColumns(36))
        centers = [h.index for h in result.hypotheses]
        found = kernel(X, X[centers]) @ result.fit.coef + result.fit.bias
        losses.append(np.sum(value(targets, found)))
    mean = targets.mean() if intercept else 0.0
    alone = np.sum(value(targets, np.full_like(targets, mean if loss == "squared" else 0.0)))
    assert max(losses) <= 1.0001 * alone
    assert losses[-1] < 0.1 * alone
    assert np.all(losses <= 1.05 * np.minimum.accumulate(losses))


@pytest.mark.parametrize("after", range(1, 9))
def test_time_that_ends_while_columns_are_made_again_leaves_a_model(
    after, always_single, monkeypatch
):
    """At least as good as the mean, also if there is no time to make them."""
    monkeypatch.setattr(preconditioned_cg, "_MAX_WORK", 0)
    kernel = Gaussian(0.003).resolve(X)
    rows = TargetRows.of(10.0 + np.sin(X[:, :1]), np.ones(80))
    run = PCGMaster(ridge=1e-12, capacity=40).start(Problem(CandidateColumns([kernel], X), rows))
    ids = np.arange(0, 72, 2)
    for step in np.split(ids, 9):
        run.extend(Proposal(step, [], np.zeros((80, 0)), 0.0, None, 4))
    run._is_final = True  # as if these were all columns
    run._deadline = Ends(OutOfTimeError, after, True)
    fit = run.complete(run.fit)
    found = kernel(X, X[ids]) @ fit.coef + fit.bias
    assert np.mean((found - rows.targets) ** 2) <= 1.0001 * np.var(rows.targets)
    assert run._design.is_float32 == (after == 1)


@pytest.mark.parametrize("ridge", [1e-2, 1e-6, 1e-10])
@pytest.mark.parametrize("kernels", [[Gaussian(0.1)], [Gaussian(0.1), Gaussian(0.05)]])
def test_columns_that_nearly_depend_on_each_other(kernels, ridge):
    """The optimum as a minimum over functions: in the basis of a QR factor, nothing is squared."""
    rows = TargetRows(np.sin(2 * X[:, :1]) + X[:, 1:] ** 2, WEIGHT, np.zeros((80, 1)))
    oracle = EnsembleOracle("max-res", 30, 60, ridge=ridge, max_columns=60, evaluate=False)
    problem = Problem(CandidateColumns(kernels, X), rows)
    result = grow(problem, oracle, PCGMaster(ridge=ridge, capacity=60), MaxColumns(60))
    pairs = [(kernels.index(h.family.kernel), h.index) for h in result.hypotheses]
    K = [kernel(X) for kernel in kernels]
    F = np.column_stack([K[p][:, c] for p, c in pairs])
    Q = np.array([[K[p][c, d] if p == s else 0.0 for s, d in pairs] for p, c in pairs])
    values, vectors = np.linalg.eigh(Q)
    kept = values > 1e-15 * values.max()
    vectors = vectors[:, kept] / np.sqrt(values[kept])  # F vectors b: |b| is the norm
    root = np.sqrt(WEIGHT)[:, None]
    long = np.block(
        [
            [root, root * (F @ vectors)],
            [np.zeros((kept.sum(), 1)), np.sqrt(ridge) * np.eye(kept.sum())],
        ]
    )
    target = np.concatenate([root[:, 0] * rows.targets[:, 0], np.zeros(kept.sum())])
    q, r = np.linalg.qr(long)
    best = 0.5 * np.sum((target - long @ np.linalg.solve(r, q.T @ target)) ** 2)
    assert result.fit.objective <= best * (1 + 1e-4)


def _above_the_bound(result, kernels, rows, loss, ridge):
    """How far the objective is above its lower bound, relatively."""
    pairs = [(kernels.index(h.family.kernel), h.index) for h in result.hypotheses]
    K = [kernel(X) for kernel in kernels]
    F = np.column_stack([K[p][:, c] for p, c in pairs])
    Q = np.array([[K[p][c, d] if p == s else 0.0 for s, d in pairs] for p, c in pairs])
    fit, weight, bound = result.fit, rows.sample_weight, 0.0
    for k, bias in enumerate(np.broadcast_to(fit.bias, rows.targets.shape[1])):
        y, offset, coef = rows.targets[:, k], rows.offset[:, k], fit.coef[:, k]
        bound += ridge_bound(F, Q, y, offset, weight, loss, ridge, coef, bias)
    return fit.objective / bound - 1


@pytest.mark.parametrize("spread", [1.0, 1e3])
@pytest.mark.parametrize("ridge", [1e-1, 1e-4, 1e-7])
@pytest.mark.parametrize("kernels", [[Gaussian(0.1)], [Gaussian(0.5), Gaussian(0.05)]])
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_small_problems_of_every_loss_end_at_the_optimum(loss, kernels, ridge, spread):
    """CG meets its limit on most of these, up to several times above the optimum."""
    weight = np.exp(np.random.default_rng(2).uniform(0, np.log(spread), 80))
    rows = TargetRows(SIGNS, weight, OFFSET)
    oracle = EnsembleOracle("max-res", 16, 60, ridge=ridge, max_columns=48, evaluate=False)
    master = PCGMaster(LOSSES[loss], ridge, capacity=48)
    result = grow(Problem(CandidateColumns(kernels, X), rows), oracle, master, MaxColumns(48))
    assert result.fit.solver_gap is None
    excess = _above_the_bound(result, kernels, rows, LOSSES[loss], ridge)
    assert excess <= 1e-6


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_large_problems_of_every_loss_report_the_remaining_gain(loss, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3))
    y = np.sign(np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.5 * rng.normal(size=300))
    weight = np.exp(rng.uniform(0, np.log(1e3), 300))
    model = SparseKernelClassifier([Gaussian(0.1)], loss=loss, ridge=1e-7, max_columns=80)
    best = clone(model).fit(rows, y, weight)
    assert "left to gain" not in str(best.stop_reason_)
    monkeypatch.setattr(preconditioned_cg, "_MAX_WORK", 0.0)
    model.fit(rows, y, weight)
    assert "left to gain" in str(model.stop_reason_)
    assert best.objective_ < 0.9 * model.objective_
    easy = clone(model).set_params(ridge=1.0).fit(rows, y, weight)
    assert "left to gain" not in str(easy.stop_reason_)


def _outlying():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    return X, np.sin(2 * X[:, 0]) * X[:, -1]


def test_suboptimal_coefficients_are_reported(monkeypatch):
    monkeypatch.setitem(preconditioned_cg._FINE, "max_inner", 1)
    monkeypatch.setattr(preconditioned_cg, "_MAX_WORK", 0.0)
    X, y = _outlying()
    model = SparseKernelRegressor([Gaussian(1.0)], ridge=1e-4, max_columns=300).fit(X, y)
    assert "left to gain" in str(model.stop_reason_)


def test_small_problems_are_solved_directly_when_the_iteration_stalls(monkeypatch):
    X, y = _outlying()
    best = SparseKernelRegressor([Gaussian(1.0)], ridge=1e-4, max_columns=300).fit(X, y)
    monkeypatch.setitem(preconditioned_cg._FINE, "max_inner", 1)
    model = SparseKernelRegressor([Gaussian(1.0)], ridge=1e-4, max_columns=300).fit(X, y)
    assert "left to gain" not in str(model.stop_reason_)
    assert model.objective_ <= best.objective_ * (1 + 1e-6)


@pytest.mark.parametrize("kernels", KERNELS)
def test_a_design_is_stored_as_far_as_it_fits(kernels, always_single, monkeypatch):
    """The first 50 rows are stored, the others computed in float32 for each product."""
    monkeypatch.setattr("kboost.columns.design_matrix.SAMPLE_ROWS", 20)
    monkeypatch.setattr("kboost.columns.design_matrix._COMPUTED", 1)
    candidates = CandidateColumns(KERNELS[kernels], X)
    design = DesignMatrix(candidates, 24, 50 * 24 * 4 + 3, single=True)
    ids = np.arange(0, 72, 3)
    for part in np.split(ids, 3):
        design.make(part)
    assert design.is_float32
    assert design._n_stored == 50
    F, right = candidates.values(ids), RNG.normal(size=(80, 3))
    np.testing.assert_allclose(design.times(right[:24]), F @ right[:24], atol=1e-4)
    np.testing.assert_allclose(design.at(np.arange(79, 0, -2)), F[79:0:-2], atol=1e-6)
    for rough in (False, True):
        for after in (0, 8, 11):
            found = design.transposed_times(right, after=after, rough=rough)
            np.testing.assert_allclose(found, F[:, after:].T @ right, atol=1e-4)
        image_rows, image = design.normal_product(right[:24], lambda rows, u: 2 * u, rough=rough)
        np.testing.assert_allclose(image_rows, F @ right[:24], atol=1e-4)
        np.testing.assert_allclose(image, 2 * F.T @ (F @ right[:24]), atol=1e-3)
    rows = np.concatenate([block for _, block in design.first_rows(70)])
    np.testing.assert_allclose(rows, F[:70], atol=1e-6)
    assert not design.promote()
    assert design.promote(made=True)
    np.testing.assert_array_equal(design.times(right[:24]), F @ right[:24])


def test_a_fit_with_part_of_the_design_stored_is_the_same(always_single, monkeypatch):
    monkeypatch.setattr("kboost.columns.design_matrix.SAMPLE_ROWS", 20)
    small = grown(PCGMaster(ridge=RIDGE, capacity=24, budget=50 * 24 * 4), KERNELS["two"])
    large = grown(PCGMaster(ridge=RIDGE, capacity=24), KERNELS["two"])
    assert small.fit.objective == pytest.approx(large.fit.objective, rel=1e-4)
