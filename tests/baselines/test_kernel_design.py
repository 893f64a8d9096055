"""Kernels designed by boosting: what a round does, and the SVM on the result."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost.baselines import KernelDesignClassifier
from kboost.boosting.kernel_design import KernelDesign, design, pivoted_cholesky
from kboost.core.deadline import Deadline
from kboost.kernels import Gaussian, Linear, Sigmoid
from tests.checks import checks_of_variants
from tests.contracts.reference import table

NEW = np.random.default_rng(9).normal(size=(15, 3))
BASES = {"linear": Linear(), "Gaussian": Gaussian(0.3)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([KernelDesignClassifier(max_iter=10)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    checks_of_variants(KernelDesignClassifier([Gaussian()], loss="log", max_iter=5)),
)
def test_scikit_learn_check_of_a_variant(estimator, check):
    check(estimator)


def pair_loss(K, y, weight, loss):
    """The mean loss of a pair, written out pair by pair."""
    total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            margin = y[i] * y[j] * K[i, j]
            value = np.exp(-margin) if loss == "exp" else np.log1p(np.exp(-margin))
            total += weight[i] * weight[j] * value
    return total / weight.sum() ** 2


@pytest.mark.parametrize("loss", ["exp", "log"])
@pytest.mark.parametrize("base", BASES)
def test_every_round_lowers_the_loss(base, loss):
    X, y, weight = table(0, n=40)
    found = design(BASES[base](X), y, weight, loss, 10)
    assert (np.diff(found.losses) < 0).all()
    np.testing.assert_allclose(np.abs(found.values).max(axis=0), 1.0)
    assert (found.weights > 0).all()
    for t in (0, 1, len(found.weights)):
        K = (found.values[:, :t] * found.weights[:t]) @ found.values[:, :t].T
        assert found.losses[t] == pytest.approx(pair_loss(K, y, weight, loss))


def test_a_round_takes_the_function_that_agrees_best():
    X, y, weight = table(1, n=30)
    share = weight / weight.sum()
    found = design(Linear()(X), y, weight, "exp", 2)
    margins = found.weights[0] * np.outer(found.values[:, 0], found.values[:, 0]) * np.outer(y, y)
    D = np.outer(share, share) * np.exp(-margins)

    def agreement(h):
        return (y * h) @ D @ (y * h) / (share @ h**2)

    best = agreement(found.values[:, 1])
    rng = np.random.default_rng(0)
    assert all(agreement(X @ v) <= best * (1 + 1e-5) for v in rng.normal(size=(200, 3)))
    h = found.values[:, 1]
    agrees = np.outer(y * h, y * h) > 0
    size = np.abs(np.outer(h, h)) * D / D.sum()
    floor = 1 / (8 * weight.sum())
    right, wrong = size[agrees].sum() + floor, size[~agrees].sum() + floor
    assert found.weights[1] == pytest.approx(np.log(right / wrong) / 2)


@pytest.mark.parametrize("base", BASES)
def test_pieces_are_functions_of_the_base_kernel(base):
    X, y, weight = table(2, n=40)
    kernel = BASES[base]
    found = design(kernel(X), y, weight, "log", 5)
    np.testing.assert_allclose(kernel(X, X[found.centers]) @ found.coef, found.values, atol=1e-5)
    G, pivots, corner = pivoted_cholesky(kernel(X))
    np.testing.assert_allclose(G @ G.T, kernel(X), atol=1e-7)
    np.testing.assert_allclose(G[pivots], corner, atol=1e-12)


@pytest.mark.parametrize("how", ["mean", "trace"])
def test_the_model_is_an_svm_on_the_designed_kernel(how):
    X, y, weight = table(3, n=50)
    C = 5.0 if how == "mean" else 500.0
    model = KernelDesignClassifier(C=C, column_scaling=how, tol=1e-8).fit(X, y, weight)
    base = Linear()(X) / (weight @ Linear().diag(X))
    found = design(base, y, weight, "exp", 30)
    np.testing.assert_allclose(model.estimator_weights_, found.weights, rtol=1e-6)
    K = (found.values * found.weights) @ found.values.T
    unit = 1 / (weight @ np.diag(K)) * (weight.sum() if how == "mean" else 1.0)
    pieces = np.linalg.lstsq(X, found.values, rcond=None)[0]
    peer = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K * unit, y, weight)
    new = (NEW @ pieces * found.weights) @ found.values.T * unit
    np.testing.assert_allclose(model.decision_function(NEW), peer.decision_function(new), atol=1e-3)
    v, S = peer.dual_coef_[0], peer.support_
    value = np.abs(v).sum() - v @ (K * unit)[np.ix_(S, S)] @ v / 2
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert model.n_columns_ == 3  # a linear kernel of three features


def test_precomputed_and_sparse_rows():
    X, y, _ = table(4, n=40)
    model = KernelDesignClassifier([Linear(), Gaussian(0.5)], tol=1e-6).fit(X, y)
    matrices = [np.hstack([k(rows, X) for k in model.kernels_]) for rows in (X, NEW)]
    given = KernelDesignClassifier("precomputed", tol=1e-6).fit(matrices[0], y)
    in_csr = clone_on(model, sparse.csr_matrix(X), y)
    expected = model.decision_function(NEW)
    np.testing.assert_allclose(given.decision_function(matrices[1]), expected, atol=1e-3)
    np.testing.assert_allclose(
        in_csr.decision_function(sparse.csr_matrix(NEW)), expected, atol=1e-3
    )


def clone_on(model, X, y):
    return KernelDesignClassifier(**model.get_params()).fit(X, y)


def test_several_classes_and_reasons():
    X, y, _ = table(5, n=60)
    labels = np.where(X[:, 2] > 0.5, "c", np.where(y > 0, "a", "b"))
    model = KernelDesignClassifier("rbf", max_iter=5).fit(X, labels)
    assert [len(w) for w in model.estimator_weights_] == [5, 5, 5]
    assert all(reason.rule == "max_iter" for reason in model.stop_reason_)
    assert model.score(X, labels) > 0.8
    assert model.n_iter_ == 5
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        hurried = KernelDesignClassifier("rbf", max_seconds=1e-9).fit(X, y)
    assert len(hurried.estimator_weights_) == 0  # the majority class, without a round
    assert len(np.unique(hurried.predict(X))) == 1
    assert hurried.stop_reason_.rule == "max_seconds"
    nothing = KernelDesignClassifier().fit(np.zeros((4, 2)), [0, 1, 1, 1])
    assert "no function" in str(nothing.stop_reason_)
    assert nothing.n_iter_ == 1


def interrupted_at(monkeypatch, rounds):
    advance = KernelDesign.advance

    def stop(self):
        if len(self.trace) == rounds:
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(KernelDesign, "advance", stop)


def test_ctrl_c_keeps_the_rounds_so_far(monkeypatch):
    X, y, _ = table(5, n=40)
    expected = KernelDesignClassifier("rbf", max_iter=2).fit(X, y)
    interrupted_at(monkeypatch, 2)
    model = KernelDesignClassifier("rbf")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    assert model.n_iter_ == len(model.trace_) == 2
    np.testing.assert_array_equal(model.losses_[1:], model.trace_.values("loss"))
    np.testing.assert_array_equal(model.decision_function(NEW), expected.decision_function(NEW))


def test_ctrl_c_before_the_first_round_changes_nothing(monkeypatch):
    X, y, _ = table(5, n=40)
    interrupted_at(monkeypatch, 0)
    model = KernelDesignClassifier("rbf")
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_ctrl_c_while_probabilities_are_calibrated_keeps_the_model(monkeypatch):
    X, y, _ = table(5, n=40)
    expected = KernelDesignClassifier("rbf", max_iter=2).fit(X, y)
    advance, calls = KernelDesign.advance, []

    def stop(self):
        calls.append(self)
        if len(calls) == 4:  # the second round without some of the rows
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(KernelDesign, "advance", stop)
    model = KernelDesignClassifier("rbf", max_iter=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    np.testing.assert_array_equal(model.decision_function(NEW), expected.decision_function(NEW))


def test_threads_change_nothing():
    X, y, _ = table(5, n=60)
    labels = np.where(X[:, 2] > 0.5, "c", np.where(y > 0, "a", "b"))
    one, two = (KernelDesignClassifier("rbf", n_jobs=jobs).fit(X, labels) for jobs in (1, 2))
    np.testing.assert_allclose(one.decision_function(NEW), two.decision_function(NEW), atol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, r"^loss must be 'exp' or 'log'; got loss='hinge'\.$"),
        ({"max_iter": 0}, r"^max_iter must be an integer of at least 1; got max_iter=0\.$"),
        ({"tol": 0.0}, r"^tol must be positive; got tol=0\.0\.$"),
        ({"kernels": [Sigmoid()]}, r"^kernels must be positive semidefinite"),
    ],
)
def test_bad_parameter(options, message):
    X, y, _ = table(0)
    model = KernelDesignClassifier(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_a_kernel_without_a_diagonal_is_refused():
    X, y, _ = table(0)
    away = KernelDesignClassifier([lambda A, B: -((A[:, None] - B[None]) ** 2).sum(axis=2)])
    with pytest.raises(ValueError, match=r"^kernels must be positive semidefinite .*x\) = 0"):
        away.fit(X, y)


def ticking(step):
    moment = [0.0]

    def tick():
        moment[0] += step
        return moment[0]

    return tick


def test_without_the_time_for_a_round_and_the_svm_there_is_none(clock_of):
    X, y, _ = table(2, n=30)
    clock_of("kboost.core.deadline", ticking(1.0))  # a second at every look
    with pytest.warns(ConvergenceWarning, match="max_seconds=6 reached before the first column"):
        model = KernelDesignClassifier(max_seconds=6.0).fit(X, y)
    assert model.n_columns_ == 0
    assert len(set(model.predict(X))) == 1


def test_no_round_begins_that_would_be_late(clock_of):
    X, y, weight = table(2, n=30)
    clock_of("kboost.boosting.kernel_design", ticking(10.0))  # a round takes ten seconds
    found = design(Linear()(X), y, weight, "exp", 30, deadline=Deadline.after(9.0))
    assert found.reason.rule == "max_seconds"
    assert len(found.trace) == 1
