"""Exceptions that kboost raises beside ValueError and TypeError."""

from __future__ import annotations

__all__ = ["OutOfTimeError", "SolverError"]


class SolverError(RuntimeError):
    """A numerical solver failed; the message names the problem and the solver's status."""


class OutOfTimeError(RuntimeError):
    """`max_seconds` was reached before there was a model."""
