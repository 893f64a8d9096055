"""CG-Boost, Figures 2 to 4: errors along the columns, on one draw; 2-norm, five columns a step.

Figure 2, digits: where the rules TR1, TR3 and TR2 stop. Figure 3, digits: stratified pricing
against a scan of the whole library. Figure 4, Forest: a C that is too large shows long before the
optimum. What is drawn of it is in benchmarks/figures.py.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Job, Row, answer

DRAW = {"n_train": 1000, "n_val": 2000, "n_test": 10_000, "seed": 0}
BASE: dict[str, Any] = {
    "library": "LQR",
    "penalty": "l2",
    "tol": 1e-3,
    "columns_per_step": 5,
    "n_iter_no_change": 1000,
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "digits, stratified": ("mnist", {"pricing": "stratified", "C": 0.1}),
    "digits, scan": ("mnist", {"pricing": "scan", "C": 0.1}),
    "Forest, C = 0.1": ("forest", {"pricing": "stratified", "C": 0.1}),
    "Forest, C = 10": ("forest", {"pricing": "stratified", "C": 10.0}),
}
HEAD = ("run", "rule", "columns", "train %", "validation %", "test %", "priced a step")


def run(bench: Bench) -> Report:
    rows = {label: one(bench, label) for label in CASES}
    lines = [line for label, row in rows.items() for line in marks(label, row)]
    return Report(HEAD, lines, {"rows": DRAW, "kboost": BASE, "cases": CASES}, {})


def one(bench: Bench, label: str) -> Row:
    dataset, case = CASES[label]
    job = Job("kboost_curves", dataset, {**BASE, **case}, DRAW)
    return must(bench.other(asdict(job), lambda: answer(job), label))


def marks(label: str, row: Row) -> list[list[Any]]:
    """Where each rule stops."""
    places = {"TR1": row["tr1"], "TR3": row["tr3"], "TR2": len(row["priced"]) - 1}
    return [
        [
            label,
            rule,
            row["curve"]["columns"][place],
            *(100 * row["curve"][part][place] for part in ("train", "validation", "test")),
            round(sum(row["priced"][: place + 1]) / (place + 1)),
        ]
        for rule, place in places.items()
        if place is not None
    ]
