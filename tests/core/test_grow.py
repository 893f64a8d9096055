"""The loop with a scripted master and oracle: it knows nothing, and always ends with a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kboost.core.column_generation import grow
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.core.stopping import EXHAUSTED, INTERRUPTED, OUT_OF_TIME, MaxIterations, StopReason
from kboost.core.validation import ValidationMonitor
from kboost.exceptions import OutOfTimeError, SolverError


@dataclass(frozen=True)
class Steps:
    """Hypotheses `[x >= threshold]`."""

    def columns(self, members, X):
        return np.stack([(X[:, 0] >= m.threshold).astype(float) for m in members], axis=1)

    def combine(self, members, coef):
        return Part(members, coef)


@dataclass(frozen=True)
class Jump:
    threshold: float
    family: Steps = Steps()


class Part:
    def __init__(self, members, coef):
        self.members, self.coef = members, coef

    def __call__(self, X):
        return Steps().columns(self.members, X) @ self.coef


class Script:
    """Master and oracle in one: offers what the script says, notes every call.

    An entry of the script is a list of thresholds to offer, or an exception to raise instead.
    """

    def __init__(self, offers, on_extend=(), bounds=None, converged=True, last_bound=None):
        self.offers, self.on_extend = list(offers), dict(on_extend)
        self.bounds, self.converged, self.last_bound = bounds, converged, last_bound
        self.calls, self.extends = [], 0
        self.fit = self._fit(0)

    def _fit(self, k):
        objective = 10.0 - k
        return Fit(
            np.arange(1.0, k + 1), float(k), np.zeros(3), np.zeros(3), objective, self.converged
        )

    # the parts
    @property
    def oracle(self):
        return _Started("oracle", self)

    @property
    def master(self):
        return _Started("master", self)

    # the runs
    def finish(self):
        self.calls.append("finish")
        return self.fit

    def complete(self, fit):
        return fit

    def cut_short(self, fit):
        self.calls.append("cut_short")
        return fit

    def propose(self, run):
        assert run is self
        k = self.calls.count("propose")
        self.calls.append("propose")
        offer = self.offers[k] if k < len(self.offers) else []
        if isinstance(offer, BaseException):
            raise offer
        return Proposal(
            ids=np.arange(len(offer)),
            hypotheses=[Jump(t) for t in offer],
            values=np.zeros((3, len(offer))),
            price=float(len(offer)),
            bound=None if self.bounds is None else self.bounds[k],
            n_priced=5,
            complete=self.last_bound is None,
        )

    def bound(self, run):
        assert run is self
        self.calls.append("bound")
        if isinstance(self.last_bound, BaseException):
            raise self.last_bound
        return self.last_bound

    def extend(self, proposal):
        self.calls.append("extend")
        if self.extends in self.on_extend:
            raise self.on_extend[self.extends]
        self.extends += 1
        self.fit = self._fit(len(self.fit.coef) + len(proposal.ids))

    def stop(self, trace):
        self.calls.append("stop")
        return None


class _Started:
    def __init__(self, name, script):
        self.name, self.script = name, script

    def start(self, problem):
        self.script.calls.append(f"start {self.name}")
        assert problem is PROBLEM
        return self.script


PROBLEM = Problem(columns=None, rows=None)


def run(script, stop=None, watch=None):
    return grow(PROBLEM, script.oracle, script.master, stop or script.stop, watch)


def test_order_of_calls():
    script = Script([[1.0], [2.0, 3.0], []])
    grown = run(script)
    assert script.calls == [
        *("start oracle", "start master"),
        *("propose", "stop", "extend"),
        *("propose", "stop", "extend"),
        *("propose", "stop", "finish"),
    ]
    assert grown.reason is EXHAUSTED
    assert [h.threshold for h in grown.hypotheses] == [1.0, 2.0, 3.0]
    assert grown.fit is script.fit
    assert_array_equal(grown.trace.values("n_columns"), [0, 1, 3])
    assert_array_equal(grown.trace.values("objective"), [10, 9, 7])
    assert_array_equal(grown.trace.values("price"), [1, 2, 0])
    assert (np.diff(grown.trace.values("seconds")) >= 0).all()


def test_the_model_is_the_fit_on_its_hypotheses():
    grown = run(Script([[1.0], [2.0, 3.0], []]))
    X = np.array([[0.0], [1.0], [2.5], [9.0]])
    assert_allclose(grown.model.decision(X)[:, 0], 3.0 + np.array([0, 1, 3, 6]))


def test_the_stop_rule_has_the_last_word_on_a_step():
    script = Script([[1.0], [2.0], [3.0], [4.0]])
    grown = run(script, MaxIterations(2))
    assert grown.reason.rule == "max_iter"
    assert script.calls.count("extend") == 2
    assert len(grown.hypotheses) == len(grown.fit.coef) == 2
    assert len(grown.trace) == 3


def test_a_stop_rule_goes_before_exhaustion():
    reason = StopReason("mine", "enough.")
    assert run(Script([[]]), lambda _trace: reason).reason is reason


def test_a_master_that_still_tightens_is_not_exhausted():
    script = Script([[], [], []], converged=False)
    grown = run(script, MaxIterations(2))
    assert grown.reason.rule == "max_iter"
    assert script.calls.count("extend") == 2


ENDINGS = pytest.mark.parametrize(
    ("error", "reason"),
    [(OutOfTimeError("late"), OUT_OF_TIME), (KeyboardInterrupt(), INTERRUPTED)],
)


@ENDINGS
@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_last_finished_step_stands_when_extend_breaks(error, reason, k):
    grown = run(Script([[1.0], [2.0], [3.0]], on_extend={k: error}))
    assert grown.reason is reason
    assert [h.threshold for h in grown.hypotheses] == [1.0, 2.0, 3.0][:k]
    assert_array_equal(grown.fit.coef, np.arange(1.0, k + 1))
    assert grown.fit.objective == grown.trace[-1].objective == 10.0 - k
    assert len(grown.trace) == k + 1


@ENDINGS
@pytest.mark.parametrize("k", [1, 2])
def test_the_last_finished_step_stands_when_propose_breaks(error, reason, k):
    offers = [[1.0], [2.0], [3.0]]
    offers[k] = error
    grown = run(Script(offers))
    assert grown.reason is reason
    assert len(grown.hypotheses) == len(grown.fit.coef)
    assert grown.fit.objective == grown.trace[-1].objective
    assert len(grown.trace) == k
    grown.model.decision(np.zeros((2, 1)))


@ENDINGS
def test_broken_off_before_the_first_step(error, reason):
    grown = run(Script([error]))
    assert grown.reason is reason
    assert grown.hypotheses == []
    assert len(grown.trace) == 0
    assert grown.gap is None
    assert_array_equal(grown.model.decision(np.zeros((2, 1))), np.zeros((2, 1)))


def test_a_solver_that_fails_leaves_the_last_finished_step():
    script = Script([[1.0], [2.0]], on_extend={1: SolverError("it is broken.")}, last_bound=6.0)
    grown = run(script)
    assert grown.reason.rule == "solver"
    assert str(grown.reason).endswith("the last finished step stands: it is broken.")
    assert [jump.threshold for jump in grown.hypotheses] == [1.0]
    assert grown.gap == pytest.approx((9.0 - 6.0) / 9.0)  # what is still proven
    assert "finish" not in script.calls


@pytest.mark.parametrize("error", [SolverError("broken"), ValueError("wrong")])
def test_other_errors_pass(error):
    with pytest.raises(type(error), match=str(error)):
        run(Script([[1.0]], on_extend={0: error}))


def test_gap_is_that_of_the_kept_fit_to_the_best_bound():
    grown = run(Script([[1.0], [2.0], []], bounds=[4.0, 6.0, 5.0]))
    assert_array_equal(grown.trace.values("bound"), [4.0, 6.0, 6.0])
    assert grown.gap == pytest.approx((8.0 - 6.0) / 8.0)
    assert run(Script([[1.0], []])).gap is None


def test_who_has_not_seen_everything_looks_once_more_at_the_end():
    script = Script([[1.0], [2.0], [3.0]], last_bound=6.0)
    grown = run(script, MaxIterations(2))
    assert script.calls[-3:] == ["propose", "finish", "bound"]
    assert_array_equal(grown.trace.values("bound"), [np.nan, np.nan, 6.0])
    assert grown.gap == pytest.approx((8.0 - 6.0) / 8.0)
    assert not grown.trace[-1].complete


def test_and_also_when_time_runs_out_but_not_after_an_interrupt():
    late, stopped = (
        run(Script([[1.0], [2.0]], on_extend={1: error}, last_bound=6.0))
        for error in (OutOfTimeError("late"), KeyboardInterrupt())
    )
    assert (late.reason, stopped.reason) == (OUT_OF_TIME, INTERRUPTED)
    assert late.gap == pytest.approx((9.0 - 6.0) / 9.0)
    assert stopped.gap is None


def test_an_interrupt_of_the_last_look_keeps_the_model():
    grown = run(Script([[1.0], [2.0]], last_bound=KeyboardInterrupt()), MaxIterations(1))
    assert grown.reason is INTERRUPTED
    assert len(grown.hypotheses) == 1
    assert grown.gap is None


class Errors:
    """A watch with a scripted error a step."""

    def __init__(self, errors):
        self.errors, self.sizes = list(errors), []

    def error(self, hypotheses, fit):
        assert len(hypotheses) == len(fit.coef)
        self.sizes.append(len(hypotheses))
        return self.errors[len(self.sizes) - 1]


@pytest.mark.parametrize(
    ("errors", "best"),
    [
        ([0.5, 0.4, 0.3, 0.2], 3),
        ([0.5, 0.1, 0.3, 0.2], 1),
        ([0.1, 0.1, 0.1, 0.1], 0),  # ties go to the smaller model
        ([0.5, 0.3, 0.2, 0.2], 2),
    ],
)
def test_a_watch_keeps_the_best_step(errors, best):
    watch = Errors(errors)
    grown = run(Script([[1.0], [2.0], [3.0], []]), watch=watch)
    assert watch.sizes == [0, 1, 2, 3]
    assert len(grown.fit.coef) == best
    assert [h.threshold for h in grown.hypotheses] == [1.0, 2.0, 3.0][:best]
    assert_array_equal(grown.trace.values("validation_error"), errors)


@ENDINGS
def test_a_watch_keeps_the_best_step_also_when_broken_off(error, reason):
    grown = run(Script([[1.0], [2.0], [3.0]], on_extend={2: error}), watch=Errors([0.3, 0.1, 0.2]))
    assert grown.reason is reason
    assert len(grown.hypotheses) == len(grown.fit.coef) == 1


def test_a_watch_judges_the_model_on_its_rows_and_evaluates_columns_once():
    X = np.linspace(-1, 4, 11)[:, None]
    seen, evaluated = [], []

    class Counting(Steps):
        def columns(self, members, X):
            evaluated.extend(m.threshold for m in members)
            return super().columns(members, X)

    def loss(decision):
        seen.append(decision)
        return 1.0 / len(seen)

    family = Counting()
    watch = ValidationMonitor(X, loss)
    hypotheses = [Jump(t, family) for t in (0.0, 1.0, 2.0)]
    for k in (0, 1, 1, 3):
        coef = np.arange(1.0, k + 1)
        fit = Fit(coef, 0.5, np.zeros(0), np.zeros(0), 0.0)
        assert watch.error(hypotheses[:k], fit) == 1.0 / len(seen)
        expected = 0.5 + sum(
            c * (X[:, 0] >= h.threshold) for c, h in zip(coef, hypotheses, strict=False)
        )
        assert_allclose(seen[-1], expected * np.ones(11))
    assert evaluated == [0.0, 1.0, 2.0]


def test_every_step_is_logged(caplog):
    with caplog.at_level("INFO", logger="kboost"):
        grown = run(Script([[1.0], []]))
    assert [r.getMessage() for r in caplog.records] == [
        *(str(step) for step in grown.trace),
        str(grown.reason),
    ]
