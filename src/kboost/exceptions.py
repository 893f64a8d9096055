"""Exceptions and warnings of kboost besides ValueError, TypeError and scikit-learn's own."""

from __future__ import annotations

__all__ = [
    "AllLabelledWarning",
    "LongFitWarning",
    "OutOfTimeError",
    "SolverError",
    "UnpredictedClassWarning",
]


class SolverError(RuntimeError):
    """A numerical solver failed; the message names the problem and the solver's status."""


class OutOfTimeError(RuntimeError):
    """The signal of a part that the time limit is reached inside a step; the last step is kept.

    For authors of masters and oracles: `fit` catches it and never raises it.
    """


class LongFitWarning(UserWarning):
    """A fit begins that may take much more than a minute, without a time limit."""


class AllLabelledWarning(UserWarning):
    """A semi-supervised classifier was fitted without unlabelled rows."""


class UnpredictedClassWarning(UserWarning):
    """A fitted classifier predicts one of its classes for none of its training rows."""
