"""COVTYPE in cells on a Dask cluster of two processes, beside the local fit on one core.

Times are of fit and prediction together, by the wall clock. The cluster is up and holds the rows
before the clock starts, as the local process does. The two take turns, twice on each draw, and
times are summed: a machine that others share is faster at one time and slower at another, by more
than a tenth.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.datasets import FloatArray
from benchmarks.entries.covtype import total
from benchmarks.objective import Job, Row

DRAWS, TURNS = 3, 2
WORKERS, RATIO = 2, 0.75
CELLS: dict[str, Any] = {"cells": "auto", "predict_dtype": "float32"}
HEAD = ("draw", "method", "cells", "error %", "fit s", "predict s", "total s")


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    equal = True
    times = np.zeros((DRAWS, TURNS, 2))
    for seed, turn in product(range(DRAWS), range(TURNS)):
        local = one(bench, "kboost_cells", {**CELLS, "n_jobs": 1}, seed, turn, "local")
        spread = one(bench, "kboost_dask", {**CELLS, "n_workers": WORKERS}, seed, turn, "cluster")
        lines += [line(seed, "local, one core", local), line(seed, f"{WORKERS} workers", spread)]
        times[seed, turn] = total(spread), total(local)
        # a few of 58,102 rows on the border may change sides by rounding
        equal &= abs(spread["test_error"] - local["test_error"]) < 1e-3 * local["test_error"] + 1e-4
    for seed in range(DRAWS):
        ratios[f"draw {seed}"] = ratio(times[seed])
    ratios["all"] = ratio(times)
    pairs = times[..., 0] / times[..., 1]
    return Report(
        head=HEAD,
        lines=lines,
        settings={"cells": CELLS, "workers": WORKERS, "draws": DRAWS, "turns": TURNS},
        ratios=ratios,
        criterion=f"on each draw at most {RATIO} of the local one-core time, with equal error",
        met=equal and max(ratios.values()) <= RATIO,
        notes=[
            f"over all draws {ratios['all']:.2f} of the local time; single pairs "
            f"{pairs.min():.2f} to {pairs.max():.2f}"
        ],
    )


def ratio(times: FloatArray) -> float:
    """The cluster's seconds over the local ones, pairs summed."""
    cluster, local = times.reshape(-1, 2).sum(axis=0)
    return float(cluster / local)


def one(
    bench: Bench, solver: str, parameters: dict[str, Any], seed: int, turn: int, label: str
) -> Row:
    job = Job(
        solver,
        "covtype",
        parameters,
        {"seed": seed},
        threads=1,
        time_limit=3600.0,
        repeat=turn * bench.repeats,
    )
    return must(bench.run(job, f"draw {seed}, turn {turn}: {label}"))


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
