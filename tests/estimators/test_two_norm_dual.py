"""penalty="l2" by the dual over the whole library: the same optimum, and when it is chosen."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.settings import ColumnGeneration
from tests.estimators.boost import boost

LIBRARY = [Linear(), Polynomial(2), Gaussian()]
GENERATED = ColumnGeneration(columns_per_step=30)
X, LABELS = make_moons(90, noise=0.3, random_state=3)
RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(1, 4, size=90).astype(float)
CLASSES = LABELS + 2 * (X[:, 0] > 1)
VALUES = np.sin(2 * X[:, 0]) + 0.2 * RNG.normal(size=90)


def by_dual(model):
    reasons = model.stop_reason_ if isinstance(model.stop_reason_, list) else [model.stop_reason_]
    return ["dual with one variable per row" in str(reason) for reason in reasons]


def classifier(solver="cg", **options):
    return boost(LIBRARY, penalty="l2", **{"C": 0.05, "tol": 1e-9, **options}, solver=solver)


def regressor(solver="cg", **options):
    return KernelBoostRegressor(
        LIBRARY, penalty="l2", **{"C": 0.05, "tol": 1e-9, "epsilon": 0.1, **options}, solver=solver
    )


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("C", [0.002, 0.05, 1.0])
def test_the_classifier_has_the_optimum_of_column_generation(C, class_weight):
    options = {"C": C, "class_weight": class_weight}
    whole = classifier(**options).fit(X, LABELS, WEIGHTS)
    generated = classifier(GENERATED, **options).fit(X, LABELS, WEIGHTS)
    assert by_dual(whole) == [True]
    assert by_dual(generated) == [False]
    assert whole.dual_gap_ <= 1e-9
    assert whole.objective_ == pytest.approx(generated.objective_, rel=1e-7)
    np.testing.assert_allclose(
        whole.decision_function(X), generated.decision_function(X), atol=1e-3
    )


def test_objective_and_coefficients_belong_together():
    model = classifier().fit(X, LABELS, WEIGHTS)
    columns = np.hstack([k(X, X) for k in model.kernels_])
    rms = np.sqrt((columns**2 * WEIGHTS[:, None]).sum(axis=0) / WEIGHTS.sum())
    scales = np.maximum(rms, 0.3 * np.abs(columns).max(axis=0))
    at = [np.flatnonzero((center == X).all(axis=1))[0] for center in model.centers_]
    counts = np.repeat(np.arange(3), list(model.columns_per_kernel_.values()))
    penalty = 0.5 * np.sum((model.coef_ * scales[counts * 90 + np.array(at)]) ** 2)
    slack = np.maximum(0, 1 - (2 * LABELS - 1) * model.decision_function(X))
    assert model.objective_ == pytest.approx(penalty + 0.05 * WEIGHTS @ slack, rel=1e-9)


def test_every_class_has_the_optimum_of_column_generation():
    whole = classifier().fit(X, CLASSES)
    generated = classifier(GENERATED).fit(X, CLASSES)
    assert by_dual(whole) == [True] * len(whole.classes_)
    np.testing.assert_allclose(whole.objective_, generated.objective_, rtol=1e-7)
    in_threads = classifier(n_jobs=2).fit(X, CLASSES)
    np.testing.assert_array_equal(whole.coef_, in_threads.coef_)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_regressor_has_the_optimum_of_column_generation(epsilon):
    whole = regressor(epsilon=epsilon).fit(X, VALUES, WEIGHTS)
    generated = regressor(GENERATED, epsilon=epsilon).fit(X, VALUES, WEIGHTS)
    assert by_dual(whole) == [True]
    assert whole.objective_ == pytest.approx(generated.objective_, rel=1e-7)
    np.testing.assert_allclose(whole.predict(X), generated.predict(X), atol=1e-3)


def test_a_row_of_weight_two_equals_the_row_twice():
    twice = np.repeat(np.arange(90), WEIGHTS.astype(int))
    weighted = classifier().fit(X, LABELS, WEIGHTS)
    repeated = classifier().fit(X[twice], LABELS[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_the_optimum_is_dense_and_its_reason_says_so():
    model = classifier(tol=1e-6).fit(X, LABELS)
    assert by_dual(model) == [True]
    assert str(model.stop_reason_).endswith("the optimum is dense.")
    assert model.n_columns_ == 270


OTHERS = {
    "columns": {"max_columns": 200},
    "columns per step": {"solver": GENERATED},
    "tolerance": {"tol": 1e-4},  # 270 columns left out may cost more than a hundredth
    "signs": {"nonnegative": True},
    "intercept": {"intercept": "penalized"},
    "no intercept": {"intercept": "none"},
    "order": {"solver": ColumnGeneration(pricing="stratified")},
    "errors": {"solver": ColumnGeneration(stop_at_errors=True)},
    "memory": {"solver": ColumnGeneration(memory_budget=100_000)},
    "early stopping": {"solver": ColumnGeneration(early_stopping=0.2)},
    "nu": {"nu": 0.4, "C": "auto"},
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_problems_and_sizes_are_left_to_column_generation(case):
    model = classifier(**{"tol": 1e-6, **OTHERS[case]}).fit(X, LABELS)
    assert by_dual(model) == [False]
    assert model.n_columns_ > 0


def test_a_dual_that_is_not_solved_is_left_to_column_generation(monkeypatch):
    from kboost.solvers import gram_dual

    monkeypatch.setattr(gram_dual, "_TOLERANCES", (10.0,))
    monkeypatch.setattr(gram_dual, "_ROUNDS", 0)
    model = classifier().fit(X, LABELS)
    generated = classifier(GENERATED).fit(X, LABELS)
    assert by_dual(model) == [False]
    assert model.objective_ == pytest.approx(generated.objective_, rel=1e-7)


def test_the_trace_has_the_constant_and_the_optimum():
    model = KernelBoostClassifier(LIBRARY, penalty="l2", C=0.05, tol=1e-6, max_iter=1).fit(
        X, LABELS
    )
    assert by_dual(model) == [True]
    assert [step.n_columns for step in model.trace_] == [0, 270]
    assert model.trace_[0].objective > model.trace_[1].objective
    assert model.n_iter_ == 1
    assert model.calibration_.held_out


@pytest.mark.parametrize("seconds", [1e-9, 3600.0])
def test_a_time_limit_leaves_a_model(seconds):
    model = classifier(max_seconds=seconds).fit(X, LABELS)
    assert by_dual(model) == [seconds > 1]
    assert np.isfinite(model.decision_function(X)).all()
