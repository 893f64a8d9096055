"""Faults on purpose: signals, limits, failing kernels, solvers, disks and workers; no loss.

The kinds are in `benchmarks/faults`, with what counts as a loss. All estimators, small data, each
try in a process of its own. Criterion: no loss.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.bench import Bench, Report
from benchmarks.objective import Row

HEAD = ("fault", "estimators", "tries", "model", "one sentence", "loss")


def run(bench: Bench) -> Report:
    from benchmarks.faults.kinds import KINDS

    rows: dict[str, dict[str, Row]] = {kind: {} for kind in KINDS}
    for kind_name, kind in KINDS.items():
        for name in kind.subjects():
            job = {"entry": "faults", "kind": kind_name, "name": name, "tries": kind.tries}
            if bench.wants(job):
                measure = partial(_measure, kind_name, name, kind.tries)
                row = bench.other(job, measure, f"{kind_name}: {name}")
                rows[kind_name][name] = row
    return report(rows)


def _measure(kind: str, name: str, tries: int) -> Row:
    from benchmarks.faults.trials import trials

    return trials(kind, name, tries)


def report(rows: dict[str, dict[str, Row]]) -> Report:
    lines = [[kind, len(own), *_sums(own.values())] for kind, own in rows.items() if own]
    names = list(dict.fromkeys(name for own in rows.values() for name in own))
    by_name = {name: [own[name] for own in rows.values() if name in own] for name in names}
    losses = sum(line[-1] for line in lines)
    tried = sum(line[2] for line in lines)
    return Report(
        head=HEAD,
        lines=lines,
        settings={"kinds": len(lines)},
        ratios={"losses": losses / max(1, tried)},
        criterion="no loss",
        met=losses == 0,
        notes=[f"{tried:,} tries of {len(lines)} kinds, {losses} losses."],
        more=[
            (
                "By estimator",
                ("estimator", "kinds", "tries", "model", "one sentence", "loss"),
                [[name, len(own), *_sums(own)] for name, own in by_name.items()],
            )
        ],
    )


def _sums(rows: Any) -> list[int]:
    rows = list(rows)
    return [sum(row[name] for row in rows) for name in ("tries", "model", "sentence", "loss")]
