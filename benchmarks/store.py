"""Results on disk: one JSON file an entry, written row by row, so that a run can be taken up again.

A file holds `machine`, `code`, `settings`, `rows`, `ratios` and `shown`, the table as printed. Its
rows are used again only if machine and code are the same: a ratio then never mixes two machines or
two versions (but see `earlier.py`). A row of a peer does not depend on the library: it is used
again while the code that measures it and the versions of its packages (`peers`) are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.earlier import Earlier, key_of
from benchmarks.objective import ROOT, Row

RESULTS = ROOT / "benchmarks" / "results"


def code_version(root: Path = ROOT) -> str:
    """A short hash of the library and of the code that measures it."""
    return hash_of(root, [*(root / "src" / "kboost").rglob("*.py"), *measuring(root)])


def peers_version(packages: Iterable[str], root: Path = ROOT) -> str:
    """A short hash of the code that measures peers on tables, and versions of their packages."""
    installed = [f"{name} {machine.installed(name)}" for name in packages]
    return ", ".join([hash_of(root, measuring_tables(root)), *installed])


def hash_of(root: Path, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def measuring(root: Path) -> Iterable[Path]:
    yield from (root / "benchmarks" / "datasets").glob("*.py")
    yield from (root / "benchmarks" / "solvers").glob("*.py")
    yield from measuring_tables(root)


def measuring_tables(root: Path) -> Iterable[Path]:
    yield from (root / "benchmarks" / "tabular").glob("*.py")
    yield root / "benchmarks" / "objective.py"


class Store:
    """The rows of one entry."""

    def __init__(
        self,
        path: Path,
        *,
        machine: dict[str, Any],
        version: Callable[[], str] = code_version,
        fresh: bool = False,
        earlier: Earlier | None = None,
    ) -> None:
        self.path, self.version, self.earlier = path, version, earlier
        self.content: dict[str, Any] = {"machine": machine, "code": version(), "settings": {}}
        self.rows: dict[str, Row] = {}
        if not fresh:
            self._take_up()

    def _take_up(self) -> None:
        try:
            old = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return
        if old.get("machine") != self.content["machine"]:
            return
        same = old.get("code") == self.content["code"]
        rows = [row for row in old.get("rows", []) if same or "peers" in row]
        self.rows = {key_of(row["job"]): row for row in rows}

    def row(self, job: dict[str, Any], measure: Callable[[], Row], peers: str | None = None) -> Row:
        """The row of a job: the stored one, or a new one, which is stored at once.

        `peers` is the version of the peers if the row does not depend on the library.
        """
        if (known := self.at_hand(job, peers)) is not None:
            self.rows[key_of(job)] = known
            return known
        row = {"job": job, **measure()} | ({} if peers is None else {"peers": peers})
        if self.earlier is not None:
            self.earlier.confirms(row)
        if self.version() != self.content["code"]:
            raise RuntimeError("the code must not change during a measurement; run it again.")
        if row["status"] != "missing data":  # that is no result, and must not replace one
            self.rows[key_of(job)] = row
            self.write()
        return row

    def at_hand(self, job: dict[str, Any], peers: str | None = None) -> Row | None:
        """The row of a job that need not be measured."""
        known = self.rows.get(key_of(job))
        if known is not None and known["status"] == "ok" and known.get("peers") == peers:
            return known
        return None if self.earlier is None else self.earlier.row(job)

    def finish(
        self,
        settings: dict[str, Any],
        ratios: dict[str, Any],
        used: list[Row],
        shown: dict[str, Any] | None = None,
    ) -> None:
        """Settings and ratios, only the rows that went into them, and what was printed."""
        self.rows = {key_of(row["job"]): row for row in used}
        self.content["settings"] = settings
        self.content["shown"] = shown or {}
        self.write(ratios)

    def write(self, ratios: dict[str, Any] | None = None) -> None:
        """Write everything to a new file, which then replaces the old one."""
        content = {**self.content, "rows": list(self.rows.values()), "ratios": ratios or {}}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        unfinished.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
        os.replace(unfinished, self.path)
