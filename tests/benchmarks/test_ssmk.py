"""The judgement of the semi-supervised entry, on errors that are made up."""

import pytest

from benchmarks.entries.ssmk import compare, differences


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
