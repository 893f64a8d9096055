"""What counts as a loss in the table of faults."""

import numpy as np
import pytest

from benchmarks.faults.outcome import (
    LOSS,
    MODEL,
    SENTENCE,
    InjectedError,
    after_error,
    after_interrupt,
    sentence,
    usable,
)
from benchmarks.faults.subjects import LABELS, SUBJECTS, X
from benchmarks.faults.trials import pairs
from kboost.core.stopping import INTERRUPTED

SUBJECT = SUBJECTS["KernelBoostClassifier"]


@pytest.fixture(scope="module")
def fitted():
    return SUBJECT.fit(SUBJECT.make())


def test_a_model_after_an_interrupt_must_say_so(fitted):
    before = dict(vars(SUBJECT.make()))
    found = after_interrupt(fitted, before, KeyboardInterrupt(), SUBJECT)
    assert found.verdict == LOSS
    assert "optimal" in found.words
    kept = SUBJECT.fit(SUBJECT.make())
    kept.stop_reason_ = INTERRUPTED
    assert after_interrupt(kept, before, KeyboardInterrupt(), SUBJECT).verdict == MODEL


def test_an_interrupt_that_leaves_nothing_has_words():
    model = SUBJECT.make()
    for error, verdict in ((KeyboardInterrupt(), LOSS), (KeyboardInterrupt("a b."), SENTENCE)):
        assert after_interrupt(model, dict(vars(model)), error, SUBJECT).verdict == verdict


def test_half_a_state_is_a_loss():
    model = SUBJECT.make()
    before = dict(vars(model))
    assert after_error(model, before, ValueError("C must be 1."), SUBJECT).verdict == SENTENCE
    model = SUBJECT.make()
    before = dict(vars(model))
    model.classes_ = np.unique(LABELS)
    assert after_error(model, before, ValueError("C must be 1."), SUBJECT).verdict == LOSS


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (ValueError("C must be positive; got -1."), SENTENCE),
        (InjectedError("theirs"), SENTENCE),
        (KeyError("a b"), LOSS),
        (ValueError("two\nlines"), LOSS),
        (MemoryError(), LOSS),
        (RuntimeError("a raw one"), LOSS),
    ],
)
def test_an_error_is_one_sentence(error, verdict):
    assert sentence(error).verdict == verdict


def test_predictions_must_be_finite(fitted):
    assert usable(fitted).verdict == MODEL

    class Broken:
        def predict(self, rows):
            return np.full(len(rows), np.nan)

    assert usable(Broken()).verdict == LOSS


def test_a_round_has_every_kind_and_every_estimator():
    found = pairs(0)
    assert found != pairs(1)
    assert sorted(found) == sorted(pairs(1))
    assert len({kind for kind, _ in found}) >= 20
    assert {name for _, name in found} >= set(SUBJECTS)
    assert len(X) == len(LABELS)
