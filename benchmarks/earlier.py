"""Rows of an earlier version of the code, for entries that take hours.

A change anywhere in the library gives it another version, and all is measured anew. Where rows
follow from their job alone, an earlier file of the same machine can be taken over instead: every
tenth row is measured again, and a single one that comes out otherwise, times apart, ends the run.
A row that was taken over names its code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.objective import Row

EVERY = 10


class Earlier:
    def __init__(self, path: Path, machine: dict[str, Any]) -> None:
        old = json.loads(path.read_text())
        if old["machine"] != machine:
            raise ValueError(f"--earlier must be a result of this machine; got {path.name}")
        self.code = old["code"]
        self.rows: dict[str, Row] = {
            key_of(row["job"]): {"code": self.code, **row} for row in old["rows"] if lasting(row)
        }

    def row(self, job: dict[str, Any]) -> Row | None:
        """The earlier row of a job; None if there is none or the job must be measured again."""
        key = key_of(job)
        again = int(sha256(key.encode()).hexdigest(), 16) % EVERY == 0
        return None if again else self.rows.get(key)

    def confirms(self, row: Row) -> bool:
        """Check that a new row equals the earlier one, if there was one."""
        known = self.rows.get(key_of(row["job"]))
        if known is None or not lasting(row):
            return False
        if untimed(row) != untimed(known):
            raise RuntimeError(f"{row['job']} must have the result of code {self.code}.")
        return True

    def words(self, used: Iterable[Row]) -> str:
        used = list(used)
        taken = sum("code" in row for row in used)
        same = sum("code" not in row and self.confirms(row) for row in used)
        return (
            f"{taken} of {len(used)} rows were taken over from code {self.code}; {same} of its "
            "rows were measured again, and came out the same but for their times"
        )


def lasting(row: Row) -> bool:
    """Whether the row is determined by its job, and not by the speed of the machine."""
    return row["status"] == "ok" and not row.get("ended_early")


def untimed(row: Row) -> Row:
    kept = {key: value for key, value in row.items() if key != "code" and "seconds" not in key}
    stored: Row = json.loads(json.dumps(kept))  # as in a file, where tuples are lists
    return stored


def key_of(job: dict[str, Any]) -> str:
    return json.dumps(job, sort_keys=True)
