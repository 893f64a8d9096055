"""KernelBoostClassifier: the optimum, the model, the invariances."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial
from kboost.settings import ColumnGeneration
from tests.estimators.boost import boost

LIBRARY = [Linear(), Polynomial(2), Gaussian()]


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.25, random_state=3)


def full_lp(columns, y, cap, *, nonnegative, intercept):
    """Optimum over all columns: variables coef+, coef-, bias+, bias-, slack."""
    n, m = columns.shape
    signed = y[:, None] * columns
    sides = [signed] if nonnegative else [signed, -signed]
    price = {"free": 0.0, "penalized": 1.0, "none": None}[intercept]
    parts, cost = list(sides), [np.ones(m)] * len(sides)
    if price is not None:
        parts += [y[:, None], -y[:, None]]
        cost.append(np.full(2, price))
    matrix = np.hstack([*parts, np.eye(n)])
    found = linprog(np.concatenate([*cost, cap]), A_ub=-matrix, b_ub=-np.ones(n), method="highs")
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize(
    ("column_scaling", "C"),
    [(None, 0.1), (None, 10.0), ("floored", 0.1), ("floored", 10.0), ("unit", 1.0)],
)
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_optimum_equals_the_full_lp(moons, column_scaling, intercept, nonnegative, C):
    X, y = moons
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = boost(
        LIBRARY,
        C=C,
        column_scaling=column_scaling,
        intercept=intercept,
        nonnegative=nonnegative,
        tol=1e-9,
    ).fit(X, y, sample_weight=weight)
    columns = np.hstack([k(X, X) for k in model.kernels_])
    if column_scaling is not None:
        rms = np.sqrt(weight @ columns**2 / weight.sum())
        floor = 0.3 if column_scaling == "floored" else 0.0
        columns = columns / np.maximum(rms, floor * np.abs(columns).max(axis=0))
    optimum = full_lp(
        columns, 2.0 * y - 1, C * weight, nonnegative=nonnegative, intercept=intercept
    )
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    assert 0 <= model.dual_gap_ <= 1e-7
    if nonnegative:
        assert (model.dual_coef_ >= 0).all()
    if intercept == "none":
        assert model.intercept_ == 0.0


def test_decision_is_the_sum_over_the_reported_columns(moons):
    X, y = moons
    model = boost(LIBRARY).fit(X, y)
    counts = list(model.columns_per_kernel_.values())
    assert sum(counts) == model.n_columns_ == len(model.dual_coef_) == len(model.centers_)
    owner = np.repeat(np.arange(3), counts)
    new = np.random.default_rng(1).normal(size=(50, 2))
    values = np.full(50, model.intercept_)
    for j, coef in enumerate(model.dual_coef_):
        values += coef * model.kernels_[owner[j]](new, model.centers_[[j]])[:, 0]
    np.testing.assert_allclose(model.decision_function(new), values, rtol=1e-9, atol=1e-9)


def test_objective_falls_and_bound_rises_along_the_trace(moons):
    X, y = moons
    trace = boost(LIBRARY, tol=1e-8, solver=ColumnGeneration(columns_per_step=1)).fit(X, y).trace_
    objective, bound = trace.values("objective"), trace.values("bound")
    assert len(trace) > 5
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert (np.diff(bound) >= 0).all()
    assert (bound <= objective[-1] * (1 + 1e-9)).all()


def same_model(a, b, X):
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"solver": ColumnGeneration(early_stopping=0.3)}])
def test_a_row_given_twice_equals_weight_two_and_order_does_not_matter(options):
    X, y = make_classification(60, 4, random_state=0)
    rng = np.random.default_rng(0)
    count = rng.integers(0, 3, len(y))
    model = boost(class_weight="balanced", **options)
    weighted = clone(model).fit(X, y, sample_weight=count.astype(float))
    repeated = np.repeat(np.arange(len(y)), count)
    shuffled = rng.permutation(repeated)
    same_model(weighted, clone(model).fit(X[repeated], y[repeated]), X)
    same_model(weighted, clone(model).fit(X[shuffled], y[shuffled]), X)


def test_relabelling_the_classes_turns_the_sign(moons):
    X, y = moons
    model = boost(LIBRARY, tol=1e-9)
    one, two = clone(model).fit(X, y), clone(model).fit(X, np.where(y == 1, "a", "b"))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-9)
    names = np.array(["b", "a"])
    assert (names[one.predict(X)] == two.predict(X)).mean() > 0.97


def test_c_counts_a_row(moons):
    X, y = moons
    one = boost(LIBRARY, C=3.0, tol=1e-9).fit(X, y)
    two = boost(LIBRARY, tol=1e-9).fit(X, y, np.full(len(y), 3.0))
    same_model(one, two, X)


def test_multi_class_is_one_against_the_rest_on_shared_columns():
    X, y = load_iris(return_X_y=True)
    model = boost(LIBRARY, tol=1e-8).fit(X, y)
    assert model.dual_coef_.shape == (3, model.n_columns_)
    assert model.objective_.shape == model.dual_gap_.shape == model.intercept_.shape == (3,)
    assert len(model.trace_) == len(model.stop_reason_) == 3
    scores = model.decision_function(X)
    for k in range(3):
        single = boost(LIBRARY, tol=1e-8).fit(X, y == k)
        assert single.objective_ == pytest.approx(model.objective_[k], rel=1e-7)
        np.testing.assert_allclose(single.decision_function(X), scores[:, k], atol=1e-6)
    assert model.score(X, y) > 0.95


def test_threads_over_classes_change_nothing():
    X, y = load_iris(return_X_y=True)
    one = boost(LIBRARY).fit(X, y)
    two = boost(LIBRARY, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("kernels", [LIBRARY, "auto", [Laplacian()]])
def test_csr_equals_dense(kernels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.5)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    model = boost(kernels, tol=1e-8)
    csr = clone(model).fit(sparse.csr_array(X), y)
    assert csr.score(sparse.csr_array(X), y) == csr.score(X, y) > 0.8
    if kernels != "auto":  # the default library for CSR differs: it does not centre
        dense = clone(model).fit(X, y)
        assert csr.objective_ == pytest.approx(dense.objective_, rel=1e-6)


def test_precomputed_equals_the_kernels_themselves(moons):
    X, y = moons
    direct = boost(LIBRARY, tol=1e-9).fit(X, y)
    matrices = [k(X, X) for k in direct.kernels_]
    model = boost("precomputed", tol=1e-9).fit(np.hstack(matrices), y)
    assert model.objective_ == pytest.approx(direct.objective_, rel=1e-8)
    new = np.random.default_rng(0).normal(size=(20, 2))
    stacked = np.hstack([k(new, X) for k in direct.kernels_])
    np.testing.assert_allclose(
        model.decision_function(stacked), direct.decision_function(new), atol=1e-6
    )


def test_feature_groups_by_name_in_pandas_and_polars():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = load_breast_cancer()
    names = [str(n) for n in data.feature_names]
    kernels = [Linear(columns=names[:3]), Gaussian(columns=["mean area"], on="standard")]
    plain = boost([Linear(columns=[0, 1, 2]), Gaussian(columns=[3], on="standard")]).fit(
        data.data, data.target
    )
    for frame in (
        pandas.DataFrame(data.data, columns=names),
        polars.DataFrame({n: data.data[:, i] for i, n in enumerate(names)}),
    ):
        model = boost(kernels).fit(frame, data.target)
        assert list(model.feature_names_in_) == names
        np.testing.assert_allclose(
            model.decision_function(frame), plain.decision_function(data.data), atol=1e-9
        )


def test_pipeline_grid_search_clone_and_pickle(moons):
    X, y = moons
    pipeline = make_pipeline(StandardScaler(), boost(LIBRARY))
    grid = GridSearchCV(pipeline, {"kernelboostclassifier__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.75
    model = grid.best_estimator_[-1]
    again = pickle.loads(pickle.dumps(model))
    Z = grid.best_estimator_[0].transform(X)
    np.testing.assert_array_equal(again.decision_function(Z), model.decision_function(Z))
    assert clone(model).get_params() == model.get_params()


def test_precomputed_kernel_is_sliced_by_cross_validation(moons):
    X, y = moons
    scores = cross_val_score(boost("precomputed"), Gaussian(1.0)(X, X), y, cv=3)
    assert scores.mean() > 0.75


def test_sample_weight_is_routed_as_metadata(moons):
    import sklearn

    X, y = moons
    weight = np.where(y == 1, 5.0, 0.1)
    with sklearn.config_context(enable_metadata_routing=True):
        model = boost(LIBRARY).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, y, sample_weight=weight)
    plain = boost(LIBRARY).fit(StandardScaler().fit_transform(X), y, weight)
    np.testing.assert_allclose(
        pipeline.decision_function(X),
        plain.decision_function(StandardScaler().fit_transform(X)),
        atol=1e-9,
    )


def test_balanced_classes_weigh_the_same():
    X, y = make_classification(120, 4, weights=[0.85], flip_y=0.2, random_state=1)
    plain = boost([Linear()], C=0.05).fit(X, y)
    balanced = boost([Linear()], C=0.05, class_weight="balanced").fit(X, y)
    factor = len(y) / (2 * np.bincount(y))
    explicit = boost([Linear()], C=0.05, class_weight={0: factor[0], 1: factor[1]}).fit(X, y)
    np.testing.assert_allclose(balanced.decision_function(X), explicit.decision_function(X))
    assert balanced.predict(X)[y == 1].mean() > plain.predict(X)[y == 1].mean()


def test_memory_budget_changes_blocks_not_results(moons):
    X, y = moons
    wide = boost(tol=1e-8).fit(X, y)
    tight = boost(tol=1e-8, solver=ColumnGeneration(memory_budget=20_000)).fit(X, y)
    assert tight.objective_ == pytest.approx(wide.objective_, rel=1e-7)


def test_kernels_that_only_repeat_others_do_not_count():
    X, y = make_moons(40, random_state=0)
    model = boost(["linear", Linear(), "linear"]).fit(X, y)
    assert len(model.kernels_) == 1
