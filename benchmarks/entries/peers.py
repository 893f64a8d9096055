"""Further peers on the smaller tables: tuned support vectors, kernel ridge, Nystroem, GP, EBM.

The tables of `tables` with up to 1,300 training rows and the same test quarter. AutoKernel and the
peers with default settings are those of its stored result; these come beside them (`_peers.py`):

    SVM, tuned                 a random search that may spend AutoKernel's processor seconds
    KernelRidge, tuned         the same, regression only
    Nystroem + linear, tuned   the same, 250 components, ridge or logistic regression
    Gaussian process           marginal likelihood; regression and two classes up to 700 rows
    EBM                        explainable boosting, default settings

The criterion, written before the first run: AutoKernel's mean rank among those that ran on all
tables of a task is first by error, by log loss and by NMSE.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks.bench import Bench, Report, SkipError
from benchmarks.datasets import MissingDataError
from benchmarks.entries import _tables as summary
from benchmarks.entries._peers import FURTHER, PeerJob
from benchmarks.objective import ROOT, Row
from benchmarks.store import RESULTS, hash_of, peers_version
from benchmarks.table import percent
from benchmarks.tabular.competitors import OURS
from benchmarks.tabular.data import manifest
from benchmarks.tabular.measure import in_a_process

MOST_ROWS, MOST_PROCESS_ROWS = 1300, 700
KINDS = (("classification", "error"), ("classification", "log_loss"), ("regression", "error"))


def run(bench: Bench) -> Report:
    try:
        manifest()
    except MissingDataError as error:
        raise SkipError(str(error)) from error
    found = stored()
    version = peers_version(("scikit-learn", "interpret-core", "pandas"))
    version += " " + hash_of(ROOT, [ROOT / "benchmarks" / "entries" / "_peers.py"])
    left = 0
    for name in FURTHER:
        for table in summary.tables_of(found):
            if not able(name, found[table, OURS]):
                continue
            job = PeerJob(name, table, budget=round(found[table, OURS]["fit_cpu_seconds"], 1))
            if not bench.wants(asdict(job), version):
                left += 1
                continue
            work = partial(in_a_process, "benchmarks.entries._peers", asdict(job), None, 600.0)
            row = bench.other(asdict(job), work, f"{table}, {name}", version)
            found[table, name] = {"task": found[table, OURS]["task"], **row}
    places = [ranks(found, *kind) for kind in KINDS]
    first = [min(place, key=lambda name, p=place: p[name]) == OURS for place in places]
    names = list(dict.fromkeys(name for _, name in found))
    return Report(
        head=("table", "rows", *names),
        lines=[errors(found, table, names) for table in summary.tables_of(found)],
        settings={"most rows": MOST_ROWS, "most rows of a process": MOST_PROCESS_ROWS},
        ratios={f"{task}, {key}": place for (task, key), place in zip(KINDS, places, strict=True)},
        criterion="AutoKernel's mean rank first by error, log loss and NMSE among those that ran "
        "on all tables",
        met=all(first) if not left else None,
        notes=[f"{left} jobs are left; run it again"] if left else [],
        more=[("Mean ranks and AutoKernel's wins, ties and losses", *standing(found, places))],
    )


def stored() -> dict[tuple[str, str], Row]:
    """Rows of `tables`, on the smaller tables."""
    rows = json.loads((RESULTS / "tables.json").read_text())["rows"]
    found = {(r["job"]["table"], r["job"]["competitor"]): r for r in rows if "table" in r["job"]}
    return {
        (table, name): row
        for (table, name), row in found.items()
        if name in summary.RANKED and found.get((table, OURS), {}).get("n_train", 1e9) <= MOST_ROWS
    }


def able(name: str, ours: Row) -> bool:
    """Whether a peer is for such a table."""
    numbers = ours["task"] == "regression"
    if name == "Gaussian process":
        return numbers or (ours["n_classes"] == 2 and ours["n_train"] <= MOST_PROCESS_ROWS)
    return numbers or name != "KernelRidge, tuned"


def ranks(found: summary.Found, task: str, key: str) -> dict[str, float]:
    """Mean ranks of those that ran on every table of the task."""
    tables = summary.tables_of(found, task)
    names = dict.fromkeys(name for _, name in found)
    whole = [n for n in names if all((table, n) in found for table in tables)]
    return summary.mean_ranks(found, task, key, whole)


def standing(found: summary.Found, places: Sequence[dict[str, float]]) -> tuple[Any, Any]:
    head = ("competitor", "rank error", "rank log loss", "rank NMSE",
            "w/t/l error", "w/t/l log loss", "w/t/l NMSE")  # fmt: skip
    lines: list[list[Any]] = []
    for name in dict.fromkeys(name for _, name in found):
        numbers = [f"{place[name]:.2f}" if name in place else None for place in places]
        lines.append([name, *numbers, *(counts(found, task, name, key) for task, key in KINDS)])
    return head, lines


def counts(found: summary.Found, task: str, name: str, key: str) -> str | None:
    """Wins, ties and losses of AutoKernel on the tables where the other ran."""
    own = {k: row for k, row in found.items() if (k[0], name) in found}
    return None if name == OURS or not own else summary.counts(own, task, name, key)


def errors(found: summary.Found, table: str, names: Sequence[str]) -> list[Any]:
    row = found[table, OURS]
    return [
        table,
        row["n_train"],
        *(percent(found.get((table, n), {}).get("error")) for n in names),
    ]
