"""The judgement of the semi-supervised entry, on errors that are made up."""

import numpy as np
import pytest

from benchmarks.entries import ssmk_protocols
from benchmarks.entries.ssmk import compare, differences, inductive
from kboost import presets


def rows(ours, theirs):
    parts = ("unlabelled", "test")
    return {
        "SSMK": [dict.fromkeys(parts, error) for error in ours],
        "IMK": [dict.fromkeys(parts, error) for error in theirs],
    }


def test_differences_are_in_points_and_trial_by_trial():
    assert differences(rows([0.3, 0.2], [0.4, 0.1]), "test") == pytest.approx([-10.0, 10.0])


@pytest.mark.parametrize(
    ("n_labels", "ours", "met"),
    [(10, 0.29, True), (50, 0.305, False), (100, 0.305, True), (100, 0.32, False)],
)
def test_few_labels_must_gain_and_many_must_not_lose_a_point(n_labels, ours, met):
    found = compare(n_labels, rows([ours, ours], [0.3, 0.3]))
    assert found["met"] is met
    assert found["test"] == pytest.approx(100 * (ours - 0.3))


def test_protocols_compare_draw_by_draw():
    found = ssmk_protocols.compare([0.3, 0.2], [0.4, 0.2])
    assert found == pytest.approx({"SSMK": 25.0, "IMK": 30.0, "difference": -5.0, "error": 5.0})


@pytest.mark.parametrize("protocol", ssmk_protocols.PROTOCOLS)
def test_pixels_are_prepared_by_the_rows_seen(protocol):
    seen = np.array([[0.0, 2.0, 5.0], [4.0, 2.0, 1.0]])
    shift, scale = ssmk_protocols.preparation(protocol, seen)
    expected = {"as they are": seen, "own, by spread": [[-1, 0, 1], [1, 0, -1]]}
    centred = [[-2, 0, 2], [2, 0, -2]]
    np.testing.assert_allclose((seen - shift) / scale, expected.get(protocol, centred))


def test_imk_is_ssmk_without_unlabelled_rows():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1])
    ours = presets.ssmk(len(y), unlabelled=None).fit(X, y)
    theirs = inductive(len(y)).fit(X, y)
    np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), atol=1e-8)
