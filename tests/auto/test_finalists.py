"""Finalists with many rows: judged as final models, on rows of the whole table."""

from dataclasses import replace

import numpy as np
import pytest

from kboost.auto import finalists, search, trial_rows
from kboost.auto.candidates import find_candidates
from kboost.auto.final_fit import CELLS, Engine, fit_members, members_of
from kboost.auto.finalists import judge_finalists
from kboost.auto.plan import AutoPlan
from kboost.auto.target_scale import TargetScale
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.data.indexed_rows import indexed_rows
from kboost.metric.families import FAMILIES
from kboost.metric.folds import LearningRows
from kboost.settings import Cells

LOG = TargetScale("log")


def two_regions(n=900, seed=0):
    """A wave along one feature for half of the rows, along the other for the rest."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    side = X[:, 0] > 0
    y = np.where(side, np.sin(9 * X[:, 1]), np.sin(9 * X[:, 0])) + 0.05 * rng.normal(size=n)
    return LearningRows(X, 3.0 + y[:, None], np.ones(n))


def plan_for(learning, **options):
    def scorer(values, rows):
        return -float(np.mean((values - learning.targets[rows]) ** 2))

    return AutoPlan(scorer, **{"families": FAMILIES[1:3], "rounds": 1, **options})


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    monkeypatch.setattr(search, "_CELL_ROWS", 150)
    monkeypatch.setattr(finalists, "CELLS", Engine("cells", Cells(150)))


def found(learning, plan, scales=()):
    return find_candidates(plan, learning, scales, NO_LIMIT, ())[0]


@pytest.mark.parametrize("scale", [None, LOG])
def test_finalists_are_scored_as_final_models_on_rows_left_out(scale):
    learning = two_regions()
    plan = plan_for(learning)
    before = found(learning, plan, [] if scale is None else [scale])
    if scale is not None:  # the log wins
        before.sort(key=lambda c: c.scale.kind != "log")
    judged, reason = judge_finalists(plan, before, learning)
    assert reason.rule == "finalists"
    names = {each.name for each in judged[:2]}
    assert before[0].name in names
    assert any(name.endswith(" learned in cells") for name in names)
    assert judged[0].score >= judged[1].score
    assert judged[2:] == before[1:]
    left, rest = np.arange(180), np.arange(180, 900)
    for each in judged[:2]:
        targets = each.scale.apply(learning.targets)
        rows = indexed_rows(learning.X[rest], targets[rest], learning.weight[rest])
        members = members_of(each, learning)
        fitted = fit_members(
            members, learning.X[rest], rows, labels=False, engine=finalists.CELLS
        ).model
        values = fitted.decision(learning.X[left])
        plain = each.scale.with_residuals(values, targets[left]).invert(values)
        assert each.score == pytest.approx(plan.scorer(plain, left), rel=1e-6)
        np.testing.assert_allclose(each.values, plain, rtol=1e-6)
        np.testing.assert_array_equal(each.rows, left)
        assert each.spread > 0


@pytest.mark.parametrize("better", [0, 1])
def test_the_better_finalist_is_first(monkeypatch, better):
    learning = two_regions()
    plan = plan_for(learning)
    before = found(learning, plan)
    calls = []

    def values(self, members, engine, deadline):
        calls.append(members)
        truth = learning.targets[self.fold.left_out]
        return truth + (0.1 if len(calls) - 1 == better else 0.2)

    monkeypatch.setattr(trial_rows.TrialRows, "values", values)
    judged, _ = judge_finalists(plan, before, learning)
    assert judged[0].name.endswith(" learned in cells") == bool(better)
    assert judged[0].score == pytest.approx(-0.01)
    assert judged[1].score == pytest.approx(-0.04)


def test_without_time_nothing_is_learned_and_the_candidates_stay(monkeypatch):
    learning = two_regions()
    plan = plan_for(learning)
    before = found(learning, plan)
    monkeypatch.delattr(finalists, "search_in_cells")
    judged, reason = judge_finalists(plan, before, learning, Deadline.after(1e-9))
    assert judged == before
    assert reason.rule == "max_seconds"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (search, "local_folds"),
        (finalists, "candidates_of"),
        (finalists, "TrialRows"),
        (finalists, "members_of"),
        (trial_rows, "fit_members"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_ctrl_c_leaves_the_candidates(monkeypatch, module, name):
    learning = two_regions()
    plan = plan_for(learning)
    before = found(learning, plan)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, interrupted)
    judged, reason = judge_finalists(plan, before, learning)
    assert judged == before
    assert reason.rule == "interrupted"


def test_a_finalist_without_a_score_decides_nothing():
    learning = two_regions()
    plan = plan_for(learning)
    before = found(learning, plan)
    judged, _ = judge_finalists(
        replace(plan, scorer=lambda values, rows: -np.inf), before, learning
    )
    assert judged == before


def test_cells_for_learning_differ_and_are_not_larger_than_a_cell():
    learning = two_regions()
    best = found(learning, plan_for(learning))[0].members[0][0]
    first, second = search.local_folds(learning, best)
    assert not set(first.left_out) & set(second.left_out)
    equal = replace(learning, X=np.repeat([[0.0], [1.0]], 450, axis=0)[:, [0, 0]])
    for fold in search.local_folds(equal, best):
        assert len(fold.weight) + len(fold.left_out) == 150


def test_every_class_is_among_the_rows_left_out():
    rng = np.random.default_rng(0)
    codes = np.append(rng.integers(0, 2, size=990), np.full(10, 2))
    order = rng.permutation(1000)
    targets = np.where(np.eye(3)[codes[order]] > 0, 1.0, -1.0)
    learning = LearningRows(rng.normal(size=(1000, 2)), targets, np.ones(1000), labels=True)
    trial = trial_rows.TrialRows(learning)
    left = codes[order][trial.fold.left_out]
    assert len(trial) + len(left) == 1000
    assert len(left) == pytest.approx(200, abs=2)
    np.testing.assert_array_equal(np.bincount(left)[2], 2)


def test_families_without_a_width_are_not_learned_again():
    learning = two_regions()
    linear = [family for family in FAMILIES if family.name == "linear"]
    plan = plan_for(learning, families=linear)
    before = found(learning, plan)
    judged, reason = judge_finalists(plan, before, learning)
    assert judged == before
    assert reason.rule == "compared"


def test_a_blend_is_fitted_whole():
    learning = two_regions()
    plan = plan_for(learning)
    blend = next(c for c in found(learning, plan) if len(c.members) > 1)
    values = trial_rows.TrialRows(learning).values(members_of(blend, learning), CELLS, NO_LIMIT)
    alone = [
        trial_rows.TrialRows(learning).values([replace(m, weight=1.0)], CELLS, NO_LIMIT)
        for m in members_of(blend, learning)
    ]
    parts = [part for _, part in blend.members]
    np.testing.assert_allclose(values, np.average(alone, axis=0, weights=parts), rtol=1e-9)


def test_transforms_are_compared_on_the_same_rows(monkeypatch):
    """Scores of a target and of its logarithm rank candidates, so their rows must be equal."""
    for name, rows in {"_FEW": 80, "_SOME": 240, "_SAMPLE": 200, "_LEFT": 200}.items():
        monkeypatch.setattr(search, name, rows)
    learning = two_regions(800)
    plan = plan_for(learning, families=FAMILIES[2:3], rounds=0, blend=False)
    plain, logged = found(learning, plan, [LOG])
    assert {plain.scale.kind, logged.scale.kind} == {"identity", "log"}
    np.testing.assert_array_equal(plain.rows, logged.rows)
    assert len(np.unique(plain.rows)) == len(plain.rows)
