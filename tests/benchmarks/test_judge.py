"""The judge on tiny data: what it measures, and what it does when things go wrong."""

import numpy as np
import pytest

from benchmarks import datasets, solvers
from benchmarks.objective import Job, answer, environment, judge, timed

TINY = {"n_train": 60, "n_test": 40, "seed": 3}


def test_a_process_of_its_own_gives_what_this_one_does():
    job = Job("svc", "friedman", {}, TINY)
    there, here = judge(job), answer(job)
    for name in ("status", "train_error", "test_error", "columns", "objective"):
        assert there[name] == here[name]


@pytest.mark.parametrize(
    ("solver", "parameters"),
    [("kboost", {}), ("svc", {}), ("hist_gradient_boosting", {"max_iter": 3})],
)
def test_every_solver_gives_the_same_kind_of_row(solver, parameters):
    row = answer(Job(solver, "friedman", parameters, TINY))
    assert row["status"] == "ok", row
    assert (row["n_train"], row["n_test"]) == (60, 40)
    assert 0 <= row["test_error"] <= 1
    assert 0 <= row["train_error"] <= 1
    for name in ("fit_seconds", "predict_seconds", "memory_mib"):
        assert row[name] >= 0
    assert row["objective"] is None  # nobody asked for it


def test_objective_of_kboost_is_that_of_the_full_program_in_both_shapes_and_methods():
    ours = {"library": "LQR", "C": 0.5, "tol": 1e-7, "column_scaling": None}
    row = answer(Job("kboost", "friedman", ours, TINY, C=0.5))
    assert row["status"] == "ok", row
    assert row["gap"] <= 1e-6
    for shape in ("samples", "columns"):
        for method in ("simplex", "ipm"):
            peer = {"C": 0.5, "shape": shape, "method": method}
            full = answer(Job("full_lp", "friedman", peer, TINY, C=0.5))
            assert full["objective"] == pytest.approx(full["objective_reported"], rel=1e-6)
            assert row["objective"] == pytest.approx(full["objective"], rel=1e-6)


def test_objective_is_not_compared_where_columns_are_scaled():
    assert answer(Job("kboost", "friedman", {"library": "LR"}, TINY, C=1.0))["objective"] is None


def test_a_failure_becomes_a_row():
    row = answer(Job("svc", "friedman", {"C": -1.0}, TINY))
    assert row["status"] == "failed"
    assert "C" in row["message"]


def test_a_time_limit_becomes_a_row():
    assert judge(Job("svc", "friedman", {}, TINY, time_limit=0.01))["status"] == "time limit"


def test_missing_data_become_a_row(monkeypatch, tmp_path):
    monkeypatch.delenv("KBOOST_DATA", raising=False)
    row = answer(Job("svc", "forest"))
    assert row["status"] == "missing data"
    assert "KBOOST_DATA" in row["message"]
    monkeypatch.setenv("KBOOST_DATA", str(tmp_path))
    row = answer(Job("svc", "forest"))
    assert row["status"] == "missing data"
    assert str(tmp_path) not in row["message"]


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "friedman"])
def test_data_are_standardised_and_drawn_by_seed(name):
    data, again = datasets.load(name, seed=1), datasets.load(name, seed=1)
    assert (data.X_train == again.X_train).all()
    assert set(data.y_train) == set(data.y_test) == {-1.0, 1.0}
    assert abs(data.X_train.mean(axis=0)).max() < 1e-10
    assert (datasets.load(name, seed=2).X_train != data.X_train).any()


def test_rows_for_tuning_and_rows_for_the_final_word_do_not_overlap():
    tuning = datasets.load("friedman", n_train=10, n_test=5, seed=0)
    final = datasets.load("friedman", n_train=10, n_test=5, skip=5, seed=0)
    assert not {tuple(x) for x in tuning.X_test} & {tuple(x) for x in final.X_test}


def test_prepare_is_apart_from_fit():
    data = datasets.load("friedman", n_train=20, n_test=5)
    solver = solvers.build("svc", C=2.0)
    solver.prepare(data)
    assert solver.fit(data).facts()["columns"] > 0


def test_threads_are_left_alone_unless_given(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert environment(None)["OMP_NUM_THREADS"] == "7"
    assert environment(1)["OMP_NUM_THREADS"] == environment(1)["OPENBLAS_NUM_THREADS"] == "1"


def test_timing_repeats_what_is_short():
    calls = []
    result, seconds, cpu_seconds = timed(lambda: calls.append(1) or len(calls))
    assert result == len(calls) == 5
    assert seconds >= 0
    assert cpu_seconds >= 0


def test_a_sum_of_kernels_is_one_kernel_of_the_library():
    mixture = answer(Job("kboost", "friedman", {"library": "LQR", "C": 1.0}, TINY))
    composite = answer(Job("kboost", "friedman", {"library": "L+Q+R", "C": 1.0}, TINY))
    assert set(mixture["columns_per_kernel"]) == {"L", "Q", "R"}
    assert composite["columns_per_kernel"] == {"L+Q+R": composite["columns"]}


def test_three_parts_do_not_overlap_and_are_scaled_by_the_first():
    rng = np.random.default_rng(0)
    X, rows = rng.integers(0, 50, (40, 3)).astype(np.int16), rng.permutation(40)
    X[:, 0] = np.arange(40)  # tells the rows apart
    y = np.where(X[:, 0] % 2, 1.0, -1.0)
    data = datasets.three_parts(X, y, rows, n_train=10, n_val=6, skip=4, n_test=8)
    parts = (data.X_train, data.X_val, data.X_test)
    assert [len(part) for part in parts] == [10, 6, 8]
    assert len(np.unique(np.concatenate(parts)[:, 0])) == 24
    assert np.allclose(data.X_train.std(axis=0), 1.0)
    assert (data.y_test == y[rows[20:28]]).all()
    assert datasets.three_parts(X, y, rows, n_train=9, n_val=0, skip=0, n_test=9).X_val is None


def test_rates_add_up_to_the_error():
    row, data = answer(Job("svc", "friedman", {}, TINY)), datasets.load("friedman", **TINY)
    share = float(np.mean(data.y_test > 0))
    error = row["false_negatives"] * share + row["false_positives"] * (1 - share)
    assert row["test_error"] == pytest.approx(error)


def test_curves_and_grid_judge_by_the_validation_rows():
    whole = datasets.load("friedman", n_train=60, n_test=80, seed=3)
    data = datasets.Data(
        whole.X_train, whole.y_train, whole.X_test[:40], whole.y_test[:40],
        whole.X_test[40:], whole.y_test[40:],
    )  # fmt: skip
    settings = {"library": "LR", "penalty": "l2", "n_iter_no_change": 100, "tol": 1e-3}
    curves = solvers.build("kboost_curves", C=0.1, **settings)
    curves.prepare(data)
    model = curves.fit(data)
    facts = model.facts()
    curve, place = facts["curve"], facts["tr3"]
    assert curve["validation"][place] == pytest.approx(facts["validation_error"])
    for part, X, y in (("train", data.X_train, data.y_train), ("test", data.X_test, data.y_test)):
        assert curve[part][place] == pytest.approx(np.mean(model.predict(X) != y))
    grid = solvers.build("kboost_grid", grid=[0.01, 0.1], **settings)
    grid.prepare(data)
    chosen = grid.fit(data).facts()
    assert chosen["validation_error"] == min(one["validation_error"] for one in chosen["tried"])
    assert chosen["tried"][1]["validation_error"] == pytest.approx(facts["validation_error"])
