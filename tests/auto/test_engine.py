"""The engine of the final fit: judged on rows left out, with a default without time."""

import numpy as np
import pytest

from kboost.auto import engine as engine_module
from kboost.auto import trial_rows
from kboost.auto.engine import EngineStep, EngineTrials, choose_engine, engines_for
from kboost.auto.final_fit import (
    CELLS,
    FEW_COLUMNS,
    ONE_PROBLEM,
    OVERLAPPING,
    Engine,
    Member,
    fit_members,
)
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import iterate
from kboost.data.indexed_rows import indexed_rows
from kboost.kernels import Gaussian
from kboost.metric.folds import LearningRows
from kboost.settings import Cells

SMALL = Engine("cells", Cells(60))
WIDE = Engine("overlapping cells", Cells(120, overlap=1.0))
FEW = Engine("few columns", columns=40)


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    y = np.sin(3 * X[:, :1]) * X[:, 1:2] + X[:, :d].mean(axis=1, keepdims=True)
    return LearningRows(X, y + 0.05 * rng.normal(size=(n, 1)), np.ones(n))


def tried(member, engines, learning):
    trials = EngineTrials(member, engines, learning, NO_LIMIT)
    reason = iterate(trials)
    return trials, reason


@pytest.mark.parametrize(
    ("n_rows", "n_features", "engines"),
    [
        (6000, 9, (ONE_PROBLEM,)),
        (6001, 9, (CELLS, OVERLAPPING)),
        (60_000, 784, (CELLS, OVERLAPPING, FEW_COLUMNS)),
    ],
)
def test_engines_by_size(n_rows, n_features, engines):
    assert engines_for(n_rows, n_features) == engines


def test_an_engine_is_judged_on_rows_left_out():
    learning = table(600, 2)
    member = Member(Gaussian(1.0), 0.1, 1.0)
    trials, reason = tried(member, (SMALL, WIDE), learning)
    assert reason.rule == "engines"
    left = np.arange(120)
    rest = np.arange(120, 600)
    for step in trials.trace:
        rows = indexed_rows(learning.X[rest], learning.targets[rest], learning.weight[rest])
        fitted = fit_members(
            [member], learning.X[rest], rows, labels=False, engine=step.engine
        ).model
        away = fitted.decision(learning.X[left]) - learning.targets[left]
        assert step.error == pytest.approx(np.mean(away**2), rel=1e-6)
    assert trials.best() is WIDE  # borders cost more than noise here
    assert trials.trace[1].error < 0.9 * trials.trace[0].error


def test_few_columns_win_where_cells_are_not_local():
    learning = table(600, 30)
    trials, _ = tried(Member(Gaussian(0.005), 0.1, 1.0), (SMALL, FEW), learning)
    assert trials.best() is FEW


def test_plain_cells_stand_unless_another_engine_is_better_by_a_margin(monkeypatch):
    trials, _ = tried(Member(Gaussian(1.0), 0.1, 1.0), (SMALL, WIDE), table(600, 2))
    ratio = trials.trace[1].error / trials.trace[0].error
    monkeypatch.setitem(engine_module._MARGIN, WIDE, 0.99 * ratio)
    assert trials.best() is SMALL


def test_without_time_the_default_stands():
    learning = table(600, 2)
    engine, reason, row_seconds = choose_engine(
        [Member(Gaussian(1.0), 0.1, 1.0)], 50_000, learning, Deadline.after(1e-9)
    )
    assert engine is CELLS
    assert row_seconds == 0
    assert reason.rule == "max_seconds"


def test_after_ctrl_c_the_engines_so_far_compete(monkeypatch):
    real = trial_rows.fit_members

    def once(*args, engine, **options):
        if engine is OVERLAPPING:
            raise KeyboardInterrupt
        return real(*args, engine=engine, **options)

    monkeypatch.setattr(trial_rows, "fit_members", once)
    engine, reason, _ = choose_engine([Member(Gaussian(1.0), 0.1, 1.0)], 50_000, table(600, 2))
    assert engine is CELLS
    assert reason.rule == "interrupted"


def test_an_engine_without_the_time_for_all_rows_and_members_is_not_taken():
    trials, _ = tried(Member(Gaussian(1.0), 0.1, 1.0), (SMALL, WIDE), table(600, 2))
    assert trials.n_rows == 480
    assert EngineTrials(trials._member, (SMALL,), table(600, 2), NO_LIMIT).n_rows == 0
    assert trials.best(2 * trials.trace[1].seconds) is WIDE
    assert trials.best(0.5 * trials.trace[1].seconds) is SMALL
    assert trials.best(0.0) is SMALL


@pytest.mark.parametrize(("n_members", "engine"), [(1, OVERLAPPING), (3, CELLS)])
def test_the_seconds_of_the_sample_are_those_of_a_part_of_the_rows(monkeypatch, n_members, engine):
    """A sample of 480 of 48,000 rows that takes 1 s leaves 100 s per member."""
    errors = iter([1.0, 0.5])

    def fitted(self):
        if len(self.trace) == 2:
            return engine_module._TRIED
        return EngineStep((CELLS, OVERLAPPING)[len(self.trace)], next(errors), 1.0)

    monkeypatch.setattr(EngineTrials, "advance", fitted)
    monkeypatch.setattr(EngineTrials, "n_rows", 480)
    members = [Member(Gaussian(1.0), 0.1, 1.0)] * n_members
    found = choose_engine(members, 48_000, table(600, 2), NO_LIMIT, Deadline.after(200))
    assert found.engine is engine
    assert found.row_seconds == pytest.approx(1 / 480)


def test_ctrl_c_while_the_sample_is_drawn_leaves_the_default(monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine_module, "TrialRows", interrupted)
    engine, reason, _ = choose_engine([Member(Gaussian(1.0), 0.1, 1.0)], 50_000, table(600, 2))
    assert engine is CELLS
    assert reason.rule == "interrupted"
