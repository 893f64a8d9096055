"""The judge on tiny data: what it measures, and what it does when things go wrong."""

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
    result, seconds = timed(lambda: calls.append(1) or len(calls))
    assert result == len(calls) == 5
    assert seconds >= 0
