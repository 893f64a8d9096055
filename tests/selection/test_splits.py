"""Rows on which C is chosen: splits, and a sample where classes are many."""

from __future__ import annotations

import numpy as np
import pytest

from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.plans.training_data import TrainingData
from kboost.selection.c_path import ENOUGH_ROWS, split_rows


def rows_of_classes(n: int, n_classes: int) -> MergedRows:
    rng = np.random.default_rng(0)
    return merge_rows(rng.normal(size=(n, 2)), rng.integers(0, n_classes, n), np.ones(n))


def keys(rows: MergedRows) -> set[bytes]:
    return {x.tobytes() for x in rows.X}


def splits_of(rows: MergedRows, n_outputs: int) -> list[tuple[MergedRows, MergedRows]]:
    rng = np.random.RandomState(0)
    return split_rows(TrainingData(rows), rng, stratify=True, n_outputs=n_outputs)


@pytest.mark.parametrize("n", [300, 1500, 2400, 12_000])
def test_training_and_held_out_rows_are_disjoint_rows_of_the_table(n):
    rows = rows_of_classes(n, 4)
    for training, held_out in splits_of(rows, 4):
        assert not keys(training) & keys(held_out)
        assert keys(training) | keys(held_out) <= keys(rows)


def test_many_rows_of_many_classes_are_sampled_class_by_class():
    rows = rows_of_classes(12_000, 4)
    ((training, held_out),) = splits_of(rows, 4)
    for part in (training, held_out):
        assert len(part.weight) == pytest.approx(ENOUGH_ROWS, abs=4)
        shares = np.bincount(part.codes) / len(part.codes)
        np.testing.assert_allclose(shares, np.bincount(rows.codes) / 12_000, atol=2e-3)


def test_a_rare_class_stays_in_the_sample():
    rng = np.random.default_rng(1)
    codes = np.append(rng.integers(0, 3, 12_000), np.full(5, 3))
    rows = merge_rows(rng.normal(size=(len(codes), 2)), codes, np.ones(len(codes)))
    ((training, _),) = splits_of(rows, 4)
    assert set(training.codes) == {0, 1, 2, 3}


def test_two_classes_keep_all_rows():
    ((training, held_out),) = splits_of(rows_of_classes(12_000, 2), 1)
    assert len(training.weight) + len(held_out.weight) == 12_000
