"""Encodings of categories with many values compete on rows left out."""

from __future__ import annotations

import numpy as np
import pytest

from kboost import AutoKernelRegressor
from kboost.core.deadline import Deadline
from kboost.metric.rounds import learn_rounds
from kboost.preparation import TablePreparation, encoding_choice

pl = pytest.importorskip("polars")


def towns(n=900, n_towns=40, seed=0):
    """A number and a town, in a frame; and the town of each row."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, n_towns, n)
    frame = pl.DataFrame({"x": rng.normal(size=n), "town": [f"t{k}" for k in town]})
    return frame, town, rng


def encoding_of(frame, y, **options):
    return TablePreparation(**options).fit(frame, y).columns_[1].encoding


def test_one_hots_where_a_value_changes_what_a_number_means():
    """All towns have the same mean, so their means tell nothing."""
    frame, town, rng = towns(n_towns=32)
    y = np.where(town < 16, 1, -1) * frame["x"].to_numpy() + 0.1 * rng.normal(size=len(town))
    found = encoding_of(frame, y)
    assert found.startswith("one-hot: error 0.")
    assert all(f"{how} 0." in found or f"{how} 1." in found for how in ("target", "frequency"))


def test_means_where_values_differ_in_their_mean():
    frame, town, rng = towns(n_towns=150)
    effect = rng.normal(size=150)
    y = effect[town] + 0.3 * frame["x"].to_numpy() + 0.1 * rng.normal(size=len(town))
    assert encoding_of(frame, y).startswith("target: error 0.0")


def test_the_usual_encoding_stays_without_evidence():
    frame, _, rng = towns()
    assert encoding_of(frame, rng.normal(size=len(frame))).startswith("target: error 1.")


def test_classes_are_judged_too():
    frame, town, rng = towns(n_towns=32)
    y = np.where(town < 16, 1, -1) * frame["x"].to_numpy() + 0.1 * rng.normal(size=len(town)) > 0
    assert encoding_of(frame, y).startswith("one-hot:")


def test_a_middle_number_of_values_may_have_means_beside_one_hots():
    frame, town, rng = towns(n=400, n_towns=28)
    effect = rng.normal(size=28)
    y = effect[town] * (1 + frame["x"].to_numpy() ** 2) + 0.1 * rng.normal(size=len(town))
    assert encoding_of(frame, y).partition(":")[0] == "both"
    few = frame.with_columns(town=pl.Series([f"t{k % 8}" for k in town]))
    assert encoding_of(few, y) == "one-hot"


@pytest.mark.parametrize("why", ["few rows", "no target", "one target"])
def test_nothing_is_compared_where_nothing_can_be(why, monkeypatch):
    frame, _, rng = towns(n=59 if why == "few rows" else 200, n_towns=70)
    monkeypatch.setattr(encoding_choice, "learn_rounds", None)
    y = {"no target": None, "one target": np.ones(len(frame))}.get(why, rng.normal(size=len(frame)))
    assert encoding_of(frame, y) == ("frequency" if why == "no target" else "target")


def test_a_choice_knows_no_order_and_takes_weights_for_repetitions():
    frame, town, rng = towns(n=500, n_towns=32)
    y = np.where(town < 16, 1, -1) * frame["x"].to_numpy() + 0.1 * rng.normal(size=len(town))
    weight = rng.integers(0, 3, len(town))
    rows = rng.permutation(np.repeat(np.arange(len(town)), weight))
    weighted = TablePreparation().fit(frame, y, weight)
    repeated = TablePreparation().fit(frame[rows.tolist()], y[rows])
    assert weighted.columns_[1].encoding == repeated.columns_[1].encoding
    np.testing.assert_allclose(weighted.transform(frame), repeated.transform(frame), atol=1e-9)


def test_only_so_many_categories_are_compared():
    _, _, rng = towns()
    table = {f"town{j}": [f"t{k}" for k in rng.integers(0, 31 + j, 150)] for j in range(7)}
    columns = TablePreparation().fit(pl.DataFrame(table), rng.normal(size=150)).columns_
    compared = [":" in column.encoding for column in columns]
    assert compared == [False, False, True, True, True, True, True]


def test_one_hots_of_rare_values_only_do_not_compete():
    town = np.arange(360) % 120  # one-hots would be one column of all values, which is none
    frame = pl.DataFrame({"x": np.arange(360) % 7 / 3, "town": [f"t{k}" for k in town]})
    found = encoding_of(frame, np.sin(np.arange(360)))
    assert "frequency" in found
    assert "one-hot" not in found


def test_without_time_the_usual_encoding_stays_and_says_so(monkeypatch):
    frame, _, rng = towns(n=200, n_towns=40)
    monkeypatch.setattr(encoding_choice, "learn_rounds", None)
    prepare = TablePreparation()
    rows = prepare._fit_transform(frame, rng.normal(size=200), None, Deadline.after(1e-9))
    assert prepare.columns_[1].encoding == "target, without time to compare it"
    assert np.isfinite(rows).all()
    assert np.isfinite(prepare.transform(frame)).all()


def test_categories_that_were_compared_in_time_keep_their_choice(monkeypatch):
    """The time is over in the comparison of the second one."""
    _, _, rng = towns()
    table = {f"town{j}": [f"t{k}" for k in rng.integers(0, 31 + j, 150)] for j in range(3)}
    deadline, calls = Deadline.after(None), []

    def counted(*arguments, **options):
        calls.append(None)
        if len(calls) == 3 * 4 + 1:  # parts and encodings
            deadline.call_off()
        return learn_rounds(*arguments, **options)

    monkeypatch.setattr(encoding_choice, "learn_rounds", counted)
    prepare = TablePreparation()
    prepare._fit_transform(pl.DataFrame(table), rng.normal(size=150), None, deadline)
    late = [column.encoding.endswith("without time to compare it") for column in prepare.columns_]
    assert late == [True, True, False]
    assert len(calls) == 3 * 4 + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_limit_of_a_search_ends_the_comparison():
    frame, _, rng = towns(n=200, n_towns=40)
    model = AutoKernelRegressor(max_seconds=1e-6).fit(frame, rng.normal(size=200))
    assert model.preparation_.columns_[1].encoding == "target, without time to compare it"
