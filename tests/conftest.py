"""What all tests share: a clock for one module, and Hypothesis.

Hypothesis draws the same cases in every run; `--hypothesis-profile=explore` draws new ones.
"""

from __future__ import annotations

import gc
import time
from types import SimpleNamespace

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("repeatable")


def pytest_collection(session):
    """Collection makes a million objects that stay: looking for garbage takes a third of it."""
    gc.disable()


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


@pytest.fixture
def clock_of(monkeypatch):
    """Give a module a clock of its own; a cluster of other tests has threads that need theirs."""

    def give(module, monotonic):
        own = SimpleNamespace(monotonic=monotonic, time=time.time)
        monkeypatch.setattr(f"{module}.time", own)

    return give
