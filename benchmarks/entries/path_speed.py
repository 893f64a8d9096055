"""A path over ten values of C against ten separate fits with the same tolerance.

Kernels L, Q and R, unit columns, three decades of C: 1000 rows of Forest, and digits (1257 rows,
odd against even). Each fit is a process of its own and is timed from the raw rows, as the path is.
With the 1-norm both end at the same optimum, certified. With the 2-norm `tol` bounds the price of
a column, and a point of the path keeps the columns of those before it: its objective is lower.
"""

from __future__ import annotations

from typing import Any

from benchmarks.bench import Bench, Report, SkipError, must
from benchmarks.objective import Job, Row

LIMIT = 0.5
STEPS = [10 ** (k / 3) for k in range(10)]
DATASETS: dict[str, dict[str, Any]] = {
    "forest": {"n_train": 1000, "n_test": 5000, "seed": 0},
    "digits": {"seed": 0},
}
CASES: dict[str, dict[str, Any]] = {
    "1-norm": {"penalty": "l1", "tol": 1e-6, "first": 0.005},
    "2-norm": {"penalty": "l2", "tol": 1e-4, "first": 1e-4},
}
HEAD = ("data", "penalty", "columns", "largest gap", "difference",
        "path s", "fits s", "ratio", "path cpu s", "fits cpu s", "cpu ratio")  # fmt: skip


def run(bench: Bench) -> Report:
    lines = []
    for dataset in DATASETS:
        try:
            lines += [compare(bench, dataset, case) for case in CASES]
        except SkipError as reason:
            bench.say(f"  {reason}; {dataset} left out")
    worst = max(line[HEAD.index("cpu ratio")] for line in lines)
    higher = max(line[HEAD.index("difference")] for line in lines)
    return Report(
        head=HEAD,
        lines=lines,
        settings={"cases": CASES, "datasets": DATASETS, "steps": STEPS, "limit": LIMIT},
        ratios={
            f"{line[0]}, {line[1]}": {"wall": line[HEAD.index("ratio")], "cpu": line[-1]}
            for line in lines
        },
        criterion=f"no objective above its fit's by 1e-6, ratio by processor time <= {LIMIT}",
        met=higher <= 1e-6 and worst <= LIMIT,
        notes=["difference: largest relative excess of the path's objective over the fit's"],
    )


def compare(bench: Bench, dataset: str, case: str) -> list[Any]:
    """One path and its ten fits."""
    given = {"library": "LQR", **CASES[case]}
    first = given.pop("first")
    Cs = [first * step for step in STEPS]
    path = one(bench, "kboost_path", dataset, {**given, "Cs": Cs}, f"{dataset}, {case}: path")
    fits = [
        one(bench, "kboost", dataset, {**given, "C": C}, f"{dataset}, {case}: C={C:.3g}")
        for C in Cs
    ]
    excess = [
        (ours - fit["objective_reported"]) / abs(fit["objective_reported"])
        for ours, fit in zip(path["objectives"], fits, strict=True)
    ]
    wall, cpu = total(fits, "fit_seconds"), total(fits, "fit_cpu_seconds")
    return [
        dataset,
        case,
        path["columns_at"][-1],
        max(path["gaps"]),
        max(excess),
        path["fit_seconds"],
        wall,
        path["fit_seconds"] / wall,
        path["fit_cpu_seconds"],
        cpu,
        path["fit_cpu_seconds"] / cpu,
    ]


def one(bench: Bench, solver: str, dataset: str, parameters: dict[str, Any], label: str) -> Row:
    return must(bench.run(Job(solver, dataset, parameters, DATASETS[dataset]), label))


def total(rows: list[Row], name: str) -> float:
    return float(sum(row[name] for row in rows))
