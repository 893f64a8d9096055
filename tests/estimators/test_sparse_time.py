"""`max_seconds` covers the choice of kernels and ridge; clocks here count looks, not time."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.protocols import Problem
from kboost.exceptions import OutOfTimeError
from kboost.formulations import TargetRows
from kboost.kernels import Gaussian
from kboost.kernels.default import default_kernels
from kboost.local.choice import _ALL_RIDGES, choose_local, choose_local_ridge
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows
from kboost.masters._joint_objective import JointObjective
from kboost.masters.losses import LOSSES
from kboost.masters.preconditioned_cg import PCGMaster, PCGRun
from kboost.oracles.ensemble import EnsembleOracle
from kboost.plans import cells as cells_plan
from kboost.plans import least_squares
from kboost.selection.kernels import ROWS, SelectionSample, _best_ridge, choose, sample_size

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(240, 3))
Y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * RNG.normal(size=240)
SAMPLE = SelectionSample(X, (Y - Y.mean())[:, None], np.ones(240))
ROWS_OF_CELLS = LocalRows(X, np.arange(240), (Y - Y.mean())[:, None], np.ones(240))
CANDIDATES = default_kernels(X)[2:]
CUT = "max_seconds cut the choice of kernels and ridge short."


class Looks:
    """A deadline that is over after so many looks at it; parts of it are itself."""

    def __init__(self, count):
        self.count = count

    @property
    def remaining(self):
        self.count -= 1
        return 100.0 if self.count >= 0 else 0.0

    @property
    def seconds(self):
        return 100.0 if self.count > 0 else 0.0

    def share(self, count):
        return self


def error_of(kernel):
    return _best_ridge([kernel], SAMPLE, NO_LIMIT)[0]


@pytest.mark.parametrize("kernels", ["auto", "ard", ["rbf"]])
def test_a_choice_with_time_enough_is_that_without_a_limit(kernels):
    plain = choose(kernels, "auto", SAMPLE)
    assert plain.finished
    assert choose(kernels, "auto", SAMPLE, Deadline.after(1e6)) == plain


@pytest.mark.parametrize(("looks", "judged"), [(0, []), (2, [1]), (4, [1, 4]), (6, [1, 4, 0])])
def test_the_best_of_those_judged_is_chosen(looks, judged):
    """The middle width of the Gaussians, then that of the Laplacians, then the others."""
    found = choose("auto", "auto", SAMPLE, Looks(looks))
    assert not found.finished
    among = [CANDIDATES[i] for i in judged] or [CANDIDATES[1]]
    assert found.kernels == (min(among, key=error_of),)
    ridge = _best_ridge(found.kernels, SAMPLE, NO_LIMIT)[1] if judged else 1e-2
    assert found.ridge == ridge
    assert choose("auto", 0.5, SAMPLE, Looks(looks)).ridge == 0.5


def test_kernels_that_are_given_have_a_plain_ridge_without_time():
    found = choose([3.0 * Gaussian(0.5)], "auto", SAMPLE, Looks(0))
    assert not found.finished
    assert found.ridge == pytest.approx(0.03)  # of their diagonal
    assert choose([Gaussian(0.5)], 0.2, SAMPLE, Looks(0)).finished  # nothing is left to choose


def test_the_sample_is_as_large_as_time_allows():
    """The time is cubic in the rows, and they come in steps."""

    def size(seconds, kernels="auto", ridge=1.0):
        return sample_size(kernels, ridge, Deadline.after(seconds))

    assert [size(s) for s in (None, 1e3, 7.9, 0.6, 1e-9)] == [ROWS, ROWS, 700, 400, 200]
    assert size(5.0) == size(5.001)
    assert size(1e-9, ["rbf"], "auto") == size(1e-9, "ard") == 200
    assert size(1e-9, [Gaussian("mean")]) == ROWS  # nothing is judged on them


def test_a_limit_that_is_not_met_changes_nothing_that_was_given():
    rows = RNG.uniform(-2, 2, size=(1500, 3))
    y = np.sin(2 * rows[:, 0])
    model = SparseKernelRegressor([Gaussian("mean")], ridge=0.1, max_columns=10)
    plain = model.fit(rows, y).kernels_
    assert model.set_params(max_seconds=15.0).fit(rows, y).kernels_ == plain
    assert "max_seconds" not in str(model.stop_reason_)


def test_given_kernels_and_ridge_are_no_choice_in_cells():
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=80, max_seconds=1e-9)
    model.fit(X, Y)
    assert not str(model.stop_reason_).endswith(CUT)
    assert (model.choice_.metric, model.choice_.ridge) == ("given", 0.1)


def local(deadline=NO_LIMIT):
    return choose_local(ROWS_OF_CELLS, 80, np.random.default_rng(1), Executor(), deadline)


def test_a_local_choice_with_time_enough_is_that_without_a_limit():
    (plain, finished), (limited, in_time) = local(), local(Deadline.after(1e6))
    assert finished
    assert in_time
    assert (limited.kernel, limited.ridge) == (plain.kernel, plain.ridge)
    assert list(limited.errors.items()) == list(plain.errors.items())


@pytest.mark.parametrize("looks", [0, 5, 12, 40, 200, 900])
def test_a_local_choice_is_made_whenever_time_ends(looks):
    found, finished = local(Looks(looks))
    assert not finished
    assert found.ridge > 0
    assert (found.errors == {}) == (looks < 10)  # eight of them are for widths to begin with
    if not found.errors:
        assert found.metric == "standardised"
        K = found.kernel(X)
        assert_allclose(np.exp(np.log(K).mean()), np.exp(-1), rtol=0.1)  # one mean distance
    else:
        least = min(found.errors, key=found.errors.get)
        later = [name for name in found.errors if not name.endswith("in parts")]
        assert found.metric == least.removesuffix(", in parts") or found.metric in later


@pytest.mark.parametrize("seed", range(3))
def test_errors_of_a_choice_that_is_cut_are_over_the_same_cells(seed):
    """Noise in half of the space: an error in one of the other cells would be far too low."""
    rng = np.random.default_rng(seed)
    y = np.where(X[:, 0] > 0, rng.normal(size=len(X)), np.sin(2 * X[:, 1]))
    rows = LocalRows(X, np.arange(240), (y - y.mean())[:, None], np.ones(240))

    def found(deadline):
        return choose_local(rows, 60, np.random.default_rng(seed), Executor(), deadline)[0]

    every = Looks(10**9)
    best = min(e for name, e in found(every).errors.items() if "parts" not in name)
    total = 10**9 - every.count
    for looks in range(total - 12 + seed, total, 3):  # each of the last twelve, once
        later = [e for name, e in found(Looks(looks)).errors.items() if "parts" not in name]
        assert min(later, default=best) >= best * (1 - 1e-12)


def local_ridge(deadline=NO_LIMIT, factor=1.0):
    kernels = [factor * Gaussian(0.5)]
    return choose_local_ridge(ROWS_OF_CELLS, 80, kernels, np.random.default_rng(1), deadline)


def test_a_local_ridge_is_chosen_among_those_judged():
    plain, _ = local_ridge()
    enough, finished = local_ridge(Deadline.after(1e6))
    assert finished
    assert (enough.ridge, enough.errors) == (plain.ridge, plain.errors)
    none, _ = local_ridge(Looks(0), factor=3.0)
    assert (none.ridge, none.errors) == (pytest.approx(0.03), {})
    one, finished = local_ridge(Looks(2))
    assert one.ridge == pytest.approx(1e-2)
    assert one.errors["given"] > 0
    assert not finished
    several, _ = local_ridge(Looks(6))  # five, around the middle
    assert np.any(np.isclose(several.ridge, _ALL_RIDGES[4:9]))
    assert several.errors["given"] <= one.errors["given"]


def test_a_second_cell_that_is_not_judged_in_full_does_not_count():
    first, _ = local_ridge(Looks(1 + len(_ALL_RIDGES)))
    more, _ = local_ridge(Looks(1 + len(_ALL_RIDGES) + 3))
    assert (more.ridge, more.errors) == (first.ridge, first.errors)


@pytest.mark.parametrize("cells", [None, 80])
def test_half_of_the_time_is_for_the_choice(monkeypatch, cells):
    asked = []
    module, name = (least_squares, "choose") if cells is None else (cells_plan, "choose_local")
    real = getattr(module, name)

    def watched(*arguments):
        asked.append(arguments[-1].remaining)
        return real(*arguments)

    monkeypatch.setattr(module, name, watched)
    SparseKernelRegressor(cells=cells, max_columns=5, max_seconds=1e6).fit(X, Y)
    assert len(asked) == 1
    assert asked[0] == pytest.approx(5e5, rel=1e-3)


@pytest.mark.parametrize("cells", [None, 80])
@pytest.mark.parametrize("kernels", ["auto", "ard", ["rbf"]])
def test_no_time_at_all_leaves_a_model_and_its_reason(cells, kernels):
    model = SparseKernelRegressor(kernels, cells=cells, max_seconds=1e-9).fit(X, Y)
    assert model.stop_reason_.rule == "max_seconds"
    assert str(model.stop_reason_).startswith("max_seconds")
    assert str(model.stop_reason_).endswith(CUT)
    assert_allclose(model.predict(X), Y.mean())
    plenty = SparseKernelRegressor(kernels, cells=cells, max_columns=5, max_seconds=1e6).fit(X, Y)
    assert CUT not in str(plenty.stop_reason_)


def test_reading_the_rows_counts(monkeypatch, clock_of):
    """Time that is over when the rows are there is over."""
    now = [0.0]
    clock_of("kboost.core.deadline", lambda: now[0])
    real = SparseKernelRegressor._checked

    def slow(self, *arguments, **options):
        now[0] += 2.0
        return real(self, *arguments, **options)

    monkeypatch.setattr(SparseKernelRegressor, "_checked", slow)
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, max_seconds=1.0).fit(X, Y)
    assert model.n_columns_ == 0
    assert "max_seconds" in str(model.stop_reason_)


@pytest.mark.parametrize("update", ["joint", "full", "one"])
def test_other_losses_have_their_offset_without_time(update):
    labels = (np.arange(240) % 4 == 0).astype(int)
    model = SparseKernelClassifier(loss="log", update=update, max_seconds=1e-9).fit(X, labels)
    assert model.n_columns_ == 0
    assert_allclose(model.predict_proba(X)[:, 1], 0.25, atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "log", "hinge"])
def test_time_that_ends_the_last_solution_is_told(loss, monkeypatch):
    def out_of_time(run):
        run._deadline.call_off()
        run._deadline.check()

    model = SparseKernelClassifier(
        [Gaussian(0.5)], loss=loss, ridge=0.1, max_columns=30, max_seconds=1e6
    )
    monkeypatch.setattr(PCGRun, "finish", out_of_time)
    model.fit(X, Y > 0)
    assert str(model.stop_reason_).startswith("max_columns=30 reached")
    assert str(model.stop_reason_).endswith(
        "before the coefficients were final; raise max_seconds."
    )
    assert model.n_columns_ > 0


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_the_last_solution_does_not_begin_without_time(loss, monkeypatch):
    """Columns that nearly depend on each other are solved for directly, which takes long."""

    def not_now(*_):
        raise AssertionError("begun")

    monkeypatch.setattr(JointObjective, "optimum", not_now)
    problem = Problem(
        CandidateColumns([Gaussian(0.01)], X), TargetRows.of(np.sign(Y)[:, None], np.ones(240))
    )
    deadline = Deadline.after(1e6)
    run = PCGMaster(LOSSES[loss], 1e-3, capacity=40).start(replace(problem, deadline=deadline))
    oracle = EnsembleOracle("random", 40, 60, ridge=1e-3, max_columns=40, evaluate=False)
    run.extend(oracle.start(problem).propose(run))
    with pytest.raises(AssertionError, match="begun"):
        run.finish()
    deadline.call_off()
    with pytest.raises(OutOfTimeError):
        run.finish()


@pytest.mark.parametrize("cells", [None, 80])
def test_ctrl_c_while_kernels_are_chosen_makes_one_step_with_the_best_so_far(cells, monkeypatch):
    module = "least_squares" if cells is None else "cells"

    def cut_short(work, deadline):
        deadline.call_off()
        return work(), True

    monkeypatch.setattr(f"kboost.plans.{module}.until_interrupted", cut_short)
    model = SparseKernelRegressor(cells=cells)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.stop_reason_.rule == "interrupted"
    assert model.n_columns_ > 0
    assert np.isfinite(model.predict(X)).all()
