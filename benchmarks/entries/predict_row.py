"""One row at a time, as a service predicts: microseconds beside LightGBM, boosted trees and SVC.

Cases: Friedman's function (10 features; regression, its sign around the median, its thirds) from
2,000 rows, two classes from 20,000 rows, and a table of 5 numbers, 3 categories and gaps from 2,000
rows. Each call predicts one row that no model was fitted to: an array of shape (1, 10), for the
table a data frame of one row, and for the compiled predictor also a dict and an array of objects.
LightGBM and HistGradientBoosting have default settings and one thread (OpenMP threads wait for each
other on a busy machine), the SVC standardised features and one-hot categories in a pipeline. Of
ours there are `model`, the estimator's own `predict`, and `compiled`, that of `model.compile()`.

All of a case are timed in one process, 40 calls at a time in turn, 2,000 calls each after 40 that
do not count, so that a busy machine delays all alike. `p50` and `p99` are processor time of a call;
`wall` are the same by the clock, which on a busy machine is not ours to judge.

Batches: the same predictors on 20,000 rows with one thread and with the default, all cores; the
shorter of two by the clock. There is no criterion for them.

Criterion: in every case, for every estimator of ours and every form of a row, compiled: p50 at most
the p50 of LightGBM's scikit-learn API, and p99 at most twice that p50 of LightGBM.
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
N_TEST, N_BATCH, BATCHES = 500, 20_000, 2
SECONDS = 20.0  # of each fit of ours
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
BATCH_HEAD = ("case", "model", "columns", "1 thread s", "default s", "gain", "LightGBM s")
FORMS = {
    "compiled, dict": "dict",
    "compiled, objects": "objects",
}  # others: "row"
Call = Callable[[Any], Any]
Calls = dict[tuple[str, str], tuple[Call, int | None]]  # of model and way: its columns


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    batches: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    misses: list[str] = []
    for case in CASES:
        job = {"entry": "predict_row", "case": case, "calls": CALLS, "turn": TURN}
        row = must(bench.other(job, partial(measure, case), case))
        base = next(found["p50"] for found in row["found"] if found["model"] == BASE)
        for found in row["found"]:
            lines.append([case, *(found[key] for key in KEYS)])
            if not found["call"].startswith("compiled"):
                continue
            name = f"{case}: {found['model']}, {found['call']}"
            ratios[name] = {
                f"p50 / {BASE}'s p50": found["p50"] / base,
                f"p99 / {BASE}'s p50": found["p99"] / base,
            }
            if found["p50"] > base or found["p99"] > TAIL * base:
                misses.append(f"Missed: {name}, p50 {found['p50']:.0f}, p99 {found['p99']:.0f} us")
        for each in row["batches"]:
            gain = each["one"] / each["default"]
            ratios[f"{case}: {each['model']}, threads"] = gain
            batches.append([case, each["model"], each["columns"], each["one"], each["default"],
                            gain, row["batch_base"]])  # fmt: skip
    return Report(
        head=HEAD,
        lines=lines,
        settings={"calls": CALLS, "turn": TURN, "seconds": SECONDS},
        ratios=ratios,
        criterion=f"compiled p50 at most {BASE}'s p50, p99 at most {TAIL:g} times that",
        met=not misses,
        notes=misses,
        more=[(f"Batches of {N_BATCH:,} rows", BATCH_HEAD, batches)],
    )


KEYS = ("model", "call", "columns", "p50", "p99", "wall_p50", "wall_p99")


def measure(case: str) -> Row:
    """Percentiles of every model of a case."""
    from threadpoolctl import threadpool_limits

    X, y = data(case)
    n = CASES[case]
    with threadpool_limits(1, user_api="openmp"):
        models, own = peers(case, X[:n], y[:n]), ours(case, X[:n], y[:n])
        calls = {**{(name, "model"): entry for name, entry in models.items()}, **one_row(own)}
        found = percentiles(case, calls, X[n:])
        return {"status": "ok", "found": found, **in_batches(models[BASE][0], own, X)}


def percentiles(case: str, calls: Calls, X: Any) -> list[dict[str, Any]]:
    """The percentiles of each call."""
    forms = {"row": [X[i : i + 1] for i in range(len(X))]}
    if case == "mixed table":
        forms["dict"] = X.to_dict("records")
        forms["objects"] = [row.to_numpy(dtype=object) for row in forms["row"]]
    times = interleaved({name: call for name, (call, _) in calls.items()}, forms)
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
    return found


def in_batches(base: Call, own: dict[str, Any], X: Any) -> Row:
    """Seconds of the predictors of many rows: one thread, and the default."""
    which = np.arange(N_BATCH) % len(X)
    many = X.iloc[which].reset_index(drop=True) if hasattr(X, "iloc") else X[which]

    def seconds(call: Call) -> float:
        times = []
        for _ in range(BATCHES):
            start = time.perf_counter()
            call(many)
            times.append(time.perf_counter() - start)
        return min(times)

    batches = [
        {
            "model": name,
            "columns": model.n_columns_,
            "one": seconds(model.compile(n_jobs=1).predict),
            "default": seconds(model.compile().predict),
        }
        for name, model in own.items()
    ]
    return {"batches": batches, "batch_base": seconds(base)}


def interleaved(
    calls: dict[Any, Call], forms: dict[str, list[Any]]
) -> dict[Any, tuple[list[Any], list[Any]]]:
    """Microseconds of each call: of the processor and of the clock."""
    times: dict[Any, tuple[list[float], list[float]]] = {name: ([], []) for name in calls}
    for turn in range(-(WARM // TURN), CALLS // TURN):
        for name, call in calls.items():
            rows = forms[FORMS.get(name[1], "row")]
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


def peers(case: str, X: Any, y: Any) -> dict[str, tuple[Call, int | None]]:
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
        BASE: (trees.predict, trees.booster_.num_trees()),
        "HistGradientBoosting": (hist.predict, hist.n_iter_),
        "SVC": (machine.predict, len(machine[-1].support_)),
    }


def ours(case: str, X: Any, y: Any) -> dict[str, Any]:
    """Our estimators, fitted."""
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
    return {name: estimator.fit(X, y) for name, estimator in estimators.items()}


def one_row(models: dict[str, Any]) -> Calls:
    """`predict` of our estimators, and of their compiled predictors for every form of a row."""
    calls: Calls = {}
    for name, model in models.items():
        calls[name, "model"] = model.predict, model.n_columns_
        kinds = ("compiled", *FORMS) if hasattr(model, "feature_names_in_") else ("compiled",)
        for kind in kinds:
            calls[name, kind] = model.compile().predict, model.n_columns_
    return calls


def kind_of(case: str) -> str:
    return "Regressor" if case == "regression" else "Classifier"
