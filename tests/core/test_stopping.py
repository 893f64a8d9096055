"""Every stop rule fires exactly when it should, and says why."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace

import pytest

from kboost.core.deadline import Deadline
from kboost.core.stopping import (
    EXHAUSTED,
    INTERRUPTED,
    OUT_OF_TIME,
    AnyOf,
    ErrorPriceBelow,
    GapBelow,
    MaxColumns,
    MaxIterations,
    PriceBelow,
    StopReason,
    ValidationStall,
    imprecise,
    out_of_time,
)
from kboost.core.trace import Step

STEP = Step(
    iteration=3,
    n_columns=10,
    objective=2.0,
    bound=None,
    price=0.5,
    n_priced=100,
    seconds=1.0,
)


def one(**changes):
    return [replace(STEP, **changes)]


def many(name, values):
    return [replace(STEP, iteration=k, **{name: value}) for k, value in enumerate(values)]


CASES = [
    # rule, trace, the rule's name if it fires
    (PriceBelow(0.1), one(price=0.11), None),
    (PriceBelow(0.1), one(price=0.1), "tol"),
    (PriceBelow(0.1), one(price=0.0), "tol"),
    (PriceBelow(0.0), one(price=0.0), "tol"),
    (PriceBelow(0.0), one(price=1e-300), None),
    (PriceBelow(0.1), one(price=0.0, converged=False), None),
    (PriceBelow(0.1), one(price=0.0, complete=False), None),  # nothing found is not nothing left
    (ErrorPriceBelow(0.1), one(error_price=None, price=0.0), None),
    (ErrorPriceBelow(0.1), one(error_price=0.11, price=0.0), None),
    (ErrorPriceBelow(0.1), one(error_price=0.1), "stop_at_errors"),
    (ErrorPriceBelow(0.0), one(error_price=0.0, complete=False), "stop_at_errors"),
    (ErrorPriceBelow(0.1), one(error_price=0.0, converged=False), None),
    (GapBelow(0.1), one(bound=None), None),
    (GapBelow(0.1), one(bound=1.7), None),
    (GapBelow(0.25), one(bound=1.5), "gap"),
    (GapBelow(0.1), one(bound=1.9), "gap"),
    (GapBelow(0.0), one(bound=2.0), "gap"),
    (GapBelow(0.0), one(objective=0.0, bound=0.0), "gap"),
    (MaxColumns(11), one(n_columns=10), None),
    (MaxColumns(10), one(n_columns=10), "max_columns"),
    (MaxColumns(9), one(n_columns=10), "max_columns"),
    (MaxIterations(4), one(iteration=3), None),
    (MaxIterations(3), one(iteration=3), "max_iter"),
    (ValidationStall(2), many("validation_error", [0.5]), None),
    (ValidationStall(2), many("validation_error", [0.5, 0.6]), None),
    (ValidationStall(2), many("validation_error", [0.5, 0.6, 0.6]), "validation"),
    (ValidationStall(2), many("validation_error", [0.5, 0.5, 0.5]), "validation"),
    (ValidationStall(2), many("validation_error", [0.5, 0.6, 0.4]), None),
    (ValidationStall(2), many("validation_error", [0.5, 0.6, 0.4, 0.5]), None),
    (ValidationStall(2), many("validation_error", [0.5, 0.6, 0.4, 0.5, 0.4]), "validation"),
    (ValidationStall(2), many("validation_error", [None] * 6), None),
    (ValidationStall(1), many("validation_error", [None, 0.5, None]), "validation"),
    (ValidationStall(2, 11), many("validation_error", [0.5, 0.6, 0.6]), None),  # too few columns
    (ValidationStall(2, 10), many("validation_error", [0.5, 0.6, 0.6]), "validation"),
]


@pytest.mark.parametrize(("rule", "trace", "name"), CASES)
def test_fires_exactly_when_it_should(rule, trace, name):
    reason = rule(trace)
    assert (reason.rule if reason else None) == name


@pytest.mark.parametrize(
    ("rule", "trace", "said"),
    [
        (PriceBelow(0.6), one(), ["tol=0.6", "optimal"]),
        (PriceBelow(0.6), one(bound=1.9), ["tol=0.6", "within 5.0e-02 of the optimum"]),
        (GapBelow(0.2), one(bound=1.9), ["tol=0.2", "gap 5.0e-02"]),
        (MaxColumns(10), one(), ["max_columns=10", "price 0.5", "raise max_columns or tol"]),
        (MaxIterations(3), one(), ["max_iter=3", "price 0.5", "raise max_iter or tol"]),
        (
            ValidationStall(2),
            many("validation_error", [0.5, 0.25, 0.5, 0.5]),
            ["0.25", "step 1", "2 steps", "kept"],
        ),
    ],
)
def test_the_reason_names_parameter_and_value(rule, trace, said):
    reason = rule(trace)
    assert str(reason) == reason.message
    assert reason.message.endswith(".")
    for words in said:
        assert words in reason.message


def test_no_price_is_told_where_nothing_was_priced():
    """There is no room for another column, which is not to say that none would help."""
    reason = MaxColumns(10, has_tol=False)(one(price=0.0, n_priced=0))
    assert reason.message == "max_columns=10 reached; raise max_columns."


def test_fixed_reasons_are_sentences():
    assert [r.rule for r in (INTERRUPTED, EXHAUSTED, OUT_OF_TIME)] == [
        "interrupted",
        "exhausted",
        "max_seconds",
    ]
    assert all(str(r).endswith(".") for r in (INTERRUPTED, EXHAUSTED, OUT_OF_TIME))


def test_any_of_takes_the_first_in_the_order_given():
    columns, iterations, never = MaxColumns(10), MaxIterations(3), MaxColumns(99)
    assert AnyOf((never, columns, iterations))(one()).rule == "max_columns"
    assert AnyOf((never, iterations, columns))(one()).rule == "max_iter"
    assert AnyOf((never,))(one()) is None
    assert AnyOf(())(one()) is None


def test_any_of_asks_no_further_once_there_is_a_reason():
    def refuse(_trace):
        raise AssertionError("asked after the reason was found")

    reason = StopReason("mine", "enough.")
    assert AnyOf((lambda _trace: reason, refuse))(one()) is reason


@pytest.mark.parametrize(("bound", "optimal"), [(1.9999, True), (1.99, False), (1.0, False)])
def test_optimal_is_said_only_where_the_gap_agrees(bound, optimal):
    reason = PriceBelow(1e-4)(one(price=0.0, bound=bound))
    assert reason.message.startswith("optimal") == optimal
    assert ("lower tol" in reason.message) != optimal


def test_advice_to_scale_columns_says_whom_it_is_for():
    for reason in (PriceBelow(1e-4)(one(price=0.0, bound=1.0)), imprecise(1e-3)):
        assert "column_scaling='floored' where it is None" in reason.message


def test_the_reason_of_a_time_limit_names_it_where_the_user_gave_one():
    assert str(out_of_time(Deadline.after(0.75), one()[-1])) == (
        "max_seconds=0.75 reached; best remaining price 0.5; raise max_seconds."
    )
    assert str(out_of_time(Deadline.after(None), None)) == "max_seconds reached; raise max_seconds."


def test_a_deadline_goes_to_other_processes_by_the_time_of_day(clock_of):
    soon, late = Deadline.after(50.0), Deadline.after(None)
    off = Deadline.after(50.0)
    off.call_off()
    sent = [pickle.dumps(each) for each in (soon, late, off)]
    start = time.monotonic()
    clock_of("kboost.core.deadline", lambda: start + 1e6)  # that of another machine
    soon, late, off = map(pickle.loads, sent)
    assert 40.0 < soon.remaining <= 50.0
    assert late.seconds is None
    assert off.remaining == 0.0
