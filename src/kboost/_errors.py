"""Errors that cross the layers."""

from __future__ import annotations


class SolverError(RuntimeError):
    """A numerical solver gave up; the message says on what and how it ended."""


class OutOfTimeError(RuntimeError):
    """The time limit came while a solver was at work; the last finished state stands."""
