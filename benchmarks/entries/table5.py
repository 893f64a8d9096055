"""CG-Boost, Table 5: how columns, time and memory grow with the rows of Forest.

1000 to 10,000 rows to train, 2000 to validate, stratified pricing, a process of its own for each
fit. TR3 waits for five steps, as by default, which on these data mostly ends among the linear
columns, or for 25, which gets to the other kernels and to about as many columns as the paper has.
Exponents are the slopes of straight lines through the logarithms of the medians. Times are of the
processor, memory is the peak of resident memory during fit and prediction beyond what imports and
data take.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.entries._mixture import PENALTIES, SETTINGS, columns_of
from benchmarks.objective import Job, Row

SIZES = (1000, 2000, 5000, 10_000)
C = {"2-norm": 0.1, "1-norm": 1.0}
CASES = {("2-norm", 5): 3, ("2-norm", 25): 3, ("1-norm", 5): 3, ("1-norm", 25): 1}  # draws
PAPER = {1000: (253, 141), 2000: (302, 315), 5000: (520, 740), 10_000: (613, 2530)}
COLUMNS, TIME = 0.6, 1.7  # the exponents must stay below
BUDGET = 2**30
HEAD = ("norm", "wait", "rows", "columns", "L/Q/R", "generated", "test %", "fit s", "memory MiB",
        "paper columns", "paper s")  # fmt: skip


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    for (norm, wait), draws in CASES.items():
        rows = {n: [one(bench, norm, wait, n, seed) for seed in range(draws)] for n in SIZES}
        lines += [[norm, wait, n, *summary(found), *PAPER[n]] for n, found in rows.items()]
        ratios[f"{norm}, {wait} steps"] = {
            "kept exponent": exponent(rows, "columns"),
            "generated exponent": exponent(rows, "columns_generated"),
            "time exponent": exponent(rows, "fit_cpu_seconds"),
            "peak / budget": max(r["memory_mib"] for r in rows[SIZES[-1]]) / (BUDGET / 2**20),
        }
    return Report(
        head=HEAD,
        lines=lines,
        settings={
            "C": C,
            "kboost": SETTINGS,
            "draws": list(CASES.values()),
            "memory_budget": BUDGET,
        },
        ratios=ratios,
        criterion=f"columns generated grow slower than l^{COLUMNS}, time slower than l^{TIME}, "
        "memory of the largest fit under the budget",
        met=all(
            found["generated exponent"] < COLUMNS
            and found["time exponent"] < TIME
            and found["peak / budget"] < 1.0
            for found in ratios.values()
        ),
        notes=[
            f"{case}: columns generated l^{found['generated exponent']:.2f} (kept "
            f"l^{found['kept exponent']:.2f}), time l^{found['time exponent']:.2f}, "
            f"peak {found['peak / budget']:.2f} of the budget"
            for case, found in ratios.items()
        ],
    )


def one(bench: Bench, norm: str, wait: int, size: int, seed: int) -> Row:
    settings = {**SETTINGS, "penalty": PENALTIES[norm], "C": C[norm], "n_iter_no_change": wait}
    rows = {"n_train": size, "n_val": 2000, "n_test": 10_000, "seed": seed}
    job = Job("kboost", "forest", {"library": "LQR", "memory_budget": BUDGET, **settings}, rows)
    return must(bench.run(job, f"{norm}, {wait} steps, {size} rows, draw {seed}"))


def summary(rows: Sequence[Row]) -> list[Any]:
    names = ("columns", "columns_generated", "test_error", "fit_cpu_seconds", "memory_mib")
    middle = {name: median(row[name] for row in rows) for name in names}
    kernels = "/".join(f"{median(columns_of(row, x) for row in rows):.0f}" for x in "LQR")
    columns, generated, error, seconds, memory = middle.values()
    return [columns, kernels, generated, 100 * error, seconds, memory]


def exponent(rows: dict[int, list[Row]], name: str) -> float:
    """The slope of log(median) against log(rows)."""
    middles = [median(row[name] for row in found) for found in rows.values()]
    return float(np.polyfit(np.log(list(rows)), np.log(middles), 1)[0])
