"""MKBoost-S1 with 17 kernels on up to 20,000 digits, odd against even, and an SVC grid beside it.

Pixels are standardised; 10,000 other digits judge. The grid search is scikit-learn's SVC with the
same 17 kernels, each in the same unit (mean diagonal 1, C = 50), three folds, then the best one on
all rows; at 20,000 rows it has the first of the folds alone, a third of the work. Its fits are jobs
of their own, so that it can be taken up; its time is their sum. Most of the widths are far too
narrow for 784 features, for both. With `--seconds`, sizes that are not complete are left out and
named.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, SkipError, must
from benchmarks.datasets import Data, data_file, standardised
from benchmarks.entries._mkb import SETTINGS, C, judged, mkboost, paper_kernels, timed_fit
from benchmarks.objective import Row

SIZES, FOLDS, BUDGET = (1_000, 2_500, 20_000), 3, 2**33
JUDGED_BY = {20_000: 1}  # folds that are tried; all, where it does not say
HEAD = ("rows", "method", "test accuracy", "processor s", "wall s")


def run(bench: Bench) -> Report:
    found = {rows: size(bench, rows) for rows in SIZES}
    there = {rows: one for rows, one in found.items() if one is not None}
    if not there:
        raise SkipError("no size could be completed in the time that was given")
    most, missing = max(there), [f"{rows:,}" for rows in SIZES if rows not in there]
    chosen = ", ".join(f"{one['kernel']} at {rows:,}" for rows, one in there.items())
    return Report(
        head=HEAD,
        lines=[line for rows, one in there.items() for line in lines(rows, one)],
        settings={**SETTINGS, "folds": FOLDS, "memory_budget": BUDGET},
        ratios={f"time, {rows} rows": one["ratio"] for rows, one in there.items()},
        criterion=f"S1 within the time of the grid search and at least as accurate, {most:,} rows",
        met=there[most]["ratio"] <= 1
        and there[most]["S1"]["accuracy"] >= there[most]["grid"]["accuracy"],
        notes=[
            f"the grid search chose {chosen}",
            *([f"{', '.join(missing)} rows: not run to the end, so not judged"] if missing else []),
        ],
    )


def size(bench: Bench, rows: int) -> dict[str, Any] | None:
    """Both methods on so many rows, or nothing where there is no time for all of it."""
    ours = ask(bench, rows, "MKBoost-S1", partial(boosted, rows), what="S1")
    kernels, n_folds = range(len(paper_kernels())), JUDGED_BY.get(rows, FOLDS)
    folds = {
        (j, f): ask(bench, rows, f"SVC, kernel {j}, fold {f}", partial(fold, rows, j, f),
                    what="fold", kernel=j, fold=f)
        for j in kernels for f in range(n_folds)
    }  # fmt: skip
    tried = [row for row in folds.values() if row is not None]
    if ours is None or len(tried) < len(folds):
        return None
    best = max(kernels, key=lambda j: sum(folds[j, f]["accuracy"] for f in range(n_folds)))
    last = ask(bench, rows, "SVC, all rows", partial(refit, rows, best), what="refit", kernel=best)
    if last is None:
        return None
    cpu, wall = (
        sum(row[key] for row in [*tried, last]) for key in ("fit_cpu_seconds", "fit_seconds")
    )
    return {
        "S1": ours,
        "grid": {"accuracy": last["accuracy"], "fit_cpu_seconds": cpu, "fit_seconds": wall},
        "kernel": repr(paper_kernels()[best]),
        "ratio": ours["fit_cpu_seconds"] / cpu,
    }


def lines(rows: int, one: dict[str, Any]) -> list[list[Any]]:
    return [
        [rows, name, f"{row['accuracy']:.4f}", row["fit_cpu_seconds"], row["fit_seconds"]]
        for name, row in (("MKBoost-S1", one["S1"]), ("SVC grid search", one["grid"]))
    ]


def ask(bench: Bench, rows: int, label: str, measure: Any, **job: Any) -> Row | None:
    job = {"entry": "mkb_mnist", "rows": rows, **job}
    return must(bench.other(job, measure, f"{rows}: {label}")) if bench.wants(job) else None


@lru_cache(maxsize=1)
def load(rows: int) -> Data:
    with np.load(data_file("mnist.npz")) as file:
        train = np.random.default_rng(0).permutation(file["train"])[:rows]
        parts = [file["X"][part].astype(np.float64) for part in (train, file["test"])]
        y_train, y_test = (file["y"][part] % 2.0 for part in (train, file["test"]))
    X_train, X_test = standardised(*parts)
    return Data(X_train, y_train, X_test, y_test)


def guarded(rows: int, measure: Any) -> Row:
    try:
        row: Row = measure(load(rows))
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    return row


def boosted(rows: int) -> Row:
    model = mkboost("S1", column_scaling="mean", seed=0, memory_budget=BUDGET)
    return guarded(rows, partial(judged, model))


def svc(j: int, X: Any) -> Any:
    """The machine of one of the kernels, in the unit that MKBoost gives it."""
    from sklearn.svm import SVC

    kernel = paper_kernels()[j]
    price = C / float(np.mean(kernel.diag(X)))
    if hasattr(kernel, "degree"):
        return SVC(C=price, kernel="poly", degree=kernel.degree, gamma=1.0, coef0=1.0,
                   cache_size=1000)  # fmt: skip
    return SVC(C=price, gamma=kernel.gamma, cache_size=1000)


def fold(rows: int, j: int, f: int) -> Row:
    def measure(data: Data) -> Row:
        held = np.arange(rows) % FOLDS == f
        model = svc(j, data.X_train[~held])
        _, wall, cpu = timed_fit(lambda: model.fit(data.X_train[~held], data.y_train[~held]))
        score, more, more_cpu = timed_fit(
            lambda: model.score(data.X_train[held], data.y_train[held])
        )
        return {"status": "ok", "accuracy": float(score), "fit_seconds": wall + more,
                "fit_cpu_seconds": cpu + more_cpu}  # fmt: skip

    return guarded(rows, measure)


def refit(rows: int, j: int) -> Row:
    return guarded(rows, lambda data: judged(svc(j, data.X_train), data))
