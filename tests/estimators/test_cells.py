"""Fits in cells, against kernel ridge inside each; what they choose, refuse and keep."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.core.deadline import Deadline
from kboost.kernels import Gaussian, Laplacian, Linear
from kboost.local import cells as local_cells
from kboost.local.choice import choose_local
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows
from kboost.plans import cells as cells_plan
from kboost.settings import ALD, RAN, Cells, Full, Joint, MatchingPursuit, One
from tests.checks import FIT, PREDICTION, checks_of_variants

SPARSE = {
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
}


def surface(n, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + noise * rng.normal(size=n)


def test_each_cell_is_kernel_ridge_on_its_rows():
    X, y = surface(600)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=100).fit(X, y)
    tree = model._model.parts[0].tree
    where, new = tree.assign(X), surface(200, seed=1)[0]
    assert model.n_cells_ == tree.n_cells == len(np.unique(where))
    expected = np.empty(200)
    for cell in range(tree.n_cells):
        own, asked = where == cell, tree.assign(new) == cell
        if asked.any():
            ridge = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(X[own], y[own] - y.mean())
            expected[asked] = ridge.predict(new[asked]) + y.mean()
    assert_allclose(model.predict(new), expected, atol=2e-3)
    assert model.n_columns_ == 600
    assert model.centers_.shape == (600, 2)


def test_the_objective_is_that_of_the_cells():
    X, y = surface(300)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=80).fit(X, y)
    residual = y - model.predict(X)
    part = model._model.parts[0]
    norm = 0.0
    for first, last in zip(part.starts[:-1], part.starts[1:], strict=True):
        coef = part.coef[first:last, 0]
        norm += coef @ Gaussian(0.5)(part.centers[first:last]) @ coef
    assert_allclose(model.objective_, 0.5 * residual @ residual + 0.05 * norm, rtol=1e-3)


def test_sparse_cells_keep_few_columns_and_most_of_the_accuracy():
    X, y = surface(1500)
    full = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=300).fit(X, y)
    few = clone(full).set_params(cells=Cells(300, columns_per_cell=30)).fit(X, y)
    assert 15 * few.n_cells_ < few.n_columns_ <= 30 * few.n_cells_
    new, truth = surface(500, seed=1, noise=0.0)
    assert few.score(new, truth) > full.score(new, truth) - 0.01
    assert few.objective_ >= full.objective_ * (1 - 1e-6)


@pytest.mark.parametrize("partitions", [1, 2])
def test_max_columns_is_the_total_of_the_model(partitions):
    X, y = surface(600)
    cells = Cells(100, partitions=partitions)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=cells, max_columns=90)
    model.fit(X, y)
    share = 90 // model.n_cells_
    assert share > 1
    assert all(np.diff(part.starts).max() <= share for part in model._model.parts)
    assert 90 - model.n_cells_ < model.n_columns_ <= 90
    same = Cells(100, partitions=partitions, columns_per_cell=share)
    other = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=same).fit(X, y)
    assert_array_equal(other.predict(X), model.predict(X))
    model.set_params(max_columns=1).fit(X, y)  # every cell has one
    assert model.n_columns_ == model.n_cells_


def interrupted_after(monkeypatch, count):
    """Ctrl-C while the driver waits for a cell, once so many are fitted."""
    real = local_cells.CellFitting.advance

    def advance(self):
        if len(self.trace) == count:
            raise KeyboardInterrupt
        return real(self)

    monkeypatch.setattr(local_cells.CellFitting, "advance", advance)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_cells_fitted_so_far(monkeypatch, n_jobs):
    X, y = surface(600)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=50, n_jobs=n_jobs)
    every = clone(model).fit(X, y)._model.parts[0]
    with monkeypatch.context() as patched:
        interrupted_after(patched, 3)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    (part,) = model._model.parts
    sizes = np.diff(part.starts)
    done = int(np.count_nonzero(sizes))
    assert 3 <= done <= len(sizes)
    assert f"interrupted: {done} of {len(sizes)} cells" in str(model.stop_reason_)
    assert_array_equal(sizes[sizes > 0], np.diff(every.starts)[sizes > 0])
    reached = (sizes > 0)[part.tree.assign(X)]
    assert_array_equal(part(X)[reached], every(X)[reached])
    assert_allclose(model.predict(X)[~reached], y.mean())
    assert model.fit(X, y).stop_reason_.rule == "cells"


def test_an_interrupt_right_after_a_cell_was_collected_does_not_repeat_it(monkeypatch):
    class Interrupted(list):
        def append(self, cell):
            super().append(cell)
            if len(self) == 2:
                raise KeyboardInterrupt

    real, started = local_cells.CellFitting.__init__, []

    def init(self, *args):
        real(self, *args)
        self._fitted = Interrupted()
        started.append(self)

    X, y = surface(600)
    monkeypatch.setattr(local_cells.CellFitting, "__init__", init)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=100)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    (fitting,) = started
    assert len(fitting._fitted) == len(set(map(id, fitting._fitted))) == fitting.n_cells
    assert np.isfinite(model.predict(X)).all()


def test_an_interrupt_before_the_first_cell_changes_nothing(monkeypatch):
    X, y = surface(200)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=50)
    interrupted_after(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


def test_an_error_in_a_cell_is_raised_and_changes_nothing(monkeypatch):
    X, y = surface(200)

    def broken(*_):
        raise RuntimeError("no solution")

    monkeypatch.setattr(local_cells, "fit_cell", broken)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=50)
    with pytest.raises(RuntimeError, match="no solution"):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


def test_averaged_partitions_are_smoother_than_one():
    X, y = surface(3000, noise=0.3)
    new, truth = surface(1000, seed=1, noise=0.0)
    one = SparseKernelRegressor([Gaussian(0.5)], cells=150).fit(X, y)
    many = clone(one).set_params(cells=Cells(150, partitions=5)).fit(X, y)
    assert many.n_columns_ == 5 * 3000
    assert np.mean((many.predict(new) - truth) ** 2) < np.mean((one.predict(new) - truth) ** 2)


def test_cells_that_overlap_are_smoother_than_cells_that_do_not():
    X, y = surface(3000, noise=0.3)
    new, truth = surface(1000, seed=1, noise=0.0)
    plain = SparseKernelRegressor([Gaussian(0.5)], cells=Cells(150)).fit(X, y)
    wide = clone(plain).set_params(cells=Cells(300, overlap=1.0)).fit(X, y)  # as many of their own
    assert wide.n_columns_ == pytest.approx(2 * 3000, rel=0.05)
    assert np.mean((wide.predict(new) - truth) ** 2) < np.mean((plain.predict(new) - truth) ** 2)


def test_cells_that_share_columns_are_smoother_than_cells_that_do_not():
    X, y = surface(3000, noise=0.3)
    new, truth = surface(1000, seed=1, noise=0.0)
    plain = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=Cells(150)).fit(X, y)
    shared = clone(plain).set_params(cells=Cells(150, shared_columns=100)).fit(X, y)
    assert shared.n_columns_ == plain.n_columns_ + 100
    assert np.mean((shared.predict(new) - truth) ** 2) < np.mean((plain.predict(new) - truth) ** 2)
    loss = 0.5 * np.sum((shared.predict(X) - y) ** 2)
    assert loss < shared.objective_ < 1.5 * loss


@pytest.mark.parametrize(
    "cells", [Cells(100), Cells(100, overlap=0.5), Cells(100, shared_columns=30)]
)
def test_a_row_twice_is_a_row_of_weight_two_and_order_does_not_matter(cells):
    X, y = surface(400)
    weight = np.random.default_rng(0).integers(0, 3, 400)
    model = SparseKernelRegressor(cells=cells, kernels=[Laplacian(0.5)])
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    order = np.random.default_rng(1).permutation(400)
    shuffled = clone(model).fit(X[order], y[order], sample_weight=weight[order])
    for other in (repeated, shuffled):
        assert_allclose(weighted.predict(X), other.predict(X), atol=1e-4)
        assert weighted.n_cells_ == other.n_cells_


@pytest.mark.parametrize("size", [1.0, 1e60, 1e-60])
def test_few_distinct_rows_and_targets_of_any_size_are_solved_exactly(size):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(600, 2)).astype(float)
    y = size * (np.sin(X[:, 0]) + rng.normal(size=600))
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=1e-4, cells=1000).fit(X, y)
    exact = KernelRidge(alpha=1e-4, kernel="rbf", gamma=0.5).fit(X, (y - y.mean()) / size)
    assert_allclose(model.predict(X) / size, exact.predict(X) + y.mean() / size, atol=1e-5)


def test_classes_share_the_cells():
    X, y = make_moons(900, noise=0.2, random_state=0)
    labels = np.array(["a", "b", "c"])[np.where(X[:, 0] > 1.5, 2, y)]
    model = SparseKernelClassifier(cells=200, n_jobs=2).fit(X, labels)
    assert model.score(X, labels) > 0.93
    assert model.dual_coef_.shape == (3, 900)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_the_metric_that_fits_is_chosen_and_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6)) * [1, 1, 300, 300, 300, 300]
    y = np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1])
    model = SparseKernelRegressor(cells=300).fit(X, y)
    assert model.choice_.metric == "learned"
    assert min(model.choice_.errors, key=model.choice_.errors.get) == "learned"
    assert "learned features" in str(model.choice_)
    scale = model.kernels_[0].on.scale
    assert scale[:2].min() > 10 * scale[2:].max()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_features_of_any_unit_are_taken(unit):
    X, y = surface(900)
    model = SparseKernelRegressor(cells=300).fit(X * unit, y)
    assert np.mean((model.predict(X * unit) - y) ** 2) < 0.1 * np.var(y)


def test_the_choice_does_not_depend_on_the_threads():
    X, y = surface(600)
    rows = LocalRows(X, np.arange(600), (y - y.mean())[:, None], np.ones(600))
    one, two = (choose_local(rows, 150, np.random.default_rng(3), Executor(n))[0] for n in (1, 2))
    assert one.kernel == two.kernel
    assert one.ridge == two.ridge


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loss": "log"}, "^cells require loss='squared'; got loss='log'\\.$"),
        ({"update": Full(series=5)}, "^cells require update='joint'; got update=.*series=5"),
        ({"early_stopping": 0.2}, "^cells require early_stopping=None; got .*fraction=0.2"),
        (
            {"max_columns": 5, "selection": "ald"},
            "^cells require selection='max-res', 'mp' or 'boost'; .*ALD",
        ),
        ({"kernels": "precomputed"}, "^cells require kernels that are not precomputed; got"),
        ({"kernels": ["sigmoid"]}, "^kernels must be positive semidefinite"),
        ({"cells": 0}, "^cells must be"),
    ],
)
def test_what_cells_refuse(options, said):
    X, y = make_moons(60, random_state=0)
    X = X @ X.T if options.get("kernels") == "precomputed" else X
    with pytest.raises(ValueError, match=said):
        SparseKernelClassifier(**{"cells": 20, **options}).fit(X, y)


def test_out_of_time_the_cells_left_over_are_empty():
    X, y = surface(500)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=100, max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_seconds reached: 0 of"):
        model.fit(X, y)
    assert str(model.stop_reason_).startswith("max_seconds reached: 0 of ")
    assert_allclose(model.predict(X), y.mean())


@pytest.mark.parametrize(("in_time", "whole"), [(5, 0), (12, 1), (21, 2)])
def test_out_of_time_partitions_that_are_whole_are_not_diluted(monkeypatch, in_time, whole):
    X, y = surface(500)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=Cells(100, partitions=3))
    every = model.fit(X, y)._model.parts
    sizes = [part.tree.n_cells for part in every]
    assert sum(sizes[:whole]) <= in_time < sum(sizes[: whole + 1])
    real, calls = local_cells.fit_cell, []

    class Clock:
        @property
        def remaining(self):
            return 1.0 if len(calls) < in_time else 0.0

        seconds = remaining

        def share(self, count):
            return self

        def call_off(self):
            """Nothing runs any more."""

    def counted(*arguments):
        calls.append(None)
        return real(*arguments)

    monkeypatch.setattr(local_cells, "fit_cell", counted)
    monkeypatch.setattr(Deadline, "after", lambda _: Clock())
    parts = model.fit(X, y)._model.parts
    assert str(model.stop_reason_).startswith(f"max_seconds reached: {in_time} of {sum(sizes)} ")
    assert len(parts) == max(1, whole)
    expected = every[0].scaled(3.0)(X)  # every partition counted for a third
    for part in every[1:whole]:
        expected = expected + part.scaled(3.0)(X)
    reached = np.diff(parts[0].starts)[parts[0].tree.assign(X)] > 0
    assert reached.any()
    assert_allclose(
        sum(part(X) for part in parts)[reached], (expected / len(parts))[reached], rtol=1e-9
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("update", "full"),
        ("update", One(shrinkage=0.5)),
        ("update", Full(combination="mp")),
        ("update", Joint(5)),
        ("update", Joint(n_init_rows=100)),
        ("selection", MatchingPursuit(20)),
        ("selection", "mp"),
        ("selection", ALD(0.1)),
        ("selection", RAN(0.1)),
    ],
    ids=str,
)
def test_what_cells_have_no_use_for_is_refused(name, value):
    X, y = surface(60)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=30, **{name: value})
    with pytest.raises(ValueError, match=r"^cells require .*; got "):
        model.fit(X, y)


@pytest.mark.parametrize(("more", "bytes_"), [({}, 80_000), ({"columns_per_cell": 5}, 2_004_000)])
def test_a_cell_that_the_budget_does_not_hold_is_refused(more, bytes_):
    X, y = surface(300)
    options = {"ridge": 0.1, "cells": Cells(100, **more)}
    model = SparseKernelRegressor([Gaussian(0.5)], **options, memory_budget=bytes_ - 1)
    with pytest.raises(
        ValueError, match=f"^memory_budget must hold .* {bytes_} bytes for 100 rows"
    ):
        model.fit(X, y)
    assert model.set_params(memory_budget=bytes_).fit(X, y).n_cells_ > 1


@pytest.mark.parametrize("columns", [None, 4])
def test_rows_of_one_x_are_one_problem_of_their_mean(columns):
    """However many they are: a cell has at most so many distinct rows."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, size=(12, 2))
    X = points[rng.integers(12, size=400)]
    y = np.sin(X[:, 0]) + rng.normal(size=400)
    weight = rng.integers(1, 4, size=400).astype(float)
    options = {"ridge": 0.1, "cells": Cells(6, columns_per_cell=columns)}
    model = SparseKernelRegressor([Gaussian(0.5)], **options).fit(X, y, weight)
    part = model._model.parts[0]
    assert model.n_columns_ == len(part.centers) <= 12
    assert np.diff(part.starts).max() <= 6
    norm = sum(
        part.coef[own, 0] @ Gaussian(0.5)(part.centers[own]) @ part.coef[own, 0]
        for own in map(slice, part.starts[:-1], part.starts[1:])
    )
    away = y - model.predict(X)
    assert_allclose(model.objective_, 0.5 * weight @ away**2 + 0.05 * norm, rtol=1e-5)
    if columns is None:  # the optimum over all rows of each cell
        where, middle = part.tree.assign(X), weight @ y / weight.sum()
        for cell in range(part.tree.n_cells):
            own = where == cell
            ridge = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5)
            ridge.fit(X[own], y[own] - middle, sample_weight=weight[own])
            assert_allclose(model.predict(X[own]), ridge.predict(X[own]) + middle, atol=1e-5)


@pytest.mark.parametrize("kernels", ["auto", "ard", [Laplacian("median")]])
@pytest.mark.parametrize("distinct", [1, 3])
def test_few_distinct_rows_and_constant_features(kernels, distinct):
    rng = np.random.default_rng(0)
    column = np.arange(300.0) % distinct
    X = np.column_stack([np.full(300, 7.0), column, column])
    y = column + rng.normal(size=300)
    model = SparseKernelRegressor(kernels, cells=20).fit(X, y)
    assert model.n_columns_ == distinct
    means = np.array([y[column == value].mean() for value in range(distinct)])
    assert np.abs(model.predict(X[:distinct]) - means).max() < 0.5


@pytest.mark.parametrize("scale", [1e25, 1e-20, 1e-25])
def test_cells_do_not_mind_the_unit_of_features(scale):
    X, y = surface(300)
    options = {"ridge": 0.1, "cells": 100}
    expected = SparseKernelRegressor(Gaussian("median"), **options).fit(X, y).predict(X)
    model = SparseKernelRegressor(Gaussian("median"), **options).fit(X * scale, y)
    inside = np.abs(model.predict(X * scale) - expected)
    assert np.median(inside) < 1e-3  # the order of rows, and so ties of cuts, may be another
    single = model.set_predict_dtype("float32").predict(X * scale)
    double = model.set_predict_dtype("float64").predict(X * scale)
    assert_allclose(single, double, atol=1e-3)


def test_float32_is_for_kernels_of_any_size():
    """A ridge is large or small against the diagonal, which need not be 1."""
    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(200, 3))
    y = np.sin(X[:, 0]) + 1e-3 * X[:, 1]
    model = SparseKernelRegressor([Linear()], cells=1000, ridge=1e-3, intercept="none")
    expected = X @ np.linalg.solve(X.T @ X + 1e-3 * np.eye(3), X.T @ y)
    assert_allclose(model.fit(X, y).predict(X), expected, atol=1e-3)


def test_auto_takes_cells_where_rows_are_many():
    X, y = surface(500)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells="auto", max_columns=50)
    assert model.fit(X, y).n_cells_ is None
    X, y = surface(20_000)
    assert model.set_params(max_columns=20).fit(X, y).n_cells_ == 8


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "log"},
        {"loss": "hinge"},
        {"update": Full(series=2)},
        {"early_stopping": 0.3},
        {"update": "full"},
        {"update": One(shrinkage=0.5)},
        {"update": Joint(5)},
        {"update": Joint(n_init_rows=30)},
        {"selection": "mp"},
        {"selection": MatchingPursuit(20), "max_columns": 10},
        {"selection": "random", "max_columns": 10},
        {"selection": ALD(0.1)},
        {"selection": RAN(0.1)},
        {"kernels": "precomputed"},
        {"rows": "sparse"},
        {"memory_budget": 8 * 20**2 - 1},
    ],
    ids=str,
)
def test_auto_does_without_cells_what_they_refuse(monkeypatch, options):
    """As if none had been asked for; a number of its own is refused."""
    monkeypatch.setattr(cells_plan, "AUTO_ROWS", 60)
    monkeypatch.setattr(cells_plan, "AUTO", Cells(20))
    X, y = make_moons(60, noise=0.1, random_state=0)
    given = {"kernels": [Gaussian(2.0)], "ridge": 0.1, **options}
    X = sparse.csr_matrix(X) if given.pop("rows", None) else X
    X = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) if "kernels" in options else X
    plain = SparseKernelClassifier(**given).fit(X, y)
    auto = SparseKernelClassifier(**given, cells="auto").fit(X, y)
    assert auto.n_cells_ is None
    assert auto.stop_reason_ == plain.stop_reason_
    assert_array_equal(auto.dual_coef_, plain.dual_coef_)
    with pytest.raises(ValueError, match=r"^cells require |^memory_budget must hold"):
        SparseKernelClassifier(**given, cells=20).fit(X, y)


def test_auto_counts_distinct_rows(monkeypatch):
    monkeypatch.setattr(cells_plan, "AUTO_ROWS", 60)
    monkeypatch.setattr(cells_plan, "AUTO", Cells(20))
    X, y = surface(60)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells="auto", max_columns=10)
    assert model.fit(X, y).n_cells_ > 1
    X[0] = X[1]
    assert model.fit(X, y).n_cells_ is None
    assert model.fit(np.vstack([X, X]), np.tile(y, 2)).n_cells_ is None


@pytest.mark.parametrize("cls", [SparseKernelRegressor, SparseKernelClassifier])
def test_estimator_checks(cls):
    """scikit-learn 1.6 tries sparse rows also where the tags say that they are refused."""
    estimator = cls([Gaussian("mean")], cells=20)
    failed = [r for r in check_estimator(estimator, on_fail=None) if r["status"] == "failed"]
    assert not get_tags(estimator).input_tags.sparse
    if parse_version(sklearn.__version__) < parse_version("1.7"):
        failed = [r for r in failed if not r["check_name"].endswith("on_sparse_data")]
    assert failed == []


@pytest.mark.parametrize(
    ("estimator", "check"),
    checks_of_variants(
        SparseKernelRegressor([Gaussian("mean")], cells="auto"),
        SparseKernelClassifier([Gaussian("mean")], cells="auto"),
        names=FIT | PREDICTION | SPARSE,
    ),
)
def test_estimator_checks_of_auto(estimator, check):
    """The rows are too few for cells; parameters and messages are those without cells."""
    assert get_tags(estimator).input_tags.sparse
    check(estimator)


def test_shared_columns_count_among_max_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    cells = Cells(size=150, shared_columns=30)
    model = SparseKernelRegressor(["rbf"], cells=cells, max_columns=60).fit(X, y)
    assert 30 < model.n_columns_ <= 60
    with pytest.raises(ValueError, match="shared_columns must be less than max_columns; got"):
        SparseKernelRegressor(["rbf"], cells=cells, max_columns=30).fit(X, y)
