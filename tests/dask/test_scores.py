"""Scores from sums of partitions are those of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

pytest.importorskip("distributed", reason="kboost[dask] is not installed")

from kboost.dask._scores import score_of, sums_of

PARTS = [slice(0, 0), slice(0, 7), slice(7, 8), slice(8, 40)]


@pytest.mark.parametrize("kind", ["labels", "numbers", "two targets", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_add_up(kind, weighted):
    rng = np.random.default_rng(0)
    y, predicted = 1e6 + rng.normal(size=(2, 40, 2))
    weight = rng.integers(0, 3, 40).astype(float) if weighted else None
    if kind == "labels":
        y, predicted = (np.where(v[:, 0] > 1e6, "b", "a") for v in (y, predicted))
    elif kind == "numbers":
        y, predicted = y[:, 0], predicted[:, 0]
    elif kind == "constant":
        y, predicted = np.ones(40), predicted[:, 0]
    metric = accuracy_score if kind == "labels" else r2_score
    each = [(predicted[at], y[at], None if weight is None else weight[at]) for at in PARTS]
    labels = kind == "labels"
    found = score_of([sums_of(*part, labels=labels) for part in each], labels=labels)
    assert found == pytest.approx(metric(y, predicted, sample_weight=weight), rel=1e-9)


def test_rows_of_y_that_are_missing_are_named():
    with pytest.raises(ValueError, match="y must have one value per row; got 2 for 3 rows"):
        sums_of(np.zeros(3), np.zeros(2), labels=False)
    with pytest.raises(ValueError, match="X must have at least one row"):
        score_of([sums_of(np.zeros(0), np.zeros(0), labels=False)], labels=False)
