"""Faults on purpose: signals, limits, failing kernels, solvers, disks and workers; no loss.

The kinds are in `benchmarks/faults`, with what counts as a loss. All estimators, small data, each
try in a process of its own. A round has each kind for each estimator, in random order: a run that
is cut short is a sample of it. Criterion: no loss.
"""

from __future__ import annotations

from functools import partial

from benchmarks.bench import Bench, Report
from benchmarks.objective import Row

ROUNDS = 8
HEAD = ("fault", "estimators", "tries", "model", "one sentence", "loss")


def run(bench: Bench) -> Report:
    from benchmarks.faults.kinds import KINDS
    from benchmarks.faults.trials import pairs, trials

    rows: list[Row] = []
    for number in range(ROUNDS):
        for kind_name, name in pairs(number):
            job = {"entry": "faults", "kind": kind_name, "name": name, "round": number}
            if bench.wants(job):
                measure = partial(trials, kind_name, name, KINDS[kind_name].tries, number)
                rows.append(bench.other(job, measure, f"{kind_name}: {name}"))
    return report(rows, list(KINDS))


def report(rows: list[Row], kinds: list[str]) -> Report:
    found = _grouped(rows, "kind")
    lines = [[kind, _names(found[kind]), *_sums(found[kind])] for kind in kinds if kind in found]
    by_name = dict(sorted(_grouped(rows, "name").items()))
    losses = sum(line[-1] for line in lines)
    tried = sum(line[2] for line in lines)
    return Report(
        head=HEAD,
        lines=lines,
        settings={"kinds": len(lines)},
        ratios={"losses": losses / max(1, tried)},
        criterion="no loss",
        met=losses == 0,
        notes=[
            f"{tried:,} tries of {len(lines)} kinds, {losses} losses.",
            *(f"Loss, {label(row)}: {row['words']['loss'][0]}" for row in rows if row["loss"]),
        ],
        more=[
            (
                "By estimator",
                ("estimator", "kinds", "tries", "model", "one sentence", "loss"),
                [[name, len(_grouped(own, "kind")), *_sums(own)] for name, own in by_name.items()],
            )
        ],
    )


def label(row: Row) -> str:
    return f"{row['job']['kind']}, {row['job']['name']}"


def _grouped(rows: list[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["job"][key], []).append(row)
    return groups


def _names(rows: list[Row]) -> int:
    return len(_grouped(rows, "name"))


def _sums(rows: list[Row]) -> list[int]:
    return [sum(row[name] for row in rows) for name in ("tries", "model", "sentence", "loss")]
