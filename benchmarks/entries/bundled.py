"""Default settings on data that scikit-learn carries: error, size and time beside two peers.

Features are standardised for everyone. Five splits each; medians, and the mean of the errors.
"""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Job, Row
from benchmarks.table import percent

SEEDS = range(5)
DATASETS = ("breast_cancer", "digits")
SOLVERS = {"kboost": "kboost", "SVC": "svc", "HistGradientBoosting": "hist_gradient_boosting"}
HEAD = ("data", "solver", "test error", "columns", "fit s", "predict s", "memory MiB")


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios = {}
    for dataset in DATASETS:
        rows = {label: runs(bench, dataset, label) for label in SOLVERS}
        lines += [[dataset, label, *summary(found)] for label, found in rows.items()]
        ratios[dataset] = {
            "columns / support vectors": middle(rows["kboost"], "columns")
            / middle(rows["SVC"], "columns"),
            "error / SVC": mean_error(rows["kboost"]) / mean_error(rows["SVC"]),
        }
    notes = [
        f"{dataset}: {found['columns / support vectors']:.2f} of the SVC's support vectors, "
        f"{found['error / SVC']:.2f} of its error"
        for dataset, found in ratios.items()
    ]
    return Report(HEAD, lines, {"seeds": list(SEEDS)}, ratios, notes=notes)


def runs(bench: Bench, dataset: str, label: str) -> list[Row]:
    return [
        must(
            bench.run(
                Job(SOLVERS[label], dataset, {}, {"seed": seed}),
                f"{dataset}, split {seed}: {label}",
            )
        )
        for seed in SEEDS
    ]


def summary(rows: list[Row]) -> list[Any]:
    names = ("columns", "fit_seconds", "predict_seconds", "memory_mib")
    return [percent(mean_error(rows)), *(middle(rows, name) for name in names)]


def middle(rows: list[Row], name: str) -> Any:
    values = [row[name] for row in rows if row.get(name) is not None]
    return median(values) if values else None


def mean_error(rows: list[Row]) -> float:
    return fmean(row["test_error"] for row in rows)
