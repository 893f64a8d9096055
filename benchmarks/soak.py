"""`python -m benchmarks.soak`: fits and predictions in one process, and its memory over time.

One round fits every kind of estimator to a table of 40 to 400 rows, predicts it in one call and
some of its rows one by one, and passes the model through a pickle and a model file. Resident memory
is read after each fit.

Criterion: the median of the last third of the time is at most 5 % or 20 MiB above that of the
middle third, whichever is more.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import kboost
from benchmarks.explore.cases import ESTIMATORS
from benchmarks.explore.relations import values
from kboost.persistence.replacing import replace_content

SECONDS, POINTS = 1800.0, 300  # of the run, and points of the curve in the file
SHARE, MIB = 0.05, 20.0
ONE_ROW = 20  # predictions of a row per model


def resident_mib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def is_flat(curve: list[tuple[float, float]]) -> tuple[bool, float, float]:
    """Whether memory stays, and the medians of the middle and of the last third of the time."""
    end = curve[-1][0]
    middle = median(mib for at, mib in curve if end / 3 <= at < 2 * end / 3)
    last = median(mib for at, mib in curve if at >= 2 * end / 3)
    return last <= middle + max(SHARE * middle, MIB), middle, last


def use(name: str, rng: np.random.Generator, folder: str) -> int:
    """One fit and its predictions; returns the number of predictions."""
    X = rng.normal(size=(int(rng.integers(40, 400)), 4))
    model, y = ESTIMATORS[name](rng, X)
    try:
        model.fit(X) if y is None else model.fit(X, y)
    except ValueError:  # options that exclude each other
        return 0
    path = Path(folder) / "model"
    kboost.save_model(model, path)
    for each in (model, pickle.loads(pickle.dumps(model)), kboost.load_model(path)):
        values(each, X)
    for i in range(ONE_ROW):
        values(model, X[i : i + 1])
    return 3 + ONE_ROW


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--out", default="benchmarks/results/soak.json")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rng, started = np.random.default_rng(0), time.monotonic()
    curve: list[tuple[float, float]] = []
    counts = {"fits": 0, "predictions": 0}
    with tempfile.TemporaryDirectory() as folder:
        while (now := time.monotonic() - started) < given.seconds:
            name = list(ESTIMATORS)[counts["fits"] % len(ESTIMATORS)]
            counts["predictions"] += use(name, rng, folder)
            counts["fits"] += 1
            curve.append((now, resident_mib()))
    flat, middle, last = is_flat(curve)
    found: dict[str, Any] = {
        "criterion": f"last third at most {SHARE:.0%} or {MIB:g} MiB above the middle third",
        "met": flat,
        "seconds": round(curve[-1][0], 1),
        **counts,
        "middle_third_mib": round(middle, 1),
        "last_third_mib": round(last, 1),
        "highest_mib": round(max(mib for _, mib in curve), 1),
        "curve": [[round(at, 1), round(mib, 1)] for at, mib in curve[:: len(curve) // POINTS + 1]],
    }
    replace_content(given.out, (json.dumps(found, indent=1) + "\n").encode())
    print(f"{counts['fits']} fits: {middle:.0f} MiB, then {last:.0f} MiB: flat {flat}")


if __name__ == "__main__":
    main()
