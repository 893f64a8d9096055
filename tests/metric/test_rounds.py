"""Rounds of learned widths, and families that are compared by them."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from kboost.core.deadline import Deadline
from kboost.metric import rounds
from kboost.metric.compare import COMPARED, compare_families, judge
from kboost.metric.families import FAMILIES, unit_ranks, unit_variance
from kboost.metric.folds import LearningRows, fold_of, folds_of
from kboost.metric.rounds import learn_rounds

X, Y = make_friedman1(150, n_features=8, noise=0.5, random_state=0)  # features 5 to 7 are noise
ROWS = LearningRows(X, Y[:, None], np.ones(len(X)))
FOLDS = folds_of(ROWS, 3, 2, len(X))
LEARNED = [family for family in FAMILIES if family.learned]
IN_ROUNDS = [family for family in LEARNED if not family.likelihood]
BY_NAME = {family.name: family for family in FAMILIES}


def left_out_error(fit, fold):
    """The error of a fit on the rows left out, computed from its kernel and coefficients."""
    values = fit.kernel(fold.X_left_out, fold.X) @ fit.coef
    return float(np.average(np.sum((values - fold.targets_left_out) ** 2, axis=1)))


@pytest.mark.parametrize("family", LEARNED, ids=lambda family: family.name)
def test_the_errors_are_those_of_the_kernels(family):
    for fit in learn_rounds(family, FOLDS[0]):
        assert fit.error == pytest.approx(left_out_error(fit, FOLDS[0]), rel=1e-4)
        np.testing.assert_allclose(
            fit.left_out,
            fit.kernel(FOLDS[0].X_left_out, FOLDS[0].X) @ fit.coef,
            rtol=1e-4,
            atol=1e-4,
        )


@pytest.mark.parametrize("family", IN_ROUNDS, ids=lambda family: family.name)
def test_the_chosen_round_is_never_worse_than_equal_widths(family):
    fits = learn_rounds(family, FOLDS[0])
    assert (fits[0].scale == 1).all()
    chosen = judge(family, [fits], 0.0)
    assert chosen.error <= fits[0].error
    assert chosen.error == min(fit.error for fit in fits)


@pytest.mark.parametrize("family", LEARNED, ids=lambda family: family.name)
def test_irrelevant_features_get_small_scales(family):
    judged = judge(family, [learn_rounds(family, fold) for fold in FOLDS], 0.0)
    assert judged.n_rounds > 0 or family.likelihood
    assert judged.scale[5:].max() < judged.scale[:5].min()
    assert judged.scale.max() == pytest.approx(1.0)


def test_families_without_slopes_have_one_round():
    for family in FAMILIES:
        if family not in IN_ROUNDS:
            assert len(learn_rounds(family, FOLDS[0])) == 1


def test_widths_by_likelihood_are_found_once_within_the_time(monkeypatch):
    calls, fit_ard = [], rounds.fit_ard

    def counted(*arguments, **options):
        calls.append(options["max_seconds"])
        return fit_ard(*arguments, **options)

    monkeypatch.setattr(rounds, "fit_ard", counted)
    fold = folds_of(ROWS, 3, 1, len(X))[0]
    for name in ("gaussian ARD", "matern ARD"):
        (fit,) = learn_rounds(BY_NAME[name], fold, deadline=Deadline.after(1e-9))
        assert np.isfinite(fit.error)
    assert calls == [1e-9]


def test_families_come_in_the_order_of_their_errors(monkeypatch):
    monkeypatch.setattr("kboost.metric.compare._FAR", 100.0)
    judged, reason = compare_families(FOLDS, FAMILIES[1:5], rounds=1)
    assert reason is COMPARED
    assert {each.family for each in judged} == set(FAMILIES[1:5])
    assert [each.error for each in judged] == sorted(each.error for each in judged)
    assert {len(each.errors) for each in judged} == {len(FOLDS)}


def test_families_far_behind_are_not_tried_on_further_folds():
    judged, _ = compare_families(FOLDS)
    assert "linear" not in {each.family.name for each in judged}
    assert {len(each.errors) for each in judged} == {len(FOLDS)}


def test_without_time_there_is_the_first_family_with_equal_widths(monkeypatch):
    monkeypatch.setattr(rounds, "slopes", None)  # they would take time for nothing
    judged, reason = compare_families(FOLDS, deadline=Deadline.after(1e-9))
    assert [each.family for each in judged] == [FAMILIES[0]]
    assert judged[0].n_rounds == 0
    assert len(judged[0].errors) == 1
    assert reason.rule == "max_seconds"


def test_a_later_comparison_starts_from_an_earlier_one():
    family = BY_NAME["laplacian"]
    before, _ = compare_families(FOLDS[:1], [family])
    again, _ = compare_families(FOLDS[:1], [family], 0, starts={family.name: before[0]})
    np.testing.assert_array_equal(again[0].scale, before[0].scale)
    assert again[0].error <= before[0].error * (1 + 1e-9)
    assert again[0].seconds > before[0].seconds


def test_ctrl_c_keeps_the_families_judged_so_far(monkeypatch):
    calls = []

    def interrupted(family, *arguments):
        calls.append(family.name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return learn_rounds(family, *arguments)

    monkeypatch.setattr("kboost.metric.compare.learn_rounds", interrupted)
    judged, reason = compare_families(FOLDS)
    assert reason.rule == "interrupted"
    assert {each.family.name for each in judged} <= set(calls[:2])
    assert judged


def test_two_values_differ_by_one():
    table = np.column_stack([X[:, 0], (X[:, 1] > 0.9).astype(float), np.full(len(X), 3.0)])
    weight = np.ones(len(X))
    for transform in (unit_variance(table, weight), unit_ranks(table, weight)):
        Z = transform.apply(table)
        assert np.ptp(Z[:, 1]) == pytest.approx(1.0)
        assert np.var(Z[:, 0]) == pytest.approx(1.0, rel=0.05)
        assert np.isfinite(Z).all()


def test_a_wider_length_is_a_smaller_gamma():
    assert BY_NAME["laplacian"].widen(1.0, 2.0) == 0.5
    assert BY_NAME["gaussian"].widen(1.0, 2.0) == 0.25


def test_a_target_with_a_coarse_and_a_fine_part():
    """The error has a minimum at a wide kernel, which sees the product alone."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1600, 4))
    y = np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1]) + X[:, 2] * X[:, 3]
    rows = LearningRows(X, y[:, None], np.ones(len(X)))
    fold = fold_of(rows, np.arange(1200), np.arange(1200, 1600))
    assert learn_rounds(BY_NAME["gaussian"], fold, 0)[0].error < 0.15
