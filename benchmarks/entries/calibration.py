"""Probabilities on data that scikit-learn carries: kboost beside calibrated SVMs.

Features are standardised for everyone; half the rows are held out, three splits, means. Lower is
better everywhere: log loss, Brier score (summed over the classes), expected calibration error (15
bins of the largest probability), and contradictions, the rows whose most probable class is not the
one predicted. "bare" is a logistic function of kboost's decision values as they are.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Row

SEEDS = range(3)
DATASETS = ("breast_cancer", "wine", "digits")
SOLVERS = ("kboost", "CalibratedClassifierCV(SVC)", "SVC(probability=True)")
SCORES = ("log_loss", "brier", "ece", "contradictions", "test_error", "fit_seconds")
HEAD = ("data", "solver", "log loss", "Brier", "ECE", "contradictions", "test error", "fit s")
BINS = 15


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    met = True
    for dataset in DATASETS:
        rows = {solver: runs(bench, dataset, solver) for solver in SOLVERS}
        means = {solver: mean_of(found) for solver, found in rows.items()}
        ours, peer = (means[solver] for solver in SOLVERS[:2])
        bare = mean_of([{**row, **row["bare"]} for row in rows["kboost"]])
        lines.append([dataset, "kboost, bare", *bare.values()])
        lines += [[dataset, solver, *found.values()] for solver, found in means.items()]
        ratios[dataset] = {
            f"{name}, kboost / {label}": ours[name] / other[name]
            for label, other in (("bare", bare), ("calibrated SVC", peer))
            for name in ("log_loss", "brier")
        }
        met = met and ours["contradictions"] == 0
        met = met and all(ours[name] <= bare[name] for name in ("log_loss", "brier"))
    return Report(
        head=HEAD,
        lines=lines,
        settings={"seeds": list(SEEDS), "bins": BINS},
        ratios=ratios,
        criterion="no contradiction; log loss and Brier score not above those of bare values",
        met=met,
    )


def runs(bench: Bench, dataset: str, solver: str) -> list[Row]:
    rows = []
    for seed in SEEDS:
        job = {"entry": "calibration", "dataset": dataset, "solver": solver, "seed": seed}
        label = f"{dataset}, split {seed}: {solver}"
        rows.append(must(bench.other(job, partial(measure, dataset, solver, seed), label)))
    return rows


def mean_of(rows: list[Row]) -> dict[str, float]:
    return {name: fmean(row[name] for row in rows) for name in SCORES}


def measure(dataset: str, solver: str, seed: int) -> Row:
    from sklearn import datasets
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    X, y = getattr(datasets, f"load_{dataset}")(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(X)
    model = build(solver)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # SVC(probability=True) is on its way out
        model.fit(scaler.transform(X), y)
    seconds = time.perf_counter() - started
    rows = scaler.transform(X_test)
    predicted = model.predict(rows)
    row = {"status": "ok", "fit_seconds": seconds}
    if solver == "kboost":
        row["bare"] = scores(logistic(model.decision_function(rows)), predicted, y_test)
    return {**row, **scores(model.predict_proba(rows), predicted, y_test)}


def build(solver: str) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    from kboost import KernelBoostClassifier

    if solver == "kboost":
        return KernelBoostClassifier()
    if solver.startswith("SVC"):
        return SVC(probability=True, random_state=0)
    return CalibratedClassifierCV(SVC(), cv=5)


def logistic(decision: Any) -> Any:
    from scipy.special import softmax

    if decision.ndim == 1:
        decision = np.column_stack([np.zeros(len(decision)), decision])
    return softmax(decision, axis=1)


def scores(p: Any, predicted: Any, y: Any) -> Row:
    """What the table shows, of probabilities (n, n_classes) for labels 0, 1, ..."""
    own = np.eye(p.shape[1])[y]
    best, right = p.max(axis=1), p.argmax(axis=1) == y
    place = np.minimum((best * BINS).astype(int), BINS - 1)
    gaps = [abs((best - right)[place == b].sum()) for b in range(BINS)]
    return {
        "log_loss": float(-np.log(np.maximum(p[np.arange(len(y)), y], 1e-15)).mean()),
        "brier": float(((p - own) ** 2).sum(axis=1).mean()),
        "ece": float(sum(gaps) / len(y)),
        "contradictions": int(np.count_nonzero(p.argmax(axis=1) != predicted)),
        "test_error": float(np.mean(predicted != y)),
    }
