"""CG-Boost, Figure 1: a plane and four bumps from 50 points; linear, RBF, composite, mixture.

The 1-norm with a tube of half-width 0.1, default settings otherwise (`C="auto"`), stratified
pricing; the Gaussian has the width of the bumps. Twenty draws; the error is the root mean square
on 2000 points without noise. Columns are compared with those of RBF and composite: a plane alone
needs two.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, must
from benchmarks.datasets.toy import WIDTH, target
from benchmarks.entries._mixture import columns_of
from benchmarks.objective import Row

DRAWS = 20
SETTINGS = {"penalty": "l1", "epsilon": 0.1, "pricing": "stratified"}
METHODS = {"linear": ["L"], "RBF": ["R"], "composite": ["L+R"], "mixture": ["L", "R"]}
GRID = 25  # points a side of the surfaces drawn
HEAD = ("method", "test error", "std", "draws won by the mixture", "columns", "L", "R")


def run(bench: Bench) -> Report:
    rows = {method: [one(bench, method, seed) for seed in range(DRAWS)] for method in METHODS}
    mixture = rows["mixture"]
    lines = [[method, *summary(found, mixture)] for method, found in rows.items()]
    means = {method: fmean(row["error"] for row in found) for method, found in rows.items()}
    columns = {method: fmean(row["columns"] for row in found) for method, found in rows.items()}
    return Report(
        head=HEAD,
        lines=lines,
        settings={"kboost": SETTINGS, "draws": DRAWS},
        ratios={"error": means, "columns": columns},
        criterion="mixture: lowest mean test error, fewer columns than RBF and composite",
        met=means["mixture"] == min(means.values())
        and columns["mixture"] < min(columns["RBF"], columns["composite"]),
    )


def one(bench: Bench, method: str, seed: int) -> Row:
    job = {"entry": "toy", "method": method, "seed": seed, **SETTINGS}
    return must(bench.other(job, lambda: measure(method, seed), f"draw {seed}: {method}"))


def measure(method: str, seed: int) -> Row:
    """Fit, and keep the surface of the first draw for the picture."""
    from kboost import KernelBoostRegressor
    from kboost.kernels import Gaussian, Linear

    L, R = Linear(), Gaussian(gamma=1 / WIDTH)
    library = [{"L": L, "R": R, "L+R": L + R}[name] for name in METHODS[method]]
    data = datasets.load("toy", seed=seed)
    model = KernelBoostRegressor(library, **SETTINGS).fit(data.X_train, data.y_train)
    error = float(np.sqrt(np.mean((model.predict(data.X_test) - data.y_test) ** 2)))
    row: Row = {
        "status": "ok",
        "error": error,
        "columns": int(model.n_columns_),
        "columns_per_kernel": dict(
            zip(METHODS[method], model.columns_per_kernel_.values(), strict=True)
        ),
    }
    if seed == 0:
        row["surface"] = np.round(model.predict(grid()), 3).tolist()
        row["target"] = np.round(target(grid()), 3).tolist()
    return row


def grid() -> datasets.FloatArray:
    """Points of a square lattice, (GRID^2, 2)."""
    side = np.linspace(-1, 1, GRID)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def summary(rows: Sequence[Row], mixture: Sequence[Row]) -> list[Any]:
    errors = [row["error"] for row in rows]
    won = sum(m["error"] < e for m, e in zip(mixture, errors, strict=True))
    parts = [fmean(columns_of(row, letter) for row in rows) for letter in "LR"]
    return [fmean(errors), stdev(errors), won, fmean(row["columns"] for row in rows), *parts]
