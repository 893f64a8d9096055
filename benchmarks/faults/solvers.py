"""Solvers that fail: HiGHS with a status other than optimal, Cholesky, memory."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import highspy
import numpy as np

from benchmarks.faults.kind import Begin, Kind, one_of_calls
from benchmarks.faults.outcome import Outcome, attempt
from benchmarks.faults.subjects import Subject
from kboost.masters import margin as _margin  # noqa: F401  (loads the masters)
from kboost.solvers import highs

_STATUS = highspy.HighsModelStatus
_STATUSES = (
    _STATUS.kSolveError,
    _STATUS.kUnknown,
    _STATUS.kIterationLimit,
    _STATUS.kInfeasible,
    _STATUS.kTimeLimit,
)


class _Failing:
    """A solver of HiGHS that answers another status at some of its runs."""

    at, count, runs, status = 1 << 60, 1, 0, _STATUSES[0]

    def __init__(self) -> None:
        self._model = highspy.Highs()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def run(self) -> Any:
        _Failing.runs += 1
        return self._model.run()

    def getModelStatus(self) -> Any:  # noqa: N802
        kind = _Failing
        failing = kind.at <= kind.runs < kind.at + kind.count
        return kind.status if failing else self._model.getModelStatus()


def _status(count: int) -> Kind:
    def failing(subject: Subject, draw: Random, begin: Begin) -> Outcome:
        names = {name: getattr(highspy, name) for name in dir(highspy)}
        module = type("highspy", (), {**names, "Highs": _Failing})
        with patch.object(highs, "highspy", module):
            model = subject.fit(subject.make())
            at = one_of_calls(draw, _Failing.runs)
            model = model if draw.random() < 0.5 else subject.make()
            _Failing.runs, _Failing.count = 0, count
            _Failing.at, _Failing.status = at, draw.choice(_STATUSES)
            begin()
            return attempt(subject, model, recover=_recover)

    return Kind(failing)


def _recover() -> None:
    _Failing.at = 1 << 60


def _cholesky(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """LAPACK finds a matrix that is not positive definite, where it was asked in any way."""
    import scipy.linalg

    left = [1 << 60]

    def failing(plain: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise np.linalg.LinAlgError("not positive definite at row 3.")
            return plain(*arguments, **options)

        return call

    with (
        patch("scipy.linalg.cholesky", failing(scipy.linalg.cholesky)),
        patch("scipy.linalg.cho_factor", failing(scipy.linalg.cho_factor)),
        patch("numpy.linalg.cholesky", failing(np.linalg.cholesky)),
        patch("numpy.linalg.solve", failing(np.linalg.solve)),
        patch("numpy.linalg.eigh", failing(np.linalg.eigh)),
    ):
        model = subject.fit(subject.make())
        left[0] = one_of_calls(draw, (1 << 60) - left[0])
        model = model if draw.random() < 0.5 else subject.make()
        begin()
        return attempt(subject, model, recover=lambda: left.__setitem__(0, 1 << 60))


KINDS = {
    "HiGHS not optimal, once": _status(1),
    "HiGHS not optimal, twice": _status(2),
    "HiGHS not optimal, from then on": _status(1 << 60),
    "factorisation fails": Kind(_cholesky),
}
