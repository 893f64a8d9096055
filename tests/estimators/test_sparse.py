"""Sparse kernel machines as estimators."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.data.indexed_rows import indexed_rows
from kboost.kernels import Gaussian
from kboost.plans import basis, series
from kboost.settings import ALD, RAN, EarlyStopping, Full, Joint, One, Series
from kboost.streaming.recursive_least_squares import RecursiveLeastSquares

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(200, 3))
Y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * RNG.normal(size=200)
KERNEL = [Gaussian(0.5)]
WAYS = [
    *({"selection": s, "update": "full"} for s in ("random", "mp", "max-res", "boost")),
    {"selection": ALD(0.05), "update": "full"},
    {"selection": RAN(1e-3), "update": "full"},
    {"selection": "mp", "update": One(shrinkage=0.5)},
    {"selection": "max-res", "update": Full(5, n_init_rows=30)},
    {"selection": "mp", "update": One(5, combination="mp")},
    {"selection": "max-res", "update": Full(5, series=3)},
    {"selection": "random", "update": "joint"},
    {"selection": "max-res", "update": Joint()},
    {"selection": "mp", "update": Joint(10)},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("kernels", [KERNEL, [Gaussian(0.5), Gaussian(0.1, columns=[0, 1])]])
def test_every_way_learns_and_repetition_is_weight(way, kernels):
    model = SparseKernelRegressor(kernels, ridge=0.01, max_columns=60, **way)
    weight = np.where(np.arange(200) % 3 == 0, 2.0, 1.0)
    twice = RNG.permutation(np.concatenate([np.arange(200), np.flatnonzero(weight == 2)]))
    model.fit(X, Y, sample_weight=weight)
    values, score = model.predict(X), model.score(X, Y)
    few_learners = isinstance(way["update"], One | Full)
    assert score > (0.4 if few_learners else 0.8)
    assert model.n_columns_ <= 60
    assert model.stop_reason_
    np.testing.assert_allclose(model.fit(X[twice], Y[twice]).predict(X), values, atol=1e-8)


def test_all_rows_as_basis_give_kernel_ridge():
    model = SparseKernelRegressor(
        KERNEL, ridge=0.1, intercept="none", selection="random", max_columns=200
    ).fit(X, Y)
    peer = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-3)


def test_targets_share_the_basis():
    both = SparseKernelRegressor(KERNEL, ridge=0.01, max_columns=50).fit(
        X, np.column_stack([Y, -Y])
    )
    assert both.predict(X).shape == (200, 2)
    assert both.dual_coef_.shape == (2, 50)
    assert both.score(X, np.column_stack([Y, -Y])) > 0.8
    np.testing.assert_allclose(
        both.dual_coef_[0], -both.dual_coef_[1], atol=1e-6 * np.abs(both.dual_coef_).max()
    )


@pytest.mark.parametrize("loss", ["squared", "log", "hinge"])
@pytest.mark.parametrize(
    "way",
    [
        {},
        {"update": "full", "selection": "mp"},
        {"update": Full(5)},
        {"update": One(5)},
        {"update": Full(5, series=4)},
    ],
    ids=str,
)
def test_every_loss_classifies(loss, way):
    points, labels = make_moons(200, noise=0.15, random_state=0)
    words = np.array(["left", "right"])[labels]
    model = SparseKernelClassifier([Gaussian(2.0)], loss=loss, ridge=0.01, max_columns=60, **way)
    assert model.fit(points, words).score(points, words) > 0.94
    assert model.classes_.tolist() == ["left", "right"]
    chances = model.predict_proba(points)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(points))
    assert hasattr(model, "calibration_") == (loss != "log")


@pytest.mark.parametrize("loss", ["squared", "log", "hinge"])
def test_classes_share_the_basis(loss):
    digits, labels = load_digits(n_class=5, return_X_y=True)
    model = SparseKernelClassifier(["rbf"], loss=loss, ridge=0.01, max_columns=80)
    model.fit(digits[:400], labels[:400])
    assert model.decision_function(digits[:7]).shape == (7, 5)
    assert model.dual_coef_.shape == (5, 80)
    assert model.score(digits[400:], labels[400:]) > 0.94
    chances = model.predict_proba(digits)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(digits))


@pytest.mark.parametrize("kernels", ["auto", "ard", ["rbf", "laplacian"], Gaussian("median")])
def test_kernels_and_ridge_are_found(kernels):
    model = SparseKernelRegressor(kernels, max_columns=80).fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert 1e-6 <= model.ridge_ <= 10
    assert model.kernels_


def test_precomputed_kernels_are_the_same_kernels():
    options = {"ridge": 0.01, "max_columns": 80}
    plain = SparseKernelRegressor(KERNEL, selection="random", **options).fit(X, Y)
    matrix = SparseKernelRegressor("precomputed", selection="random", **options)
    matrix.fit(KERNEL[0](X), Y)
    assert matrix.score(KERNEL[0](X), Y) > 0.8
    assert plain.score(X, Y) > 0.8
    assert matrix.centers_.shape == (80, 1)


@pytest.mark.parametrize("update", ["joint", "full", "one"])
@pytest.mark.parametrize("ridge", [1e-2, 1e-4, 1e-8])
def test_a_rounded_matrix_keeps_its_penalty(ridge, update):
    """Rounding leaves negative eigenvalues, which a penalty must not be paid by."""
    rows, y = X[:, :2], Y
    K = Gaussian(0.01)(rows)
    single = K.astype(np.float32)
    model = SparseKernelRegressor("precomputed", ridge=ridge, max_columns=80, update=update)
    for matrix in (single.astype(np.float64), single):  # told by its eigenvalues, or by its type
        model.fit(matrix, y)
        at = model.centers_[:, 0].astype(int)
        away = y - model.predict(matrix)
        lost = 0.5 * away @ away
        assert model.dual_coef_ @ K[np.ix_(at, at)] @ model.dual_coef_ > 0.0
        assert model.objective_ >= lost * (1 - 1e-9)
        assert model.objective_ >= lost + 0.5 * ridge * (
            model.dual_coef_ @ single[np.ix_(at, at)].astype(float) @ model.dual_coef_
        ) * (1 - 1e-6)
    exact = 0.5 * np.sum((y - model.intercept_ - K[:, at] @ model.dual_coef_) ** 2)
    exact += 0.5 * ridge * model.dual_coef_ @ K[np.ix_(at, at)] @ model.dual_coef_
    best = model.fit(K, y).objective_
    assert exact <= best * (1.1 if ridge >= 1e-4 else 2.5)


def test_an_exact_matrix_is_taken_as_it_is():
    """The objective is that of the matrix, up to rounding, not of one with a nugget."""
    K = KERNEL[0](X)
    model = SparseKernelRegressor("precomputed", ridge=1e-6, max_columns=60).fit(K, Y)
    at = model.centers_[:, 0].astype(int)
    norm = model.dual_coef_ @ K[np.ix_(at, at)] @ model.dual_coef_
    objective = 0.5 * np.sum((Y - model.predict(K)) ** 2) + 0.5e-6 * norm
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


def _no_kernel(A, B):
    return np.tanh(A @ B.T - 1.0)


@pytest.mark.parametrize("ridge", [0.1, "auto"])
@pytest.mark.parametrize(
    "learn",
    [
        lambda model: model.fit(X, Y),
        lambda model: model.partial_fit(X, Y),
        lambda model: model.set_params(cells=100).fit(X, Y),
        lambda model: model.set_params(update="full", max_columns=20).fit(X, Y),
    ],
)
def test_functions_that_are_no_kernels_are_refused(learn, ridge):
    model = SparseKernelRegressor(_no_kernel, ridge=ridge)
    message = r"^kernels must be positive semidefinite for a penalty in their RKHS; got .* from -"
    with pytest.raises(ValueError, match=message):
        learn(model)
    with pytest.raises(ValueError, match=r"^kernels must be symmetric; got .* at training rows"):
        learn(SparseKernelRegressor(lambda A, B: A @ B.T + A[:, :1], ridge=ridge))


def test_a_penalty_needs_its_offset():
    """Semidefinite among coefficients that sum to 0 is not enough here."""
    apart = ((X[:, None] - X) ** 2).sum(axis=2)
    with pytest.raises(ValueError, match=r"^kernels must be positive semidefinite"):
        SparseKernelRegressor("precomputed", ridge=0.1).fit(-apart, Y)


def test_sparse_rows_are_the_same_rows():
    model = SparseKernelRegressor(KERNEL, ridge=0.01, max_columns=200)
    dense = model.fit(X, Y).predict(X)
    np.testing.assert_allclose(model.fit(sparse.csr_matrix(X), Y).predict(X), dense, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_memory_map_is_the_same_rows(tmp_path, dtype):
    rows = X.astype(dtype)
    path = tmp_path / "rows.bin"
    rows.tofile(path)
    mapped = np.memmap(path, dtype=dtype, mode="r", shape=rows.shape)
    model = SparseKernelRegressor("ard", max_columns=40)
    memory = model.fit(rows, Y).predict(rows)
    np.testing.assert_allclose(model.fit(mapped, Y).predict(rows), memory, atol=1e-6)


def test_a_budget_too_small_for_the_columns_changes_little():
    model = SparseKernelRegressor(KERNEL, ridge=0.01, max_columns=60)
    large = model.fit(X, Y).predict(X)
    small = model.set_params(memory_budget=1000).fit(X, Y).predict(X)
    np.testing.assert_allclose(small, large, atol=1e-2)


def test_rows_held_out_end_the_fit():
    noise = RNG.normal(size=200)
    model = SparseKernelRegressor(
        [Gaussian(50.0)],
        ridge=1e-6,
        update="full",
        selection="mp",
        max_columns=150,
        early_stopping=0.3,
    ).fit(X, noise)
    assert "TR3" in str(model.stop_reason_)
    assert model.stop_reason_.rule == "validation"
    assert model.n_columns_ < len(model.trace_)


def test_rows_held_out_end_a_series():
    points, labels = make_moons(300, noise=0.4, random_state=0)
    model = SparseKernelClassifier(
        [Gaussian(30.0)],
        ridge=1e-6,
        update=Full(5, series=2),
        max_columns=150,
        early_stopping=EarlyStopping(0.4, n_iter_no_change=2),
    ).fit(points, labels)
    assert model.stop_reason_.rule == "validation"
    assert model.n_columns_ < model.trace_[-1].n_columns
    assert model.score(points, labels) > 0.7


@pytest.mark.parametrize("most", [40, None])
def test_an_ensemble_of_a_series_is_fitted_to_rows_of_low_margin(most, monkeypatch):
    points, labels = make_moons(150, noise=0.4, random_state=0)
    plain, counts = series.grow_basis, []

    def grow_basis(plan, candidates, targets, *args, **options):
        counts.append(len(targets.targets))
        return plain(plan, candidates, targets, *args, **options)

    monkeypatch.setattr(series, "grow_basis", grow_basis)
    update = Full(2, series=Series(2, max_rows=most))
    SparseKernelClassifier([Gaussian(1.0)], ridge=1e-3, update=update, max_columns=12).fit(
        points, labels
    )
    assert counts[0] == (most or 150)  # all margins are 0 before the first
    assert len(counts) == 3
    assert counts[-1] <= (most or 149)


@pytest.mark.parametrize("selection", [ALD(0.5), RAN(0.1)])
def test_a_complete_pass_names_its_threshold(selection):
    model = SparseKernelRegressor(KERNEL, ridge=0.01, selection=selection, update="full")
    reason = model.fit(X, Y).stop_reason_
    assert model.n_columns_ < len(X)
    assert f"no other row passes {selection!r}" in str(reason)


@pytest.mark.parametrize("loss", ["squared", "log", "hinge"])
def test_early_stopping_of_labels_looks_at_the_loss_of_held_out_rows(loss):
    labels = np.sign(Y - np.median(Y))
    model = SparseKernelClassifier(
        KERNEL, loss=loss, ridge=0.01, max_columns=20, early_stopping=EarlyStopping(0.3, 50)
    ).fit(X, labels)
    errors = np.array([step.validation_error for step in model.trace_])
    assert len(np.unique(errors)) == len(errors)  # shares of wrong labels would repeat
    assert errors.min() < errors[0]


def test_limits_are_kept_and_named():
    model = SparseKernelRegressor(
        KERNEL, ridge=0.01, update="full", selection="mp", max_columns=100
    )
    assert "max_iter=3" in str(model.set_params(max_iter=3).fit(X, Y).stop_reason_)
    assert model.n_columns_ == model.n_iter_ == 3
    assert str(model.stop_reason_).endswith("; raise max_iter.")  # there is no tol to raise
    model.set_params(max_iter=None, max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_seconds") as warned:
        assert model.fit(X, Y).stop_reason_.rule == "max_seconds"
    assert len(warned) == 1


@pytest.mark.parametrize("place", [0, 3])
def test_an_interrupt_keeps_what_there_is(monkeypatch, place):
    real, calls = basis.ForwardOracle.start, []

    def start(self, problem):
        search = real(self, problem)
        propose = search.propose

        def interrupted(run):
            calls.append(1)
            if len(calls) > place:
                raise KeyboardInterrupt
            return propose(run)

        search.propose = interrupted
        return search

    monkeypatch.setattr(basis.ForwardOracle, "start", start)
    model = SparseKernelRegressor(KERNEL, ridge=0.01, update="full", selection="mp")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert hasattr(model, "dual_coef_") == (place > 0)
    if place:
        assert model.predict(X).shape == (200,)
        assert model.stop_reason_.rule == "interrupted"


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_an_interrupt_of_a_series_keeps_what_there_is(monkeypatch, count):
    """Ensembles of three: in the first one, at its end, in the second, in the third."""
    real, calls = basis.CholeskyMaster.start, []

    def start(self, problem):
        run = real(self, problem)
        extend = run.extend

        def interrupted(proposal):
            if len(calls) == count:
                raise KeyboardInterrupt
            calls.append(1)
            extend(proposal)

        run.extend = interrupted
        return run

    monkeypatch.setattr(basis.CholeskyMaster, "start", start)
    model = SparseKernelRegressor(KERNEL, ridge=0.01, update=Full(series=3), max_columns=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.stop_reason_.rule == "interrupted"
    assert model.n_columns_ == count
    assert model.predict(X).shape == (200,)


def test_an_interrupt_before_the_first_step_of_a_series_changes_nothing(monkeypatch):
    def start(self, problem):
        raise KeyboardInterrupt

    monkeypatch.setattr(basis.CholeskyMaster, "start", start)
    model = SparseKernelRegressor(KERNEL, ridge=0.01, update=Full(series=3), max_columns=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "dual_coef_")


def test_an_interrupt_of_a_batch_changes_nothing(monkeypatch):
    model = SparseKernelRegressor(KERNEL, ridge=0.01).partial_fit(X[:50], Y[:50])
    before = model.predict(X)

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RecursiveLeastSquares, "_solve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[50:], Y[50:])
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_iter_ == 1
    twice = SparseKernelRegressor(KERNEL, ridge=0.01).partial_fit(X[:50], Y[:50])
    expected = twice.partial_fit(X[50:], Y[50:]).predict(X)
    np.testing.assert_array_equal(model.partial_fit(X[50:], Y[50:]).predict(X), expected)


def test_progress_tells_the_time_left(capsys):
    SparseKernelRegressor(KERNEL, ridge=0.01, max_columns=60, verbose=1).fit(X, Y)
    assert "s left" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"selection": "best"},
            r"^selection must be 'random' or 'mp' or .*; got selection='best'\.$",
        ),
        (
            {"update": "all"},
            r"^update must be 'joint' or 'full' or 'one', or its object; got update='all'\.$",
        ),
        ({"ridge": 0.0}, r"^ridge must be positive, or 'auto'; got ridge=0\.0\.$"),
        ({"intercept": True}, r"^intercept must be 'free' or 'none'; got intercept=True\.$"),
        ({"early_stopping": 1.5}, r"^early_stopping must be a fraction .* or None; got early_stop"),
        ({"cells": 0}, r"^cells must be None, 'auto', an integer of at least 1 or a Cells; got"),
        ({"kernels": ["sigmoid"]}, r"^kernels must be positive semidefinite"),
        ({"kernels": "best"}, r"^kernels must be one of 'auto', .*'ard', .*; got 'best'\.$"),
        ({"kernels": ["ard", "rbf"]}, r"^kernels='ard' must be a string, not part of a list"),
        ({"early_stopping": 1e-4}, r"^early_stopping must hold out at least one row; got"),
    ],
)
def test_bad_parameters_are_named_and_change_nothing(options, message):
    model = SparseKernelRegressor(KERNEL, ridge=0.01, max_columns=10).fit(X, Y)
    before = {k: v for k, v in vars(model).items() if k.endswith("_")}
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(X, Y)
    assert {k: v for k, v in vars(model).items() if k.endswith("_")} == before


def test_canonical_rows_do_not_depend_on_order_or_copies():
    targets = np.round(Y)[:, None]
    rows = np.round(X[:, :1])
    one = indexed_rows(rows, targets, np.ones(200))
    shuffled = RNG.permutation(200)
    other = indexed_rows(rows[shuffled].astype(np.float32), targets[shuffled], np.ones(200))
    np.testing.assert_array_equal(rows[one.order], rows[shuffled][other.order])
    np.testing.assert_array_equal(one.targets, other.targets)
    np.testing.assert_array_equal(one.weight, other.weight)
    distinct = np.unique(np.hstack([rows + 0.0, targets + 0.0]), axis=0)
    assert len(one.order) == len(distinct)
    assert len(one.center_rows) == len(np.unique(rows + 0.0))
    assert one.weight.sum() == 200


# Streams ----------------------------------------------------------------------------------------


def batches(rows, size=50):
    return [slice(start, start + size) for start in range(0, len(rows), size)]


def test_a_stream_with_its_basis_in_the_first_batch_is_least_squares_on_all_rows():
    model = SparseKernelRegressor(KERNEL, ridge=0.01, selection=ALD(1e-3), max_columns=40)
    for batch in batches(X):
        model.partial_fit(X[batch], Y[batch])
    assert model.n_columns_ == 40
    F, Q = KERNEL[0](X, model.centers_), KERNEL[0](model.centers_)
    A = np.hstack([np.ones((200, 1)), F])
    G = A.T @ A
    G[1:, 1:] += 0.01 * Q
    expected = np.linalg.solve(G, A.T @ Y)
    np.testing.assert_allclose(model.predict(X), A @ expected, atol=1e-5)


@pytest.mark.parametrize("selection", ["ald", "ran"])
@pytest.mark.parametrize("kernels", [KERNEL, [Gaussian(0.5), Gaussian(0.1, columns=[0, 1])]])
def test_a_stream_grows_and_learns(selection, kernels):
    model = SparseKernelRegressor(kernels, ridge=0.01, selection=selection)
    sizes = [model.partial_fit(X[batch], Y[batch]).n_columns_ for batch in batches(X, 40)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert model.score(X, Y) > 0.9
    assert model.n_iter_ == 5


@pytest.mark.parametrize("selection", ["ald", "ran"])
def test_a_row_given_twice_in_a_batch_weighs_two(selection):
    weight = np.random.default_rng(5).integers(0, 4, size=len(X))
    once, often = (SparseKernelRegressor(KERNEL, ridge=0.01, selection=selection) for _ in "ab")
    for batch in batches(X, 50):
        numbers = np.arange(len(X))[batch]
        once.partial_fit(X[numbers], Y[numbers], weight[numbers])
        numbers = np.repeat(numbers, weight[numbers])
        often.partial_fit(X[numbers], Y[numbers])
    np.testing.assert_array_equal(often.centers_, once.centers_)
    np.testing.assert_allclose(often.predict(X), once.predict(X), atol=1e-8)


def test_a_stream_keeps_the_shape_of_its_first_targets():
    model = SparseKernelRegressor(KERNEL, ridge=0.01).partial_fit(X[:50], Y[:50])
    assert model.partial_fit(X[50:], Y[50:, None]).predict(X).shape == Y.shape


def test_a_stream_of_classes():
    points, labels = make_moons(300, noise=0.15, random_state=0)
    model = SparseKernelClassifier([Gaussian(2.0)], ridge=0.01, class_weight={1: 2.0})
    for batch in batches(points, 60):
        model.partial_fit(points[batch], labels[batch], classes=[0, 1])
    assert model.score(points, labels) > 0.94
    assert model.fit(points, labels).score(points, labels) > 0.94


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {}, r"^classes must be given in the first call of partial_fit; got classes=None\.$"),
        (
            {},
            {"classes": [0, 2]},
            r"^classes must contain two or more labels and all labels of y; got classes=",
        ),
        ({"loss": "log"}, {"classes": [0, 1]}, r"has no attribute 'partial_fit'"),
        (
            {"class_weight": "balanced"},
            {"classes": [0, 1]},
            r"^partial_fit requires class_weight to be None or a dict; got class_weight=",
        ),
        (
            {"class_weight": {0: 0.0, 1: 0.0}},
            {"classes": [0, 1]},
            r"^class_weight must leave a positive weight in the batch; got class_weight=",
        ),
        (
            {"kernels": "precomputed"},
            {"classes": [0, 1]},
            r"^partial_fit requires kernels that can be evaluated at new rows; got kernels=",
        ),
    ],
)
def test_what_a_stream_cannot_do_is_named(options, arguments, message):
    points, labels = make_moons(40, random_state=0)
    model = SparseKernelClassifier(**{"kernels": KERNEL, **options})
    before = dict(vars(model))
    with pytest.raises((ValueError, AttributeError), match=message):
        model.partial_fit(points, labels, **arguments)
    assert vars(model) == before


def test_classes_without_weight_are_named():
    points, labels = make_moons(40, random_state=0)
    model = SparseKernelClassifier(KERNEL, class_weight={0: 0.0, 1: 0.0})
    with pytest.raises(ValueError, match=r"^y must have at least two classes .*; got none\.$"):
        model.fit(points, labels)


def test_a_stream_has_no_cells():
    model = SparseKernelRegressor(KERNEL, ridge=0.01, cells=50).fit(X, Y)
    assert model.n_cells_ > 1
    model.partial_fit(X, Y)
    assert model.n_cells_ is None
    assert model.choice_ is None


@pytest.mark.parametrize(
    ("first", "then"), [(np.asarray, sparse.csr_matrix), (sparse.csr_matrix, np.asarray)]
)
def test_a_stream_takes_dense_and_sparse_batches(first, then):
    dense, mixed = (SparseKernelRegressor(KERNEL, ridge=0.01) for _ in range(2))
    dense.partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:])
    mixed.partial_fit(first(X[:20]), Y[:20]).partial_fit(then(X[20:]), Y[20:])
    assert mixed.n_columns_ == dense.n_columns_
    np.testing.assert_allclose(mixed.predict(X), dense.predict(X), atol=1e-6)


def test_limits_of_a_series_are_those_of_the_user():
    model = SparseKernelRegressor(KERNEL, ridge=0.01, update=Full(series=3), max_columns=8)
    assert str(model.fit(X, Y).stop_reason_) == "max_columns=8 reached; raise max_columns."
    model.set_params(max_iter=5).fit(X, Y)
    assert str(model.stop_reason_) == "max_iter=5 reached; raise max_iter."
    assert model.n_iter_ == 5
    assert [step.iteration for step in model.trace_] == list(range(6))


@cache
def fit_of_plain_targets(cells):
    """Rows, targets and their model; do not change it."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(90, 2))
    values = np.sin(2 * rows[:, 0]) + rows[:, 1]
    return rows, values, SparseKernelRegressor(cells=cells).fit(rows, values)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cells", [None, 30])
@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e160, 1e300])
def test_targets_of_any_unit_are_fitted(unit, cells):
    rows, values, plain = fit_of_plain_targets(cells)
    other = SparseKernelRegressor(cells=cells).fit(rows, values * unit)
    assert other.n_columns_ == plain.n_columns_
    np.testing.assert_allclose(other.predict(rows) / unit, plain.predict(rows), atol=1e-3)
