"""One row at a time, as a service predicts: microseconds beside LightGBM, boosted trees and SVC.

Cases: Friedman's function (10 features; regression, its sign around the median, its thirds) from
2,000 rows, two classes from 20,000 rows, and a table of 5 numbers, 3 categories and gaps from 2,000
rows. Each call predicts one row that no model was fitted to: an array of shape (1, 10), for the
table a data frame of one row. LightGBM and HistGradientBoosting have default settings (one thread),
the SVC standardised features and one-hot categories in a pipeline. Of ours there are `model`, the
estimator's own `predict`, and `compiled`, that of `model.compile()`.

All of a case are timed in one process, 40 calls at a time in turn, 2,000 calls each after 40 that
do not count, so that a busy machine delays all alike. `p50` and `p99` are processor time of a call;
`wall` are the same by the clock, which on a busy machine is not ours to judge.

Criterion: in every case, for every estimator of ours, compiled: p50 at most the p50 of LightGBM's
scikit-learn API, and p99 at most twice its own p50.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Row

CALLS, TURN, WARM = 2000, 40, 40
N_TEST = 500
SECONDS = 60.0  # of each fit of ours
CASES = {
    "regression": 2000,
    "two classes": 2000,
    "three classes": 2000,
    "two classes, 20,000 rows": 20_000,
    "mixed table": 2000,
}
BASE = "LightGBM"
TAIL = 2.0
HEAD = ("case", "model", "call", "columns", "p50 us", "p99 us", "wall p50 us", "wall p99 us")
Call = Callable[[Any], Any]


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    misses: list[str] = []
    for case in CASES:
        job = {"entry": "predict_row", "case": case, "calls": CALLS, "turn": TURN}
        row = must(bench.other(job, partial(measure, case), case))
        base = next(found["p50"] for found in row["found"] if found["model"] == BASE)
        for found in row["found"]:
            lines.append([case, *(found[key] for key in KEYS)])
            if found["call"] != "compiled":
                continue
            name = f"{case}: {found['model']}"
            ratios[name] = {
                f"p50 / {BASE}'s": found["p50"] / base,
                "p99 / p50": found["p99"] / found["p50"],
            }
            if found["p50"] > base or found["p99"] > TAIL * found["p50"]:
                misses.append(f"{name}: p50 {found['p50']:.0f}, p99 {found['p99']:.0f} us")
    return Report(
        head=HEAD,
        lines=lines,
        settings={"calls": CALLS, "turn": TURN, "seconds": SECONDS},
        ratios=ratios,
        criterion=f"compiled p50 at most {BASE}'s, p99 at most {TAIL:g} times its own p50",
        met=not misses,
        notes=misses,
    )


KEYS = ("model", "call", "columns", "p50", "p99", "wall_p50", "wall_p99")


def measure(case: str) -> Row:
    """Percentiles of every model of a case."""
    X, y = data(case)
    n = CASES[case]
    calls = {**peers(case, X[:n], y[:n]), **ours(case, X[:n], y[:n])}
    rows = [X[i : i + 1] for i in range(n, n + N_TEST)]
    times = interleaved({name: call for name, (call, _) in calls.items()}, rows)
    found = []
    for (model, call), (_, columns) in calls.items():
        cpu, wall = times[model, call]
        found.append(
            {
                "model": model,
                "call": call,
                "columns": columns,
                "p50": float(np.percentile(cpu, 50)),
                "p99": float(np.percentile(cpu, 99)),
                "wall_p50": float(np.percentile(wall, 50)),
                "wall_p99": float(np.percentile(wall, 99)),
            }
        )
    return {"status": "ok", "found": found}


def interleaved(calls: dict[Any, Call], rows: list[Any]) -> dict[Any, tuple[list[Any], list[Any]]]:
    """Microseconds of each call: of the processor and of the clock."""
    times: dict[Any, tuple[list[float], list[float]]] = {name: ([], []) for name in calls}
    for turn in range(-(WARM // TURN), CALLS // TURN):
        for name, call in calls.items():
            for i in range(TURN):
                row = rows[(turn * TURN + i) % len(rows)]
                cpu, wall = time.process_time_ns(), time.perf_counter_ns()
                call(row)
                wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
                if turn >= 0:
                    times[name][0].append(cpu / 1e3)
                    times[name][1].append(wall / 1e3)
    return times


def data(case: str) -> tuple[Any, Any]:
    """Rows to fit and rows to predict, in this order."""
    from sklearn.datasets import make_friedman1

    n = CASES[case] + N_TEST
    X, y = make_friedman1(n, n_features=10, noise=1.0, random_state=0)
    if case == "three classes":
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    elif case != "regression":
        y = (y > np.median(y)).astype(int)
    return (mixed(X) if case == "mixed table" else X), y


def mixed(X: Any) -> Any:
    """Five numbers, one with gaps, and three categories."""
    import pandas as pd

    frame = pd.DataFrame(X[:, :5], columns=[f"number{j}" for j in range(5)])
    frame.loc[np.arange(len(X)) % 7 == 0, "number4"] = np.nan
    for j, levels in ((5, 3), (6, 8), (7, 25)):
        codes = np.minimum((X[:, j] * levels).astype(int), levels - 1)
        values = np.array([f"level{k}" for k in range(levels)])
        frame[f"category{j}"] = pd.Categorical(values[codes], values)
    return frame


def peers(case: str, X: Any, y: Any) -> dict[tuple[str, str], tuple[Call, int | None]]:
    """The peers' `predict`, with their trees or support vectors."""
    import lightgbm
    from sklearn import ensemble, svm
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    kind = kind_of(case)
    trees = getattr(lightgbm, "LGBM" + kind)(n_jobs=1, verbose=-1).fit(X, y)
    hist = getattr(ensemble, "HistGradientBoosting" + kind)(
        **({"categorical_features": "from_dtype"} if case == "mixed table" else {})
    ).fit(X, y)
    scale: Any = StandardScaler()
    if case == "mixed table":
        scale = make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), X.columns[:5]),
            (OneHotEncoder(), X.columns[5:]),
        )
    machine = make_pipeline(scale, svm.SVR() if kind == "Regressor" else svm.SVC()).fit(X, y)
    return {
        (BASE, "model"): (trees.predict, trees.booster_.num_trees()),
        ("HistGradientBoosting", "model"): (hist.predict, hist.n_iter_),
        ("SVC", "model"): (machine.predict, len(machine[-1].support_)),
    }


def ours(case: str, X: Any, y: Any) -> dict[tuple[str, str], tuple[Call, int | None]]:
    """`predict` of our estimators, and of their compiled predictors."""
    import kboost

    kind = kind_of(case)
    estimators: dict[str, Any] = {
        "AutoKernel": getattr(kboost, "AutoKernel" + kind)(max_seconds=SECONDS)
    }
    if case != "mixed table":
        sparse = getattr(kboost, "SparseKernel" + kind)
        estimators["SparseKernel"] = sparse()
        estimators["SparseKernel, cells"] = sparse(cells=500)
        if CASES[case] <= 2000:
            boost = getattr(kboost, "KernelBoost" + kind)
            estimators["KernelBoost"] = boost(C=1.0, max_seconds=SECONDS)
    calls: dict[tuple[str, str], tuple[Call, int | None]] = {}
    for name, estimator in estimators.items():
        model = estimator.fit(X, y)
        calls[name, "model"] = model.predict, model.n_columns_
        calls[name, "compiled"] = model.compile().predict, model.n_columns_
    return calls


def kind_of(case: str) -> str:
    return "Regressor" if case == "regression" else "Classifier"
