"""Exceptions and warnings of kboost beside ValueError, TypeError and scikit-learn's own."""

from __future__ import annotations

__all__ = ["AllLabelledWarning", "OutOfTimeError", "SolverError", "UnpredictedClassWarning"]


class SolverError(RuntimeError):
    """A numerical solver failed; the message names the problem and the solver's status."""


class OutOfTimeError(RuntimeError):
    """`max_seconds` was reached before there was a model."""


class AllLabelledWarning(UserWarning):
    """A semi-supervised classifier was fitted without unlabelled rows."""


class UnpredictedClassWarning(UserWarning):
    """A fitted classifier predicts one of its classes for none of its training rows."""
