"""SRE, Table III: Santa Fe data set D, 25 steps ahead by predictions that feed on themselves.

The protocol is ours (datasets/santa_fe.py), since the paper's segmentation is not available: its
figures cannot be set beside these. The competition's origin is one prediction of 25 values; two
earlier origins are there to say how much one prediction can tell. Q^2 is the squared error over
the variance of the 25 values. Tubes of the SVR are in units of 0.05 deviations.
"""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, must
from benchmarks.datasets.santa_fe import AHEAD, DIMENSION, END, WINDOW
from benchmarks.entries import _tuned
from benchmarks.objective import Row

ORIGINS = (END, 98_000, 96_000)
METHODS = ("CG-k", "CG-k, mixed", "CG-ak", "SVR", "LightGBM")
NOISE = 0.05
HEAD = ("method", "competition", "other origins", "median of all", "columns", "CPU s")


def run(bench: Bench) -> Report:
    rows = {m: [one(bench, m, origin) for origin in ORIGINS] for m in METHODS}
    lines = [line(method, found) for method, found in rows.items()]
    svr = [row["ahead"] for row in rows["SVR"]]
    ratios = {
        f"{m} / SVR": [a["ahead"] / b for a, b in zip(found, svr, strict=True)]
        for m, found in rows.items()
        if m != "SVR"
    }
    return Report(HEAD, lines, {"origins": ORIGINS, "noise": NOISE, **_tuned.SETTINGS}, ratios)


def one(bench: Bench, method: str, origin: int) -> Row:
    job = {"entry": "santa_fe", "method": method, "origin": origin}
    return must(bench.other(job, lambda: measure(method, origin), f"origin {origin}: {method}"))


def measure(method: str, origin: int) -> Row:
    """Tune on the validation patterns, then predict once."""
    from benchmarks.datasets import santa_fe
    from kboost.time_series import iterate

    try:
        data = datasets.load("santa_fe", origin=origin)
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    tuned = _tuned.tune(method, data, NOISE)["one_step"]
    known, future = santa_fe.series(origin)
    ahead = iterate(tuned.model, known, AHEAD, dimension=DIMENSION, lag=1, starts=[WINDOW - 1])[0]
    return {
        "status": "ok",
        **tuned.facts(),
        "ahead": float(np.mean((ahead - future) ** 2) / future.var()),
        "predicted": np.round(ahead, 4).tolist(),
        "future": np.round(future, 4).tolist(),
    }


def line(method: str, rows: list[Row]) -> list[Any]:
    errors = [row["ahead"] for row in rows]
    known = [row["columns"] for row in rows if row["columns"] is not None]
    return [
        method,
        errors[0],
        ", ".join(f"{error:.2f}" for error in errors[1:]),
        median(errors),
        fmean(known) if known else None,
        fmean(row["fit_seconds"] for row in rows),
    ]
