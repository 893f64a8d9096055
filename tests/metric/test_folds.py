"""Rows left out: every row once, classes in proportion, whatever the order of the input."""

import numpy as np
import pytest

from kboost.data.indexed_rows import indexed_rows
from kboost.metric.folds import LearningRows, deal, folds_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
CODES = (np.arange(60) % 6 == 0).astype(int)  # 10 of 60
SIGNS = 2.0 * CODES[:, None] - 1


def learning_rows(order):
    rows, _ = indexed_rows(X[order], SIGNS[order], np.ones(60)).by_center()
    return LearningRows(X[order][rows.order], rows.targets, rows.weight, labels=True)


def test_every_row_is_left_out_once():
    folds = folds_of(learning_rows(np.arange(60)), 5, 5, 60)
    assert np.array_equal(np.sort(np.concatenate([fold.left_out for fold in folds])), np.arange(60))
    assert all(len(fold.X) + len(fold.left_out) == 60 for fold in folds)


def test_every_part_has_each_class_in_proportion():
    rows = learning_rows(np.arange(60))
    part = deal(rows, 5)
    counts = np.array([np.bincount(rows.kinds[part == p], minlength=2) for p in range(5)])
    assert (counts == [10, 2]).all()


def test_the_parts_do_not_depend_on_the_order_of_the_rows():
    one = folds_of(learning_rows(np.arange(60)), 5, 5, 60)
    other = folds_of(learning_rows(RNG.permutation(60)), 5, 5, 60)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.X_left_out, second.X_left_out)
        np.testing.assert_array_equal(first.X, second.X)


def test_targets_are_centred_by_the_training_rows():
    fold = folds_of(learning_rows(np.arange(60)), 5, 1, 60)[0]
    assert fold.weight @ fold.targets == pytest.approx(0.0, abs=1e-12)
    assert set(np.round(fold.targets_left_out + fold.mean, 12).ravel()) == {-1.0, 1.0}


def test_at_most_so_many_rows_are_for_training():
    folds = folds_of(learning_rows(np.arange(60)), 5, 2, 20)
    assert [len(fold.X) for fold in folds] == [20, 20]
    assert [len(fold.left_out) for fold in folds] == [12, 12]


def test_classes_of_several_columns():
    targets = 2 * np.eye(3)[np.arange(9) % 3] - 1
    rows = LearningRows(X[:9], targets, np.ones(9), labels=True)
    assert np.array_equal(rows.kinds, np.arange(9) % 3)
    assert not LearningRows(X[:9], targets, np.ones(9)).kinds.any()
