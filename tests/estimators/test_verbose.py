"""`verbose=1` shows the steps of every estimator on standard error, through logging."""

import io
import logging
import sys

import pytest
from sklearn.base import clone

from kboost import KernelBoostClassifier
from kboost._estimator.progress import _LossyHandler
from kboost.kernels import Linear
from tests.fitted import MODELS, one_of_each, public_estimators

QUIET = {"CompositeSVC", "CompositeSVR"}  # a single call of libsvm
LOUD = [name for name in one_of_each() if type(MODELS[name][0]).__name__ not in QUIET]


def test_the_others_have_no_such_parameter():
    assert {cls.__name__ for cls in public_estimators() if "verbose" not in cls().get_params()} == (
        QUIET
    )


@pytest.mark.parametrize("name", LOUD)
def test_verbose_shows_the_steps(name, capsys, caplog):
    estimator, rows, y = MODELS[name]
    with caplog.at_level(logging.INFO, "kboost"):
        clone(estimator).set_params(verbose=1).fit(rows, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(caplog.records) >= 1
    assert all(line.startswith("kboost  ") for line in lines)
    handlers = logging.getLogger("kboost").handlers
    assert not [h for h in handlers if isinstance(h, _LossyHandler)]


def test_a_closed_standard_error_does_not_end_a_fit(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    model = KernelBoostClassifier([Linear()], C=1.0, verbose=1).fit([[0.0], [1.0]], [0, 1])
    assert model.stop_reason_.rule == "tol"
