"""Weights are repetitions, order does not matter, and no row sees its own target."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kboost.preparation import TablePreparation

pl = pytest.importorskip("polars")


def table(n, seed=0, n_cities=60):
    rng = np.random.default_rng(seed)
    city = rng.integers(0, n_cities, n)
    number = rng.normal(size=n)
    number[rng.random(n) < 0.2] = np.nan
    words = ["red", "old", "big", "new", "far", "low"]
    frame = pl.DataFrame(
        {
            "city": [f"c{c}" for c in city],
            "number": number,
            "colour": rng.choice(["red", "blue", "rare1", "green"], n, p=[0.4, 0.3, 0.02, 0.28]),
            "note": [" ".join(rng.choice(words, 4)) + f" {i}" for i in range(n)],
        }
    )
    return frame, rng


@pytest.mark.parametrize("many", ["auto", "target", "mean", "one-hot", "frequency", "both"])
def test_a_weight_is_a_repetition_and_the_order_does_not_matter(many):
    frame, rng = table(400)
    y = rng.normal(size=400)
    weight = rng.integers(0, 4, 400)
    rows = rng.permutation(np.repeat(np.arange(400), weight))
    weighted, repeated = TablePreparation(many=many), TablePreparation(many=many)
    found = weighted.fit_transform(frame, y, sample_weight=weight)
    again = repeated.fit_transform(frame[rows.tolist()], y[rows])
    assert [c.kind for c in weighted.columns_] == ["category", "number", "category", "text"]
    np.testing.assert_allclose(again, found[rows], atol=1e-9)
    np.testing.assert_allclose(repeated.transform(frame), weighted.transform(frame), atol=1e-9)


def test_a_repeated_id_is_an_id():
    frame, _ = table(100)
    frame = frame.with_columns(id=pl.Series([f"p{i}" for i in range(100)]))
    rows = [*range(100), 3, 3, 8]
    for given in (frame, frame[rows]):
        assert TablePreparation().fit(given).columns_[-1].kind == "left out"


def test_the_scale_of_small_weights_does_not_matter():
    frame, rng = table(300)
    y = rng.normal(size=300)
    one, small = TablePreparation(), TablePreparation()
    np.testing.assert_allclose(
        one.fit_transform(frame, y), small.fit_transform(frame, y, np.full(300, 1 / 300))
    )


def test_a_category_without_influence_has_no_signal():
    """In sample, the plain mean of two rows per value would explain half of the target."""
    r = []
    for seed in range(5):
        frame, rng = table(1000, seed, n_cities=500)
        y = rng.normal(size=1000)
        frame = frame.select("city", "number")
        means = TablePreparation(many="target").fit_transform(frame, y)[:, 0]
        r.append(0.0 if np.ptp(means) < 1e-12 else np.corrcoef(means, y)[0, 1])
    assert np.mean(r) < 0.05
    assert np.max(np.abs(r)) < 0.2


def test_a_category_with_influence_is_judged_alike_in_training_and_on_new_rows():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 120, 1200)
    y = rng.normal(size=120)[city] + rng.normal(size=1200)
    frame = pl.DataFrame({"city": [f"c{c}" for c in city], "x": rng.normal(size=1200)})
    means = TablePreparation(many="target").fit_transform(frame, y)[:, 0]
    slope = np.polyfit(means, y, 1)[0]
    assert 0.85 < slope < 1.15  # a mean that saw its own row would have a smaller one on new rows
    pandas_frame = frame.to_pandas()
    model = make_pipeline(TablePreparation(), LinearRegression())
    assert cross_val_score(model, pandas_frame, y, cv=3).mean() > 0.35  # 0.5 with known effects


def test_a_table_with_one_column_of_many_values_keeps_its_signal():
    """Equal rows cannot be told apart; their levels would be unseen in all other folds."""
    rng = np.random.default_rng(0)
    city = np.repeat(np.arange(40), 50)
    y = rng.normal(size=40)[city] + 0.1 * rng.normal(size=2000)
    frame = pl.DataFrame({"city": [f"c{c}" for c in city]})
    prepare = TablePreparation(many="target")
    means = prepare.fit_transform(frame, y)[:, 0]
    assert prepare.columns_[0].kind == "category"
    assert np.corrcoef(means, y)[0, 1] > 0.9


def test_rare_levels_are_near_the_mean():
    rng = np.random.default_rng(0)
    city = np.append(rng.integers(0, 40, 2000), 99)
    y = np.append(rng.normal(size=2000) + 0.5 * rng.normal(size=40)[city[:-1]], 8.0)
    frame = pl.DataFrame({"city": [f"c{c}" for c in city], "x": rng.normal(size=2001)})
    means = TablePreparation(many="target").fit(frame, y).transform(frame)[:, 0]
    assert 0.1 < means[-1] < 4.0
