"""The interface of an entry: the bench that runs its jobs, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from time import monotonic
from typing import Any

from benchmarks.objective import Job, Row, judge
from benchmarks.store import Store


@dataclass
class Report:
    """An entry's result: a table, the ratios to a peer, and whether its criterion is met."""

    head: Sequence[str]
    lines: Sequence[Sequence[Any]]
    settings: dict[str, Any]
    ratios: dict[str, Any]
    criterion: str = ""
    met: bool | None = None  # None if there is no criterion
    notes: Sequence[str] = ()
    more: Sequence[tuple[str, Sequence[str], Sequence[Sequence[Any]]]] = ()  # title, head, lines

    def shown(self) -> dict[str, Any]:
        """The printed text, which pages quote."""
        names = ("head", "lines", "criterion", "met", "notes", "more")
        return {name: getattr(self, name) for name in names}


@dataclass
class Bench:
    """Runs jobs in sequence, or returns stored rows."""

    store: Store
    repeats: int = 1
    threads: int | None = None
    seconds: float | None = None  # after which no optional job is started
    say: Callable[[str], None] = print
    used: list[Row] = field(default_factory=list)
    started: float = field(default_factory=monotonic)

    def wants(self, job: dict[str, Any], peers: str | None = None) -> bool:
        """Whether an optional job is stored already, or there is time for it."""
        if self.store.at_hand(job, peers) is not None:
            return True
        return self.seconds is None or monotonic() - self.started < self.seconds

    def run(self, job: Job, label: str) -> Row:
        """The job's row; with repeats, the one with the median fit time."""
        job = job if self.threads is None else replace(job, threads=self.threads)
        rows = [self._once(replace(job, repeat=job.repeat + i), label) for i in range(self.repeats)]
        failed = [row for row in rows if row["status"] != "ok"]
        if failed:
            return failed[0]
        middle = median(row["fit_seconds"] for row in rows)
        return min(rows, key=lambda row: abs(row["fit_seconds"] - middle))

    def _once(self, job: Job, label: str) -> Row:
        return self.other(asdict(job), lambda: judge(job), label)

    def other(
        self,
        job: dict[str, Any],
        measure: Callable[[], Row],
        label: str,
        peers: str | None = None,
    ) -> Row:
        """A row that is not measured by `objective`; `peers`: see `Store.row`."""
        row = self.store.row(job, lambda: self._aloud(measure, label), peers)
        self.used.append(row)
        return row

    def _aloud(self, measure: Callable[[], Row], label: str) -> Row:
        row = measure()
        words = f"{row['fit_seconds']:8.2f} s" if "fit_seconds" in row else f"{row['status']:>10}"
        self.say(f"  {label:<44} {words}")
        return row


class SkipError(Exception):
    """An entry cannot run on this machine, for the reason in the message."""


def must(row: Row) -> Row:
    """The row if it is valid; missing data skips the entry, a failure ends it."""
    if row["status"] == "missing data":
        raise SkipError(row["message"])
    if row["status"] != "ok":
        raise RuntimeError(f"{row['status']}: {row['message']}")
    return row
