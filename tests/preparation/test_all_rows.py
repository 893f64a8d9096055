"""A preparation of a sample, with the means and frequencies of levels over all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kboost.preparation import TablePreparation, all_rows
from kboost.preparation.all_rows import joined_rows, levels_of, with_all_rows
from kboost.preparation.target import target_columns

TASKS = {"regression": "regression", "two": "classification", "four": "classification"}


def table(n=600, n_towns=80, seed=0):
    """A number with gaps, a town with gaps, a colour; and targets of each kind."""
    rng = np.random.default_rng(seed)
    town = rng.integers(n_towns, size=n)
    number = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    names = np.array([f"t{k}" for k in range(n_towns)], dtype=object)[town]
    names[rng.random(n) < 0.05] = None
    colour = rng.choice(["red", "green", "blue"], n)
    value = 2 * np.sin(town) + rng.normal(size=n)
    four = np.array(["a", "b", "c", "d"])[np.digitize(value, [-1, 0, 1])]
    targets = {"regression": value, "two": value > 0, "four": four}
    return pd.DataFrame({"number": number, "town": names, "colour": colour}), targets


def completed(frame, y, *, sample, parts, task="regression", many="target", weight=None):
    """The preparation of some rows, completed by all rows in so many parts."""
    weight = np.ones(len(y)) if weight is None else weight.astype(float)
    preparation = TablePreparation(many=many, target_type=task)
    preparation.fit(frame.iloc[sample], y[sample], weight[sample])
    pieces = np.array_split(np.arange(len(y)), parts)
    levels = joined_rows([levels_of(preparation, frame.iloc[piece]) for piece in pieces])
    target = target_columns(y[sample], weight[sample], task)
    return with_all_rows(preparation, levels, y, weight, target)


@pytest.mark.parametrize("many", ["target", "mean", "frequency", "both"])
@pytest.mark.parametrize("kind", TASKS)
def test_a_sample_of_all_rows_gives_what_a_fit_gives(kind, many):
    frame, targets = table()
    y, weight = targets[kind], np.random.default_rng(1).integers(0, 3, 600)
    everything = np.arange(600)
    made = completed(
        frame, y, sample=everything, parts=4, task=TASKS[kind], many=many, weight=weight
    )
    local = TablePreparation(many=many, target_type=TASKS[kind])
    encoded = local.fit_transform(frame, y, weight)
    np.testing.assert_allclose(made.transform(frame), encoded, atol=1e-9)
    new = frame.assign(town="nowhere")
    for rows in (frame, new):
        found = made.preparation.transform(rows)
        np.testing.assert_allclose(found, local.transform(rows), atol=1e-9)


@pytest.mark.parametrize("kind", TASKS)
def test_levels_outside_the_sample_have_their_means(kind):
    frame, targets = table()
    sample = np.flatnonzero(~frame["town"].isin(["t3", "t4", "t5"]))[:150]
    made = completed(frame, targets[kind], sample=sample, parts=3, task=TASKS[kind])
    local = TablePreparation(many="target", target_type=TASKS[kind]).fit(frame, targets[kind])
    place, other = (p.columns_[1].output for p in (made.preparation, local))
    found = made.preparation.transform(frame)[:, place]
    np.testing.assert_allclose(found, local.transform(frame)[:, other], atol=1e-9)
    assert made.preparation.columns_[1].note == local.columns_[1].note


def test_parts_do_not_matter():
    frame, targets = table()
    sample = np.arange(0, 600, 4)
    one, many = (completed(frame, targets["two"], sample=sample, parts=k) for k in (1, 7))
    np.testing.assert_array_equal(one.transform(frame), many.transform(frame))


def test_a_weight_is_a_repetition():
    frame, targets = table()
    y, rng = targets["regression"], np.random.default_rng(2)
    weight = rng.integers(1, 4, 600)
    rows = np.concatenate([np.arange(600), np.repeat(np.arange(600), weight - 1)])
    sample = np.arange(200)  # the same rows of both
    twice = np.concatenate([sample, 600 + np.arange((weight[:200] - 1).sum())])
    weighted = completed(frame, y, sample=sample, parts=2, weight=weight)
    repeated = completed(frame.iloc[rows], y[rows], sample=twice, parts=3)
    np.testing.assert_allclose(weighted.transform(frame), repeated.transform(frame), atol=1e-9)


def test_the_scale_of_small_weights_does_not_matter():
    frame, targets = table()
    frame["number"] = np.random.default_rng(3).normal(size=600)  # no row twice
    y, sample = targets["regression"], np.arange(200)
    small = completed(frame, y, sample=sample, parts=2, weight=np.full(600, 1 / 600))
    ones = completed(frame, y, sample=sample, parts=2)
    np.testing.assert_allclose(small.transform(frame), ones.transform(frame), atol=1e-9)


def test_a_row_does_not_see_its_own_target():
    """With another target, a row is encoded as before."""
    frame, targets = table()
    y = targets["regression"]
    changed = y.copy()
    changed[7], changed[8] = y[7] + 50.0, y[8] - 50.0  # the mean of all rows stays
    sample = np.arange(100, 300)
    before, after = (completed(frame, z, sample=sample, parts=2) for z in (y, changed))
    same, other = frame.iloc[7:8], frame.assign(number=0.5).iloc[7:8]
    town = before.preparation.columns_[1].output.start
    assert frame["town"][7] != frame["town"][8]
    moved = abs(after.preparation.transform(other) - before.preparation.transform(other))[0, town]
    own = abs(after.transform(same) - before.transform(same))[0, town]
    assert own < moved / 3  # how far means are shrunk may change


def test_rows_of_one_content_per_level_see_the_means_of_all_rows():
    town = np.repeat(np.arange(40), 5)
    frame = pd.DataFrame({"town": [f"t{k}" for k in town]})
    y = np.sin(town)
    made = completed(frame, y, sample=np.arange(200), parts=2)
    np.testing.assert_array_equal(made.transform(frame), made.preparation.transform(frame))
    assert len(np.unique(made.transform(frame)[:, 0])) == 40


def test_levels_beyond_the_most_frequent_are_taken_for_unseen(monkeypatch):
    monkeypatch.setattr(all_rows, "_LEVELS", 50)
    frame, targets = table()
    y = targets["regression"]
    made = completed(frame, y, sample=np.arange(150), parts=2).preparation
    often = frame["town"].value_counts(sort=False).sort_index()
    kept = often.sort_values(ascending=False, kind="stable").index[:50]
    unseen = made.transform(frame.assign(town="nowhere"))
    rare = ~frame["town"].isin(kept) & frame["town"].notna()
    encoded = made.transform(frame)
    assert rare.sum() > 50
    np.testing.assert_array_equal(encoded[rare], unseen[rare])
    assert (encoded[frame["town"].isin(kept)] != unseen[frame["town"].isin(kept)]).any(axis=1).all()
    assert made.columns_[1].note.startswith("80 values: ")
