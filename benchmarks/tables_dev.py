"""Tune on the tables without their test quarters: `python -m benchmarks.tables_dev`.

Each job is a competitor on a tuning split (see `tabular/data.py`), in a process of its own, one
after the other, small tables first. A row is a line of JSON in `--output`: the job, then what
`tabular/measure.py` lists. Lines that are there already are not measured again, except failed ones
and those named by `--again`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.earlier import key_of
from benchmarks.objective import Row
from benchmarks.tabular.competitors import MAKERS, PEERS
from benchmarks.tabular.data import manifest
from benchmarks.tabular.measure import TableJob, judge


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    again = set() if not options.again else set(options.competitors)
    known = {key for key, row in stored(options.output) if row["job"]["competitor"] not in again}
    for job in jobs(options):
        if key_of(asdict(job)) in known:
            continue
        row: Row = {"job": asdict(job), **judge(job)}
        with options.output.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(in_one_line(row), flush=True)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return [name.strip() for name in text.split(",")]

    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables_dev", description=__doc__)
    parser.add_argument("--only", type=names, metavar="A,B", help="tables; all by default")
    parser.add_argument("--task", choices=("classification", "regression"))
    parser.add_argument("--competitors", type=names, default=list(PEERS), metavar="A,B")
    parser.add_argument("--seeds", type=names, default=["0"], metavar="0,1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=1800.0, metavar="S")
    parser.add_argument("--again", action="store_true", help="measure the competitors again")
    parser.add_argument("--output", type=Path, default=Path("tables_dev.jsonl"))
    options = parser.parse_args(arguments)
    for chosen, every in ((options.only or (), manifest()), (options.competitors, MAKERS)):
        unknown = [name for name in chosen if name not in every]
        if unknown:
            parser.error(f"no {', '.join(unknown)}; there are {', '.join(every)}")
    return options


def jobs(options: argparse.Namespace) -> Iterator[TableJob]:
    """Small tables first; every competitor on a table before the next table."""
    for entry in sorted(manifest().values(), key=lambda entry: entry.rows * entry.features):
        if options.only and entry.name not in options.only:
            continue
        if options.task and entry.task != options.task:
            continue
        for seed in options.seeds:
            for competitor in options.competitors:
                yield TableJob(
                    competitor, entry.name, int(seed), options.threads, options.time_limit
                )


def stored(path: Path) -> list[tuple[str, Row]]:
    """The rows of a file that need not be measured again."""
    if not path.is_file():
        return []
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    return [(key_of(row["job"]), row) for row in rows if row["status"] == "ok"]


def in_one_line(row: Row) -> str:
    job: dict[str, Any] = row["job"]
    label = f"{job['table']:<14} {job['seed']} {job['competitor']:<20}"
    if row["status"] != "ok":
        return f"{label} {row['status']}: {row['message']}"
    proba = row.get("auc") is not None
    second = f"log loss {row['log_loss']:.4f}  auc {row['auc']:.4f}" if proba else ""
    words = f"error {row['error']:.5f}  {second:<32}"
    return f"{label} {words} cpu {row['fit_cpu_seconds']:8.2f} s  {row.get('reason', '')}"


if __name__ == "__main__":
    sys.exit(main())
