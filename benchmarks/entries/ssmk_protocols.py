"""SSMK and IMK under four preparations of the pixels, forty fresh draws.

`ssmk` centres the pixels of both methods by the mean of all rows to learn from. IMK, which is meant
to know the labelled rows only, then gets something of the unlabelled ones, and is worse for it.
Here both are fitted, with the settings of `ssmk` (C = 2 / l, unscaled columns), on

    all rows        pixels minus the mean of all rows to learn from, for both methods, as in `ssmk`
    own rows        minus the mean of the rows that a method is given: IMK's are the labelled ones
    own, by spread  the same, then divided by the standard deviation over these rows
    as they are     pixels in [0, 1]

The criterion, written before the first run: where each method is prepared by its own rows (the last
three), SSMK's test error is below IMK's by more than the standard error of the difference, at 10
and at 20 labels. The draws are 1000 to 1039, which nothing was chosen on.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import fmean, stdev
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.datasets import FloatArray, MissingDataError
from benchmarks.entries.ssmk import Draw, mixture
from benchmarks.objective import Row

SIZES, JUDGED = (10, 20, 50, 100), (10, 20)
DRAWS = range(1000, 1040)
PROTOCOLS = ("all rows", "own rows", "own, by spread", "as they are")
METHODS = ("SSMK", "IMK")
HEAD = ("pixels", "labels", "SSMK, test %", "IMK, test %", "difference", "its error",
        "columns SSMK", "columns IMK")  # fmt: skip


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    for protocol in PROTOCOLS:
        for n_labels in SIZES:
            rows = {method: trials(bench, protocol, method, n_labels) for method in METHODS}
            found = compare(*(([row["test"] for row in rows[method]]) for method in METHODS))
            ratios[f"{protocol}, {n_labels}"] = found
            sizes = [fmean(row["columns"] for row in rows[method]) for method in METHODS]
            lines.append([protocol, n_labels, *found.values(), *sizes])
    judged = [ratios[f"{p}, {n}"] for p in PROTOCOLS[1:] for n in JUDGED]
    return Report(
        head=HEAD,
        lines=lines,
        settings={"draws": list(DRAWS), "protocols": PROTOCOLS},
        ratios=ratios,
        criterion="prepared by its own rows, SSMK is below IMK by more than the standard error at "
        "10 and 20 labels",
        met=all(found["difference"] < -found["error"] for found in judged),
        notes=["difference: SSMK - IMK on the test rows, in points, over 40 draws"],
    )


def trials(bench: Bench, protocol: str, method: str, n_labels: int) -> list[Row]:
    rows = []
    for seed in DRAWS:
        job = {"entry": "ssmk_protocols", "pixels": protocol, "method": method,
               "labels": n_labels, "seed": seed}  # fmt: skip
        label = f"{protocol}, {method}, {n_labels} labels, draw {seed}"
        run_one = partial(trial, protocol, method, n_labels, seed)
        rows.append(must(bench.other(job, run_one, label)))
    return rows


def compare(ours: list[float], theirs: list[float]) -> dict[str, float]:
    """Mean errors, their difference draw by draw, and its standard error, in points."""
    gains = [100 * (a - b) for a, b in zip(ours, theirs, strict=True)]
    return {
        "SSMK": 100 * fmean(ours),
        "IMK": 100 * fmean(theirs),
        "difference": fmean(gains),
        "error": stdev(gains) / len(gains) ** 0.5,
    }


def trial(protocol: str, method: str, n_labels: int, seed: int) -> Row:
    """The error on the test rows."""
    try:
        draw = Draw(n_labels, seed, centred=False)
    except MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    seen = draw.pool if method == "SSMK" or protocol == "all rows" else draw.X
    shift, scale = preparation(protocol, seen)
    draw.pool, draw.X = (draw.pool - shift) / scale, (draw.X - shift) / scale
    started = time.process_time()
    predict, facts = mixture(draw, pooled=method == "SSMK")
    seconds = time.process_time() - started
    X, y = draw.test
    error = float(np.mean(predict((X - shift) / scale) != y))
    return {"status": "ok", "fit_cpu_seconds": seconds, "test": error, **facts}


def preparation(protocol: str, seen: FloatArray) -> tuple[Any, Any]:
    """What is subtracted from the pixels, and by what they are divided."""
    if protocol == "as they are":
        return 0.0, 1.0
    spread = seen.std(axis=0)
    by_spread = np.where(spread > 0, spread, 1.0) if protocol == "own, by spread" else 1.0
    return seen.mean(axis=0), by_spread
