"""COVTYPE, 522,910 rows: cells with the default choice of everything, beside LightGBM.

Three draws of the 58,102 test rows. Times are of fit and prediction together, by the wall clock,
with both cores for both; every method runs in a process of its own, one after the other. Then the
error against the number of basis vectors (`columns_per_cell`), on the first draw.
"""

from __future__ import annotations

from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Job, Row

DRAWS = 3
ERROR, RATIO, MEMORY = 1.75, 0.8, 6 * 1024
OURS: dict[str, Any] = {"cells": "auto", "n_jobs": -1, "predict_dtype": "float32"}
LIGHTGBM = {"n_estimators": 1500, "num_leaves": 255}
FEW = (50, 100, 200, 400)  # basis vectors per cell
PAPER = "the paper: 2.19 % with 100,000 basis vectors in 17,000 s, 2.02 % in 25,000 s, of 2008"
HEAD = ("draw", "method", "basis vectors", "error %", "fit s", "predict s", "total s", "cpu s",
        "memory MiB")  # fmt: skip


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    ours: list[Row] = []
    for seed in range(DRAWS):
        peer = one(bench, "lightgbm", LIGHTGBM, seed, "LightGBM")
        mine = one(bench, "kboost_cells", OURS, seed, "cells")
        ours.append(mine)
        lines += [line(seed, "LightGBM", peer), line(seed, "cells", mine)]
        ratios[f"draw {seed}"] = {
            "time": total(mine) / total(peer),
            "cpu": cpu(mine) / cpu(peer),
            "error": mine["test_error"] / peer["test_error"],
        }
    for few in FEW:
        parameters = {**OURS, "columns_per_cell": few}
        row = one(bench, "kboost_cells", parameters, 0, f"cells, {few} columns")
        lines.append(line(0, f"cells, {few} columns each", row))
    worst = max(100 * row["test_error"] for row in ours)
    slowest = max(found["time"] for found in ratios.values())
    largest = max(row["memory_mib"] for row in ours)
    return Report(
        head=HEAD,
        lines=lines,
        settings={"cells": OURS, "lightgbm": LIGHTGBM, "draws": DRAWS},
        ratios=ratios,
        criterion=f"on each draw an error of at most {ERROR} %, in at most {RATIO} of LightGBM's "
        f"time, with less than {MEMORY} MiB",
        met=worst <= ERROR and slowest <= RATIO and largest < MEMORY,
        notes=[PAPER, *dict.fromkeys(row["choice"] for row in ours)],
    )


def one(bench: Bench, solver: str, parameters: dict[str, Any], seed: int, label: str) -> Row:
    job = Job(solver, "covtype", parameters, {"seed": seed}, time_limit=3600.0)
    return must(bench.run(job, f"draw {seed}: {label}"))


def total(row: Row) -> float:
    return float(row["fit_seconds"] + row["predict_seconds"])


def cpu(row: Row) -> float:
    return float(row["fit_cpu_seconds"] + row["predict_cpu_seconds"])


def line(seed: int, method: str, row: Row) -> list[Any]:
    return [
        seed,
        method,
        row.get("columns"),
        100 * row["test_error"],
        row["fit_seconds"],
        row["predict_seconds"],
        total(row),
        cpu(row),
        row["memory_mib"],
    ]
