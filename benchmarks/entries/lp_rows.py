"""The certified 1-norm optimum with many rows, many classes, and in regression.

Forest with kernels L, Q and R of unit columns and C = 1; ten digits on 16 components and KIN40K
with all defaults: kernels, C and epsilon are chosen in the time that counts. Times are those of the
processor, one thread. The peers of the linear program on 1,000 rows are in `lp_forest`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report
from benchmarks.objective import Job, Row

SEEDS = range(3)
GIB = 1024.0  # MiB
EXPONENT = 1.3
# job, rows, seconds of the processor, gap, MiB
LIMITS: dict[str, tuple[float, float, float]] = {
    "Forest 1,000": (np.inf, 1e-4, GIB),
    "Forest 5,000": (np.inf, 1e-4, GIB),
    "Forest 10,000": (60.0, 1e-4, GIB),
    "Forest 50,000": (600.0, 1e-3, np.inf),
    "digits 7,500": (60.0, 1e-4, np.inf),
    "tube 1,000": (4.0, 1e-4, np.inf),
    "tube 10,000": (90.0, 1e-4, np.inf),
}
HEAD = ("problem", "draw", "columns", "gap", "cpu s", "limit s", "MiB", "met")


def run(bench: Bench) -> Report:
    rows = {
        (name, seed): bench.run(job(name, seed), f"{name}, draw {seed}")
        for name in LIMITS
        for seed in SEEDS
        if bench.wants(asdict(job(name, seed)))
    }
    met = {key: within(key[0], row) for key, row in rows.items()}
    exponent = growth({key: row for key, row in rows.items() if row["status"] == "ok"})
    complete = len(rows) == len(LIMITS) * len(SEEDS)
    return Report(
        head=HEAD,
        lines=[line(name, seed, row, met[name, seed]) for (name, seed), row in rows.items()],
        settings={"limits": {name: list(map(str, given)) for name, given in LIMITS.items()}},
        ratios={"exponent": exponent, "met": sum(met.values()), "of": len(met)},
        criterion=(
            "every gap, time and memory within its limit on every draw, and the time of Forest "
            f"grows no faster than rows^{EXPONENT}"
        ),
        met=complete and all(met.values()) and exponent is not None and exponent <= EXPONENT,
        notes=[f"time of Forest: rows^{exponent:.2f}"] if exponent is not None else [],
    )


def job(name: str, seed: int) -> Job:
    """The job of a line of `LIMITS`."""
    kind, _, count = name.partition(" ")
    n, tol = int(count.replace(",", "")), LIMITS[name][1]
    rows: dict[str, Any] = {"n_train": n, "seed": seed}
    if kind == "Forest":
        given = {"library": "LQR", "C": 1.0, "tol": tol}
        return Job("kboost", "forest", given, rows, threads=1, time_limit=3600.0)
    solver, dataset = {
        "digits": ("kboost", "mnist_components"),
        "tube": ("kboost_tube", "kin40k"),
    }[kind]
    return Job(solver, dataset, {"tol": tol}, rows, threads=1, time_limit=3600.0)


def within(name: str, row: Row) -> bool:
    """Whether a row keeps its limits."""
    if row["status"] != "ok":
        return False
    seconds, gap, memory = LIMITS[name]
    return bool(
        row["fit_cpu_seconds"] <= seconds and row["gap"] <= gap and row["memory_mib"] <= memory
    )


def line(name: str, seed: int, row: Row, met: bool) -> list[Any]:
    limit = LIMITS[name][0]
    limits = None if np.isinf(limit) else limit
    if row["status"] != "ok":
        return [name, seed, row["status"], None, None, limits, None, met]
    facts = [row[key] for key in ("columns", "gap", "fit_cpu_seconds")]
    return [name, seed, *facts, limits, row["memory_mib"], met]


def growth(rows: dict[tuple[str, int], Row]) -> float | None:
    """The exponent of the time of Forest in its rows, over all draws to the gap 1e-4."""
    points = [
        (row["n_train"], row["fit_cpu_seconds"])
        for (name, _), row in rows.items()
        if name.startswith("Forest") and LIMITS[name][1] == 1e-4
    ]
    if len({n for n, _ in points}) < 2:
        return None
    n, seconds = np.log(np.array(points)).T
    return float(np.polyfit(n, seconds, 1)[0])
