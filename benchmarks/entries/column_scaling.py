"""What columns are divided by: `KernelBoost*()` with each `column_scaling`, on tuning splits.

The tables of at most 1,500 rows, two tuning splits each, so that the default is chosen without the
test quarters. The loss is the log loss of labels and the NMSE of numbers.

The criterion, written before the first run: the default has the lowest loss, as the geometric mean
of its ratio to "floored" over all splits. Columns and time are shown, and decide nothing.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from math import exp, log
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, SkipError, must
from benchmarks.datasets import MissingDataError
from benchmarks.objective import Row
from benchmarks.tabular.data import Entry, manifest, tuning

SCALINGS: tuple[str | None, ...] = ("floored", "unit", None)
SPLITS = (0, 1)
MOST_ROWS = 1500


def run(bench: Bench) -> Report:
    from kboost import KernelBoostClassifier

    try:
        tables = manifest().values()
    except MissingDataError as error:
        raise SkipError(str(error)) from error
    chosen = sorted((e for e in tables if e.rows <= MOST_ROWS), key=lambda e: e.rows)
    found: dict[tuple[str, int, str | None], Row] = {}
    for entry in chosen:
        for seed in SPLITS:
            for scaling in SCALINGS:
                job = {"entry": "column_scaling", "table": entry.name, "seed": seed}
                row = bench.other(
                    job | {"scaling": scaling}, partial(measure, entry, seed, scaling),
                    f"{entry.name}, split {seed}, {scaling}",
                )  # fmt: skip
                found[entry.name, seed, scaling] = must(row)
    ratios = {str(s): exp(fmean(_log_ratios(found, s))) for s in SCALINGS}
    default = str(KernelBoostClassifier().column_scaling)
    return Report(
        head=("table", *(f"loss, {s}" for s in SCALINGS), *(f"columns, {s}" for s in SCALINGS)),
        lines=[[e.name, *_means(found, e, "loss"), *_means(found, e, "columns")] for e in chosen],
        settings={"splits": SPLITS, "most rows": MOST_ROWS},
        ratios={"loss / floored": ratios},
        criterion=f"the default ({default}) has the lowest loss",
        met=ratios[default] == min(ratios.values()),
        notes=[
            f"{s}: loss {ratios[str(s)]:.3f} of floored, processor {_middle(found, s):.1f} s"
            for s in SCALINGS
        ],
    )


def _log_ratios(found: dict[Any, Row], scaling: str | None) -> list[float]:
    return [
        log(row["loss"] / found[table, seed, "floored"]["loss"])
        for (table, seed, each), row in found.items()
        if each == scaling
    ]


def _means(found: dict[Any, Row], entry: Entry, name: str) -> list[float]:
    return [fmean(found[entry.name, seed, s][name] for seed in SPLITS) for s in SCALINGS]


def _middle(found: dict[Any, Row], scaling: str | None) -> float:
    return median(row["fit_cpu_seconds"] for key, row in found.items() if key[2] == scaling)


def measure(entry: Entry, seed: int, scaling: str | None) -> Row:
    from sklearn.metrics import log_loss

    from kboost import KernelBoostClassifier, KernelBoostRegressor
    from kboost.preparation import TablePreparation

    split = tuning(entry.name, seed)
    make: Any = KernelBoostClassifier if entry.classifies else KernelBoostRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepare = TablePreparation().fit(split.X_train, split.y_train)
        start = time.process_time()
        model = make(column_scaling=scaling).fit(prepare.transform(split.X_train), split.y_train)
        seconds = time.process_time() - start
    X = prepare.transform(split.X_test)
    if entry.classifies:
        loss = log_loss(split.y_test, model.predict_proba(X), labels=model.classes_)
    else:
        loss = float(np.mean((model.predict(X) - split.y_test) ** 2) / np.var(split.y_test))
    return {
        "status": "ok",
        "loss": float(loss),
        "columns": int(model.n_columns_),
        "fit_cpu_seconds": seconds,
    }
