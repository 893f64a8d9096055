"""Five methods of multiple kernel learning to a gap of 0.01, beside EasyMKL and an SVC by grid.

Sets of the MKBoost paper, half of the rows to train; its 17 kernels, scaled to a mean diagonal of
1; C = 50; one against one. Times are processor seconds of a fit from raw features, kernel matrices
included, one thread; times and accuracies are means over the seeds. EasyMKL has MKLpy's own
defaults (lam = 0.1, KOMD) and no certificate. The grid chooses among the same 17 scaled kernels by
five folds and fits the best one again; it learns no mixture.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, SkipError
from benchmarks.datasets import Data, MissingDataError
from benchmarks.entries import _easymkl
from benchmarks.entries._mkb import DEGREES, WIDTHS, C, judged, paper_kernels
from benchmarks.objective import Row

SETS = ("D12", "D7", "D4", "D8", "D16", "D5", "D13", "D1", "D14", "D15")
SEEDS = range(3)
TOL = 0.01
METHODS = ("simple", "silp", "level", "hessian", "lp")
PEERS = ("EasyMKL", "grid")
HEAD = ("data", "rows", "classes", "", *METHODS, *PEERS)


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    seconds: dict[str, list[float]] = {name: [] for name in (*METHODS, *PEERS)}
    reasons, worst = set(), 0.0
    for which in SETS:
        found = {name: runs(bench, which, name) for name in (*METHODS, *PEERS)}
        data = loaded(which, 0)
        size = [which, len(data.y_train), len(np.unique(data.y_train))]
        for measure in ("fit_cpu_seconds", "accuracy"):
            words = "accuracy" if measure == "accuracy" else "seconds"
            lines.append([*size, words, *(mean(rows, measure) for rows in found.values())])
        for name, rows in found.items():
            reasons |= {row["message"] for row in rows if row["status"] != "ok"}
            if (value := mean(rows, "fit_cpu_seconds")) is not None:
                seconds[name].append(value)
        worst = max(worst, *(row["gap"] for name in METHODS for row in found[name]))
    return Report(
        head=HEAD,
        lines=lines,
        settings={
            "sets": SETS,
            "seeds": list(SEEDS),
            "C": C,
            "tol": TOL,
            "normalize": "mean",
            "widths": WIDTHS,
            "degrees": DEGREES,
        },
        ratios={"geometric mean of seconds over the sets": geometric(seconds)},
        criterion=f"every method at a proven relative gap of {TOL:g}",
        met=worst <= TOL,
        notes=[
            "geometric means of the seconds: "
            + ", ".join(f"{name} {value:.2f}" for name, value in geometric(seconds).items()),
            "simple, silp, level and hessian solve the same problem; lp is p = 2",
            *sorted(reasons),
        ],
    )


def runs(bench: Bench, which: str, name: str) -> list[Row]:
    def once(seed: int) -> Row:
        job = {"set": which, "method": name, "seed": seed}
        return bench.other(job, lambda: measured(which, name, seed), f"{which}, {seed}: {name}")

    return [once(seed) for seed in SEEDS]


def measured(which: str, name: str, seed: int) -> Row:
    data = loaded(which, seed)
    if name == "EasyMKL":
        return _easymkl.measure(data, list(WIDTHS), list(DEGREES))
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if name == "grid":
            model = grid(data)
            return {**judged(model, data), "chosen": model.best_params_}
        model = mkl(name)
        return {**judged(model, data), **facts(model)}


def mkl(method: str) -> Any:
    from kboost.baselines import MKLClassifier

    return MKLClassifier(paper_kernels(), method=method, C=C, tol=TOL)


def facts(model: Any) -> Row:
    traces = [model.trace_] if len(model.classes_) == 2 else model.trace_
    return {
        "gap": float(np.max(model.dual_gap_)),
        "objective": float(np.sum(model.objective_)),
        "steps": max(map(len, traces)),
        "machines": model.n_svms_,
        "columns": model.n_columns_,
    }


def grid(data: Data) -> Any:
    """SVC over the kernels; a kernel divided by its mean diagonal is a C divided by it."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    squares = (data.X_train**2).sum(axis=1)
    choices: list[dict[str, list[Any]]] = [
        {"kernel": ["rbf"], "gamma": [1 / (2 * width**2) for width in WIDTHS], "C": [C]}
    ]
    for degree in DEGREES:
        scaled = C / float(np.mean((squares + 1) ** degree))
        choices.append({"kernel": ["poly"], "gamma": [1.0], "coef0": [1.0],
                        "degree": [degree], "C": [scaled]})  # fmt: skip
    return GridSearchCV(SVC(), choices, cv=5)


def loaded(which: str, seed: int) -> Data:
    try:
        return datasets.load("mkb", which=which, seed=seed)
    except MissingDataError as error:
        raise SkipError(str(error)) from error


def mean(rows: list[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row["status"] == "ok"]
    return fmean(values) if values else None


def geometric(seconds: dict[str, list[float]]) -> dict[str, float]:
    known = {name: values for name, values in seconds.items() if values}
    return {name: float(np.exp(np.mean(np.log(values)))) for name, values in known.items()}
