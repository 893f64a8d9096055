"""Multiple kernel learning: one optimum by every method, and a certificate that holds."""

import pickle
from dataclasses import replace

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost.baselines import MKLClassifier
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kboost.mkl.hessian import HessianSearch, newton_step
from kboost.mkl.learn import METHODS
from kboost.mkl.level import least_norm
from kboost.mkl.svm import MixtureSVM
from kboost.settings import LpNorm
from kboost.solvers.libsvm import solve_dual
from tests.checks import checks_of_variants
from tests.contracts.reference import table

LIBRARY = [Linear(), Polynomial(2, gamma=0.5), Gaussian(0.1), Gaussian(1.0), Laplacian(0.5)]
NEW = np.random.default_rng(9).normal(size=(15, 3))
SEVERAL = make_classification(
    90, 4, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)


def unit(K, weight):
    return K / (weight @ np.diag(K) / weight.sum())


def conic(matrices, y, caps, p):
    """Clarabel: maximise sum u - t/2, |S|_q <= t, S_j >= |L_j'v|^2, for p of 1 or 2."""
    n, P = len(y), len(matrices)
    size = n + P + 1  # u, S, t
    rows, right, cones = [y @ np.eye(n, size)], [0.0], [clarabel.ZeroConeT(1)]
    for sign, edge in ((-1.0, np.zeros(n)), (1.0, caps)):
        rows += list(sign * np.eye(n, size))
        right += edge.tolist()
    cones.append(clarabel.NonnegativeConeT(2 * n))
    for j, K in enumerate(matrices):
        values, vectors = np.linalg.eigh(K)
        root = (vectors * np.sqrt(np.maximum(values, 0))).T  # K = root'root
        S = np.eye(1, size, n + j)[0]
        block = np.vstack([-S / 2, -S / 2, -(root * y) @ np.eye(n, size)])
        rows += list(block)
        right += [0.5, -0.5, *np.zeros(n)]
        cones.append(clarabel.SecondOrderConeT(n + 2))
    t = np.eye(1, size, n + P)[0]
    powers = np.eye(size)[n : n + P]
    if p == 1:
        rows += list(powers - t)
        right += [0.0] * P
        cones.append(clarabel.NonnegativeConeT(P))
    else:
        rows += [-t, *(-powers)]
        right += [0.0] * (P + 1)
        cones.append(clarabel.SecondOrderConeT(P + 1))
    cost = np.concatenate([-np.ones(n), np.zeros(P), [0.5]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    zero = sparse.csc_matrix((size, size))
    A = sparse.csc_matrix(np.array(rows))
    found = clarabel.DefaultSolver(zero, cost, A, np.array(right), cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved"), found.status
    return -found.obj_val


def dual_value(K, y, caps):
    """The value of the dual of an SVM, by scikit-learn."""
    peer = SVC(kernel="precomputed", C=1.0, tol=1e-9).fit(K, y, caps)
    v = peer.dual_coef_[0]
    S = peer.support_
    return np.abs(v).sum() - v @ K[np.ix_(S, S)] @ v / 2


@pytest.fixture(scope="module")
def problem():
    X, y, weight = table(5, n=60)
    matrices = [unit(kernel(X), weight) for kernel in LIBRARY]
    return X, y, weight, matrices, {p: conic(matrices, y, 4.0 * weight, p) for p in (1, 2)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([MKLClassifier()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"), checks_of_variants(MKLClassifier([Gaussian()], method=LpNorm(1.5)))
)
def test_scikit_learn_check_of_a_variant(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", [*METHODS, "lp"])
def test_every_method_finds_the_optimum_of_the_conic_program(problem, method):
    X, y, weight, matrices, optimum = problem
    model = MKLClassifier(LIBRARY, method=method, C=4.0, tol=1e-5).fit(X, y, weight)
    p = 2 if method == "lp" else 1
    assert model.objective_ == pytest.approx(optimum[p], rel=2e-5)
    assert model.dual_gap_ <= 1e-5
    theta = model.kernel_weights_
    assert (theta >= 0).all()
    assert np.linalg.norm(theta, p) == pytest.approx(1.0)
    K = sum(w * K for w, K in zip(theta, matrices, strict=True))
    assert model.objective_ == pytest.approx(dual_value(K, y, 4.0 * weight), rel=2e-6)


@pytest.mark.parametrize("method", [*METHODS, "lp"])
@pytest.mark.parametrize("max_iter", [1, 3])
def test_the_gap_is_proven_wherever_it_stops(problem, method, max_iter):
    X, y, weight, _, optimum = problem
    model = MKLClassifier(LIBRARY, method=method, C=4.0, tol=1e-9, max_iter=max_iter)
    model.fit(X, y, weight)
    best = optimum[2 if method == "lp" else 1]
    assert best * (1 - 1e-7) <= model.objective_
    assert model.objective_ - best <= (model.dual_gap_ + 1e-7) * model.objective_
    assert model.stop_reason_.rule == "max_iter" or model.dual_gap_ <= 1e-9
    assert 1 <= model.n_iter_ <= max_iter


@pytest.mark.parametrize("C", [1e5, 1e8])
@pytest.mark.parametrize("method", [*METHODS, "lp"])
def test_where_errors_cost_all_the_optimum_is_found_and_proven(problem, method, C):
    X, y, weight, matrices, _ = problem
    model = MKLClassifier(LIBRARY, method=method, C=C, tol=1e-5).fit(X, y, weight)
    optimum = conic(matrices, y, 1e4 * weight, 2 if method == "lp" else 1)
    assert optimum < 1e3  # no error is made
    assert model.objective_ == pytest.approx(optimum, rel=2e-5)
    assert model.dual_gap_ <= 1e-5


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_a_wall_that_is_very_steep_does_not_hold_up_reduced_gradients(C):
    X, y = make_classification(70, 5, flip_y=0.1, random_state=3)
    kernels = [*(Gaussian(g) for g in (0.001, 0.03, 0.3, 3.0)), *map(Polynomial, (1, 2, 3))]
    simple, hessian = (
        MKLClassifier(kernels, method=method, C=C, tol=1e-5).fit(X, y)
        for method in ("simple", "hessian")
    )
    assert simple.dual_gap_ <= 1e-5
    assert simple.objective_ == pytest.approx(hessian.objective_, rel=1e-5)
    assert simple.n_iter_ <= 20


def test_reduced_gradients_go_on_past_a_wall_that_is_very_near():
    """J falls by less than the accuracy of the SVMs there, which must not end the search."""
    X, y = make_classification(80, 6, n_informative=4, flip_y=0.15, random_state=28)
    kernels = [*(Gaussian(1 / (2 * 4.0**e)) for e in range(-6, 8)), *map(Polynomial, (1, 2, 3))]
    model = MKLClassifier(kernels, method="simple", C=50.0, tol=1e-4).fit(X, y)
    assert model.dual_gap_ <= 1e-4


@pytest.mark.parametrize("p", [1.0, 1.2, 3.0, 8.0])
def test_any_norm(problem, p):
    X, y, weight, matrices, _ = problem
    model = MKLClassifier(LIBRARY, method=LpNorm(p), C=4.0, tol=1e-4).fit(X, y, weight)
    theta = model.kernel_weights_
    assert np.linalg.norm(theta, p) == pytest.approx(1.0)
    assert model.dual_gap_ <= 1e-4

    def lower(other):
        theta = np.abs(other) / np.linalg.norm(other, p)
        K = sum(w * K for w, K in zip(theta, matrices, strict=True))
        return dual_value(K, y, 4.0 * weight)

    found = minimize(lower, theta, method="Nelder-Mead", options={"maxfev": 60})
    assert model.objective_ <= found.fun * (1 + 2e-4)


def test_a_norm_below_1_is_refused():
    with pytest.raises(ValueError, match=r"^p must be at least 1; got p=0\.5\.$"):
        LpNorm(0.5)


@pytest.mark.parametrize("seed", [0, 2])
def test_seventeen_kernels_on_several_scales_agree(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=120) > 0).astype(int)
    paper = [Gaussian(0.5 * 4.0**-k) for k in range(-6, 8)] + [Polynomial(d) for d in (1, 2, 3)]
    ways = [{"method": method} for method in METHODS] + [{"method": LpNorm(1.0)}]
    models = [MKLClassifier(paper, C=50.0, tol=1e-5, **way).fit(X, y) for way in ways]
    found = [model.objective_ for model in models]
    np.testing.assert_allclose(found, min(found), rtol=1e-4)
    assert all(model.dual_gap_ <= 1e-5 for model in models)


def test_decisions_are_those_of_the_svm_on_the_mixture(problem):
    X, y, weight, matrices, _ = problem
    model = MKLClassifier(LIBRARY, C=4.0, tol=1e-6).fit(X, y, weight)
    scales = [(weight @ kernel.diag(X)) / weight.sum() for kernel in LIBRARY]
    theta = model.kernel_weights_
    K = sum(w * K for w, K in zip(theta, matrices, strict=True))
    peer = SVC(kernel="precomputed", C=4.0, tol=1e-8).fit(K, y, weight)
    new = sum(w / s * k(NEW, X) for w, s, k in zip(theta, scales, LIBRARY, strict=True))
    np.testing.assert_allclose(model.decision_function(NEW), peer.decision_function(new), atol=1e-3)
    np.testing.assert_array_equal(model.predict(NEW), peer.predict(new))
    assert model.n_columns_ == np.count_nonzero(theta) * len(model.dual_coef_)
    assert len(model.centers_) == len(model.dual_coef_)


@pytest.mark.parametrize("how", ["mean", "trace"])
def test_kernels_are_in_a_unit(how):
    X, y, weight = table(1, n=30)
    model = MKLClassifier(LIBRARY, column_scaling=how).fit(X, y, weight)
    for kernel in model.kernels_:
        trace = weight @ kernel.diag(X)
        assert trace / (weight.sum() if how == "mean" else 1.0) == pytest.approx(1.0)


@pytest.mark.parametrize("how", ["ovo", "ovr"])
def test_several_classes_with_one_kernel_are_those_of_svc(how):
    X, y = SEVERAL
    model = MKLClassifier([Gaussian(0.3)], multi_class=how, tol=1e-6).fit(X, y)
    peer = SVC(gamma=0.3, tol=1e-8)
    peer = (peer if how == "ovo" else OneVsRestClassifier(peer)).fit(X, y)
    new = np.random.default_rng(0).normal(size=(40, 4))
    np.testing.assert_array_equal(model.predict(new), peer.predict(new))
    assert model.decision_function(new).shape == (40, 3)
    assert model.kernel_weights_.shape == (3, 1)
    assert model.dual_gap_.shape == model.objective_.shape == (3,)
    assert len(model.trace_) == len(model.stop_reason_) == 3


def test_threads_change_nothing():
    X, y = SEVERAL
    one, two = (MKLClassifier(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_allclose(one.kernel_weights_, two.kernel_weights_, atol=1e-8)


def test_precomputed_sparse_and_dense_agree():
    X, y, _ = table(3, n=50)
    model = MKLClassifier(LIBRARY, tol=1e-6).fit(X, y)
    sparse_rows = MKLClassifier(LIBRARY, tol=1e-6).fit(sparse.csr_matrix(X), y)
    given = MKLClassifier("precomputed", tol=1e-6)
    given.fit(np.hstack([kernel(X) for kernel in LIBRARY]), y)
    side_by_side = np.hstack([kernel(NEW, X) for kernel in LIBRARY])
    expected = model.decision_function(NEW)
    np.testing.assert_allclose(given.decision_function(side_by_side), expected, atol=1e-3)
    np.testing.assert_allclose(
        sparse_rows.decision_function(sparse.csr_matrix(NEW)), expected, atol=1e-3
    )
    np.testing.assert_allclose(given.kernel_weights_, model.kernel_weights_, atol=1e-3)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_groups_of_named_features(library):
    frames = pytest.importorskip(library)
    X, y, _ = table(4, n=60)
    frame = frames.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    kernels = [Gaussian(columns=["a", "b"]), Gaussian(columns=["c"]), Linear(columns=["a"])]
    model = MKLClassifier(kernels, C=2.0).fit(frame, y)
    numbers = [Gaussian(columns=[0, 1]), Gaussian(columns=[2]), Linear(columns=[0])]
    plain = MKLClassifier(numbers, C=2.0).fit(X, y)
    np.testing.assert_allclose(model.kernel_weights_, plain.kernel_weights_)
    assert model.kernel_weights_[1] < 0.2  # c says nothing
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))


def test_class_weight_is_a_factor_on_the_weights():
    X, y, weight = table(6, n=50)
    one = MKLClassifier(class_weight={1.0: 3.0}).fit(X, y, weight)
    other = MKLClassifier().fit(X, y, weight * np.where(y == 1.0, 3.0, 1.0))
    np.testing.assert_allclose(one.decision_function(NEW), other.decision_function(NEW))


def test_in_a_pipeline_in_a_search_and_pickled():
    X, y, _ = table(7, n=60)
    pipe = make_pipeline(StandardScaler(), MKLClassifier([Linear(), Gaussian()]))
    grid = {"mklclassifier__method": ["silp", LpNorm(1.5)], "mklclassifier__C": [0.1, 10.0]}
    search = GridSearchCV(clone(pipe), grid, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(NEW), search.predict(NEW))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sdp"}, r"^method must be 'simple' or 'silp' or .*; got method='sdp'\.$"),
        ({"column_scaling": None}, r"^column_scaling must be 'mean' or 'trace'; got "),
        ({"multi_class": "all"}, r"^multi_class must be 'ovo' or 'ovr'; got "),
        ({"C": 0}, r"^C must be positive; got C=0\.$"),
        ({"tol": -1}, r"^tol must be zero or positive; got tol=-1\.$"),
        ({"memory_budget": 1000}, r"^memory_budget must be at least 294912 bytes for 5 kernel "),
        ({"kernels": [Sigmoid()]}, r"^kernels must be positive semidefinite"),
    ],
)
def test_bad_parameter(options, message):
    X, y, _ = table(0, n=64)
    model = MKLClassifier(LIBRARY).fit(X, y).set_params(**options)
    before = {k: v for k, v in vars(model).items() if k.endswith("_")}
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert {k: v for k, v in vars(model).items() if k.endswith("_")} == before


@pytest.mark.parametrize("n_svms", [0, 2])
def test_interrupted(monkeypatch, n_svms):
    X, y, _ = table(1, n=40)
    model = MKLClassifier(LIBRARY, method="silp", tol=1e-8)
    at = MixtureSVM.at

    def stop(self, theta):
        if self.n_solved == n_svms:
            raise KeyboardInterrupt
        return at(self, theta)

    monkeypatch.setattr(MixtureSVM, "at", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    if n_svms:
        assert model.stop_reason_.rule == "interrupted"
        assert model.predict(NEW).shape == (15,)
    else:
        assert not hasattr(model, "classes_")


def test_every_end_has_a_reason():
    X, y, _ = table(2, n=50)
    assert MKLClassifier().fit(X, y).stop_reason_.rule == "gap"
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        assert MKLClassifier(max_iter=1, tol=0.0).fit(X, y).n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        ended = MKLClassifier(max_seconds=1e-9, tol=0.0).fit(X, y)
    assert ended.stop_reason_.rule == "max_seconds"
    for method in METHODS:
        ended = MKLClassifier(method=method, tol=0.0, max_iter=200).fit(X, y)
        assert ended.dual_gap_ < 1e-6
        assert ended.stop_reason_.rule in ("stalled", "max_iter")


def test_a_kernel_of_zeros_and_equal_kernels_do_no_harm():
    X, y, _ = table(3, n=40)
    twice = [Gaussian(0.5), Gaussian(0.5 + 1e-12), Linear(columns=[3])]
    rows = np.column_stack([X, np.zeros(40)])
    for method in [*METHODS, "lp"]:
        model = MKLClassifier(twice, method=method, tol=1e-4).fit(rows, y)
        assert model.dual_gap_ <= 1e-4


# The parts ----------------------------------------------------------------------------------------


@pytest.fixture
def svm(problem):
    _, y, weight, matrices, _ = problem
    return MixtureSVM(np.array(matrices), y, 4.0 * weight, tol=1e-8)


def test_gradient_and_hessian_by_differences(svm):
    theta = np.array([0.3, 0.1, 0.2, 0.25, 0.15])
    point = svm.at(theta)
    root = HessianSearch(svm).hessian_root(point)
    for j, way in enumerate(np.eye(5)):
        up, down = svm.at(theta + 1e-4 * way), svm.at(theta - 1e-4 * way)
        assert (up.value - down.value) / 2e-4 == pytest.approx(point.gradient[j], rel=1e-4)
        bend = (up.gradient - down.gradient) / 2e-4
        np.testing.assert_allclose(bend, root.T @ root[:, j], rtol=1e-4, atol=1e-4 * bend[j])


def test_rows_at_their_caps_but_for_rounding_are_not_free(svm):
    point = svm.at(np.full(5, 0.2))
    root = HessianSearch(svm).hessian_root(point)
    lower = replace(point, duals=point.duals * (1 - 1e-12))
    assert len(HessianSearch(svm).hessian_root(lower)) == len(root) < np.count_nonzero(point.duals)


def test_the_newton_step_is_the_least_of_the_model(svm):
    point = svm.at(np.full(5, 0.2))
    root = HessianSearch(svm).hessian_root(point)
    step = newton_step(point, root)

    def model(theta):
        away = theta - point.theta
        return away @ point.gradient + ((root @ away) ** 2).sum() / 2

    assert step.sum() == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    for other in [*np.eye(5), *rng.dirichlet(np.ones(5), 50), *(0.99 * step + 0.01 * np.eye(5))]:
        assert model(step) <= model(other) + 1e-6 * abs(model(step))


def test_the_least_distance_to_half_spaces():
    rng = np.random.default_rng(0)
    for _ in range(20):
        sides, inside = rng.normal(size=(8, 3)), rng.normal(size=3)
        least = sides @ inside - rng.uniform(0, 1, size=8)
        z = least_norm(sides, least)
        assert (sides @ z >= least - 1e-9).all()
        peer = minimize(
            lambda x: x @ x,
            inside,
            constraints=[{"type": "ineq", "fun": lambda x, s=sides, q=least: s @ x - q}],
        )
        assert z @ z <= peer.fun + 1e-6
    assert least_norm(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None


def test_an_svm_that_does_not_converge_is_not_solved_again(monkeypatch):
    X, y, weight = table(5, n=60)
    asked = []

    def solved(K, signs, caps, tol, *limits):
        asked.append(tol)
        duals, bias, _ = solve_dual(K, signs, caps, 0.5)
        return duals, bias, 100

    monkeypatch.setattr("kboost.mkl.svm.MOST_STEPS", 100)
    monkeypatch.setattr("kboost.mkl.svm.solve_dual", solved)
    monkeypatch.setattr("kboost.mkl.svm.from_guess", lambda *_: None)
    model = MKLClassifier(LIBRARY, tol=1e-5, max_iter=1).fit(X, y, weight)
    assert len(asked) == model.n_svms_
    assert model.dual_gap_ > 1e-5
