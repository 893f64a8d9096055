"""How long a search may take, and how large a table may be: for the estimators and `suggest`."""

from __future__ import annotations

SECONDS, SECONDS_ROWS = 60.0, 20_000  # the time limit up to so many rows; then in proportion
MOST_ENTRIES = 1 << 27  # of a sparse table up to which it is searched as a dense one


def time_limit(n_rows: int) -> float:
    """The seconds that "auto" stands for."""
    return SECONDS * max(1.0, n_rows / SECONDS_ROWS)
