"""`python -m benchmarks.check` (`make bench-check`): did anything get worse since it was stored?

The cheapest stored fits of kboost are repeated, each beside the fastest peer of its entry on the
same rows where there is one. Compared with the stored rows, a result is worse if

    an error    is higher by more than a twentieth and half a percent of the rows (or variance),
    a log loss  is higher by more than a twentieth and 0.01,
    an objective is higher by more than one part in 10,000,
    a ratio of processor seconds, kboost's to the peer's in this run, has more than doubled.

Seconds are never compared with stored seconds. Exit code 1 if anything is worse.

`python -m benchmarks.check --stale` lists the result files of another version of the code.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.objective import Job, Row, judge
from benchmarks.store import RESULTS, code_version
from benchmarks.tabular import friedman, measure

ENTRIES = ("lp_forest", "qp_forest", "path_speed", "table5", "kin40k", "tables")
MOST_JOBS, MOST_SECONDS = 4, 45.0  # of an entry, by the stored processor time
MOST_RATIO = 2.0  # times the stored ratio
LEAST_SECONDS = 1.0  # of a peer: times of shorter fits vary by a factor
LIMITS = {  # relative and absolute
    "error": (0.05, 0.005),
    "test_error": (0.05, 0.005),
    "log_loss": (0.05, 0.01),
    "objective": (1e-4, 0.0),
}


@dataclass(frozen=True)
class Repeat:
    """A stored row of kboost, and that of the fastest peer on the same rows."""

    entry: str
    row: Row
    peer: Row | None

    @property
    def label(self) -> str:
        job = self.row["job"]
        where = job.get("table") or job.get("dataset") or "kin40k"
        names = ("competitor", "dataset_parameters", "features", "draw", "size", "seed")
        parts = [str(job[name]) for name in names if job.get(name) is not None]
        return ", ".join([self.entry, where, *parts])


def chosen(entry: str, rows: Sequence[Row]) -> list[Repeat]:
    """The cheapest rows of kboost in an entry, with their peers."""
    found = [row for row in rows if row["status"] == "ok" and "fit_cpu_seconds" in row]
    ours = sorted((row for row in found if is_ours(row["job"])), key=_seconds)
    out, total = [], 0.0
    for row in ours:
        others = [p for p in found if not is_ours(p["job"]) and _place(p) == _place(row)]
        peers = [p for p in others if _seconds(p) >= LEAST_SECONDS]
        peer = min(peers, key=_seconds, default=None)
        total += _seconds(row) + (_seconds(peer) if peer else 0.0)
        if len(out) == MOST_JOBS or total > MOST_SECONDS:
            break
        out.append(Repeat(entry, row, peer))
    return out


def is_ours(job: dict[str, Any]) -> bool:
    """Whether a job fits a model of kboost with its usual settings."""
    if "competitor" in job:
        return bool(job["competitor"] in ("AutoKernel", "KernelBoost"))
    if "solver" in job:
        return bool(job["solver"].startswith("kboost"))
    return bool(job["method"] == "joint")


def again(job: dict[str, Any]) -> Row:
    """The row of a job, measured now."""
    if "solver" in job:
        return judge(Job(**job))
    if job.get("table") == "friedman1":
        return friedman.judge(friedman.FriedmanJob(**job))
    if "competitor" in job:
        return measure.judge(measure.TableJob(**job))
    from benchmarks.entries.kin40k import guarded

    return guarded(job["method"], job["size"], job["seed"])


def worse(old: Row, new: Row) -> Iterator[str]:
    """What is worse in the new row, in words."""
    if new["status"] != "ok":
        yield f"{new['status']}: {new.get('message', '')}"
        return
    for name, (relative, absolute) in LIMITS.items():
        before, now = old.get(name), new.get(name)
        if before is None:
            continue
        if now is None:
            yield f"{name} {before:.6g} -> none"
        elif not now <= before * (1 + relative) + absolute:
            yield f"{name} {before:.6g} -> {now:.6g}"


def slower(old: tuple[Row, Row], new: tuple[Row, Row]) -> Iterator[str]:
    """Whether the ratio of processor seconds of kboost and its peer has grown, in words."""
    before, now = (_seconds(ours) / _seconds(peer) for ours, peer in (old, new))
    if now > MOST_RATIO * before:
        yield f"ratio to the peer {before:.3g} -> {now:.3g}"


def check(repeats: Sequence[Repeat], run: Callable[[dict[str, Any]], Row] = again) -> list[str]:
    """Repeat the fits, print a line for each, and return what got worse."""
    found = []
    for repeat in repeats:
        new = run(repeat.row["job"])
        words = list(worse(repeat.row, new))
        if repeat.peer is not None and new["status"] == "ok":
            peer = run(repeat.peer["job"])
            if peer["status"] == "ok":
                words += slower((repeat.row, repeat.peer), (new, peer))
        print(f"  {repeat.label}: {'; '.join(words) or 'as good'}", flush=True)
        found += [f"{repeat.label}: {each}" for each in words]
    return found


def stored(entry: str, results: Path = RESULTS) -> list[Row]:
    rows: list[Row] = json.loads((results / f"{entry}.json").read_text())["rows"]
    return rows


def stale(results: Path = RESULTS, version: Callable[[], str] = code_version) -> list[str]:
    """The result files of another version of the code."""
    now = version()
    paths = sorted(results.glob("*.json"))
    return [path.stem for path in paths if json.loads(path.read_text()).get("code") != now]


def _seconds(row: Row) -> float:
    return float(row["fit_cpu_seconds"])


def _place(row: Row) -> str:
    """The rows on which a job fits."""
    job = row["job"]
    names = ("dataset", "dataset_parameters", "table", "features", "draw", "size", "seed")
    return json.dumps([job.get(name) for name in names], sort_keys=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("names", nargs="*", default=ENTRIES, metavar="NAME", help="entries")
    parser.add_argument("--stale", action="store_true", help="list results of other code")
    options = parser.parse_args(arguments)
    if options.stale:
        print("\n".join(stale()) or "every result is of this code")
        return 0
    found = check([repeat for name in options.names for repeat in chosen(name, stored(name))])
    print("\n".join(["worse than stored:", *found]) if found else "nothing is worse than stored")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
