"""Hypothesis draws the same cases in every run; `--hypothesis-profile=explore` looks for new ones."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("repeatable")
