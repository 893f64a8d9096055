"""COVTYPE in cells on a Dask cluster of two processes, beside the local fit on one core.

Times are of fit and prediction together, by the wall clock. The cluster is up and holds the rows
before the clock starts, as the local process does.
"""

from __future__ import annotations

from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.entries.covtype import total
from benchmarks.objective import Job, Row

DRAWS = 3
WORKERS, RATIO = 2, 0.75
CELLS: dict[str, Any] = {"cells": "auto", "predict_dtype": "float32"}
HEAD = ("draw", "method", "cells", "error %", "fit s", "predict s", "total s")


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    equal = True
    for seed in range(DRAWS):
        local = one(bench, "kboost_cells", {**CELLS, "n_jobs": 1}, seed, "local")
        spread = one(bench, "kboost_dask", {**CELLS, "n_workers": WORKERS}, seed, "cluster")
        lines += [line(seed, "local, one core", local), line(seed, f"{WORKERS} workers", spread)]
        ratios[f"draw {seed}"] = {
            "time": total(spread) / total(local),
            "error": spread["test_error"] / local["test_error"],
        }
        # a few of 58,102 rows on the border may change sides by rounding
        equal &= abs(spread["test_error"] - local["test_error"]) < 1e-3 * local["test_error"] + 1e-4
    slowest = max(found["time"] for found in ratios.values())
    return Report(
        head=HEAD,
        lines=lines,
        settings={"cells": CELLS, "workers": WORKERS, "draws": DRAWS},
        ratios=ratios,
        criterion=f"on each draw at most {RATIO} of the local one-core time, with equal error",
        met=equal and slowest <= RATIO,
    )


def one(bench: Bench, solver: str, parameters: dict[str, Any], seed: int, label: str) -> Row:
    job = Job(solver, "covtype", parameters, {"seed": seed}, threads=1, time_limit=3600.0)
    return must(bench.run(job, f"draw {seed}: {label}"))


def line(seed: int, method: str, row: Row) -> list[Any]:
    return [
        seed,
        method,
        row["cells"],
        100 * row["test_error"],
        row["fit_seconds"],
        row["predict_seconds"],
        total(row),
    ]
