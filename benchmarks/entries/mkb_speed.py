"""MKBoost: D1 against a plain loop over scikit-learn's SVCs; S1 against D1; D1 to D16.

One training half of each set, 17 kernels of mean diagonal 1, the paper's settings. The referee is
given the kernel matrices, D1 makes its own; both must choose the same kernels with the same
weights. Times are of the processor.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from statistics import geometric_mean, median
from string import ascii_lowercase
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, must
from benchmarks.datasets.mkb import FILES
from benchmarks.entries._mkb import SETTINGS, mkboost, referee, timed_fit
from benchmarks.objective import Row

LIMIT, STOCHASTIC_LIMIT = 0.35, 0.6
SEEDS = (0, 1, 2)  # of S1, whose time depends on its draws
HEAD = ("set", "rows", "referee s", "D1 s", "D1 / referee", "same choices", "S1 s", "S1 / D1")


def run(bench: Bench) -> Report:
    found = {name: one(bench, name) for name in FILES}
    against, stochastic = ([row[key] for row in found.values()] for key in ("ratio", "s1_ratio"))
    same = all(row["same"] for row in found.values())
    means = {"D1 / referee": geometric_mean(against), "S1 / D1": geometric_mean(stochastic)}
    return Report(
        head=HEAD,
        lines=[
            *([f"{name} {FILES[name]}", row["rows"], row["referee"], row["D1"], row["ratio"],
               row["same"], row["S1"], row["s1_ratio"]] for name, row in found.items()),
            ["geometric mean", None, None, None, means["D1 / referee"], same, None,
             means["S1 / D1"]],
        ],
        settings=SETTINGS,
        ratios={**means, "worst D1 / referee": max(against)},
        criterion=f"D1 in at most {LIMIT} of the referee's time with the same choices, S1 in at "
        f"most {STOCHASTIC_LIMIT} of D1's, geometric means",
        met=same and means["D1 / referee"] <= LIMIT and means["S1 / D1"] <= STOCHASTIC_LIMIT,
        notes=["processor seconds of one fit; S1: median of three seeds"],
    )  # fmt: skip


def one(bench: Bench, name: str) -> dict[str, Any]:
    rows = {}
    for what in ("referee", "D1", *(f"S1 {seed}" for seed in SEEDS)):
        job = {"entry": "mkb_speed", "data": name, "what": what}
        rows[what] = must(bench.other(job, partial(measure, name, what), f"{name}: {what}"))
    D1, S1 = rows["D1"], median(rows[f"S1 {seed}"]["fit_cpu_seconds"] for seed in SEEDS)
    return {
        "rows": D1["rows"],
        "referee": rows["referee"]["fit_cpu_seconds"],
        "D1": D1["fit_cpu_seconds"],
        "ratio": D1["fit_cpu_seconds"] / rows["referee"]["fit_cpu_seconds"],
        "same": D1["choices"] == rows["referee"]["choices"],
        "S1": S1,
        "s1_ratio": S1 / D1["fit_cpu_seconds"],
    }


def told(choices: list[list[tuple[int, float]]]) -> list[list[str]]:
    """Each duel's kernels, a letter a round, and a digest of its weights to nine decimals."""
    out = []
    for rounds in choices:
        letters = "".join(ascii_lowercase[kernel] for kernel, _ in rounds)
        weights = " ".join(f"{weight:.9f}" for _, weight in rounds)
        out.append([letters, sha256(weights.encode()).hexdigest()[:16]])
    return out


def measure(name: str, what: str) -> Row:
    try:
        data = datasets.load("mkb", which=name, seed=0)
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    if what == "referee":
        return plain(data)
    variant, _, seed = what.partition(" ")
    model = mkboost(variant, column_scaling="mean", seed=int(seed or 0), memory_budget=2**31)
    _, wall, cpu = timed_fit(lambda: model.fit(data.X_train, data.y_train))
    traces = [model.trace_] if len(model.classes_) == 2 else model.trace_
    choices = [[(r.kernels[0], r.weight) for r in t if r.outcome != "reset"] for t in traces]
    return {"status": "ok", "rows": len(data.y_train), "fit_seconds": wall,
            "fit_cpu_seconds": cpu, "choices": told(choices)}  # fmt: skip


def plain(data: Any) -> Row:
    """The referee, pair by pair, on rows in the estimator's order."""
    from kboost.columns.gram import Gram
    from kboost.data.merged_rows import merge_rows
    from kboost.data.multiclass import binary_problems

    rows = merge_rows(data.X_train, data.y_train.astype(np.intp), np.ones(len(data.y_train)))
    problems = binary_problems(rows.codes, int(rows.codes.max()) + 1, "ovo")
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=len(problems))
    kernels = mkboost("D1", column_scaling="mean", seed=0, max_iter=1)
    kernels = kernels.fit(data.X_train, data.y_train).kernels_
    wall = cpu = 0.0
    choices = []
    for problem, seed in zip(problems, seeds, strict=True):
        X = rows.X[problem.rows]
        made = dict(Gram(kernels, X, X, 2**33).submatrices(range(len(kernels)), np.arange(len(X))))
        grams = [made[j] for j in range(len(kernels))]
        play = partial(referee, grams, problem.signs, rows.weight[problem.rows], seed)
        found, seconds, cpu_seconds = timed_fit(play)
        wall, cpu = wall + seconds, cpu + cpu_seconds
        choices.append(found)
    return {"status": "ok", "fit_seconds": wall, "fit_cpu_seconds": cpu, "choices": told(choices)}
