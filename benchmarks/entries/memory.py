"""Memory of every estimator: `memory_budget` bounds the fit, or the fit is refused at once.

Friedman's function with 10 features; its sign around the median for classifiers, a fifth of the
labels for the semi-supervised one. 20,000 rows under budgets of 1 GiB (the default) and 256 MiB,
100,000 rows under 1 GiB. Every fit has 30 seconds. The AutoKernel estimators have no budget to set
and are held to 1 GiB. The figure is the peak of resident memory during fit and the prediction of
the training rows, in a process of its own, beyond what imports and data take.

Criterion: every fit ends with a peak of at most 1.5 times its budget, or is refused within 5 s of
processor time by one sentence with a budget that would do.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from functools import partial
from typing import Any

from benchmarks.bench import Bench, Report
from benchmarks.objective import ROOT, Row, peak_memory, start_of_memory

SECONDS, LIMIT, REFUSAL, MOST = 30.0, 600.0, 5.0, 1.5
GIB = 2**30
CASES = ((20_000, GIB), (20_000, GIB // 4), (100_000, GIB))
NO_BUDGET = ("AutoKernelClassifier", "AutoKernelRegressor")
ESTIMATORS = (
    *NO_BUDGET,
    "SparseKernelClassifier",
    "SparseKernelRegressor",
    "KernelBoostClassifier",
    "KernelBoostRegressor",
    "KernelBoostNovelty",
    "SemiSupervisedKernelBoostClassifier",
    "MKBoostClassifier",
    "baselines.BoostedSVMClassifier",
    "baselines.MKLClassifier",
    "baselines.KernelDesignClassifier",
    "baselines.CompositeSVC",
    "baselines.CompositeSVR",
    "compose.ColumnGenerationClassifier",
    "compose.ColumnGenerationRegressor",
)
HEAD = ("rows", "budget MiB", "estimator", "peak MiB", "peak / budget", "cpu s", "outcome")


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    misses: list[str] = []
    for n_rows, budget in CASES:
        for name in ESTIMATORS:
            if name in NO_BUDGET and budget != GIB:
                continue
            label = f"{name}, {n_rows:,} rows, {budget >> 20} MiB"
            job = {"entry": "memory", "name": name, "rows": n_rows, "budget": budget}
            if not bench.wants(job):
                continue
            row = bench.other(job, partial(judge, name, n_rows, budget), label)
            ratio = row["memory"] / budget
            ratios[label] = ratio
            lines.append(
                [n_rows, budget >> 20, name, row["memory"] / 2**20, ratio, row["cpu"],
                 row["outcome"]]
            )  # fmt: skip
            if not (ratio <= MOST and is_answer(row)):
                misses.append(f"{label}: {ratio:.2f} of the budget; {row['outcome']}")
    return Report(
        head=HEAD,
        lines=lines,
        settings={"seconds": SECONDS, "limit": LIMIT},
        ratios=ratios,
        criterion=f"peak at most {MOST:g} times the budget, or refused within {REFUSAL:g} s",
        met=not misses,
        notes=[f"Missed: {miss}" for miss in misses],
    )


def is_answer(row: Row) -> bool:
    """Whether there is a model, or one sentence at once, with a budget that would do."""
    if row["refused"]:
        named = re.search(r"memory_budget must be at least \d+ bytes", row["outcome"])
        return named is not None and row["cpu"] <= REFUSAL
    return bool(row["status"] == "ok")


def judge(name: str, n_rows: int, budget: int) -> Row:
    """The row of one fit, measured in a new process."""
    command = [sys.executable, "-W", "ignore", "-m", __name__, name, str(n_rows), str(budget)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return failed("time limit", f"no answer in {LIMIT:g} s")
    if done.returncode:
        words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return failed("failed", words[-1])
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def failed(status: str, outcome: str) -> Row:
    return {
        "status": status,
        "outcome": outcome,
        "refused": False,
        "memory": float("nan"),
        "cpu": float("nan"),
    }


# In the process of the fit ------------------------------------------------------------------------


def measure(name: str, n_rows: int, budget: int) -> Row:
    """Peak of fit and prediction."""
    estimator, (X, y) = built(name, budget), data(name, n_rows)
    before, start = start_of_memory(), time.process_time()
    refused, outcome = False, "a model"
    try:
        model = estimator.fit(X, y)
        cpu = time.process_time() - start
        model.predict(X)
        outcome = f"a model: {rule(model)}"
    except ValueError as error:
        cpu = time.process_time() - start
        refused, outcome = "memory_budget" in str(error), str(error)
        if not refused:
            raise
    memory = max(0, peak_memory() - before)
    return {"status": "ok", "refused": refused, "outcome": outcome, "memory": memory, "cpu": cpu}


def rule(model: Any) -> str:
    reason = getattr(model, "stop_reason_", "fitted")
    first = reason[0] if isinstance(reason, list) else reason
    return str(getattr(first, "rule", first))


def built(name: str, budget: int) -> Any:
    """The estimator with its budget and its time."""
    import kboost
    import kboost.baselines
    import kboost.compose
    from kboost.settings import ColumnGeneration

    module, _, own = name.rpartition(".")
    kind = getattr(getattr(kboost, module) if module else kboost, own)
    known = kind().get_params()
    settings: dict[str, Any] = {"max_seconds": SECONDS} if "max_seconds" in known else {}
    if "memory_budget" in known:
        settings["memory_budget"] = budget
    elif "solver" in known:
        settings["solver"] = ColumnGeneration(memory_budget=budget)
    return kind(**settings)


def data(name: str, n_rows: int) -> tuple[Any, Any]:
    import numpy as np
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n_rows, n_features=10, noise=1.0, random_state=0)
    if name.endswith(("Classifier", "SVC")):
        y = (y > np.median(y)).astype(int)
    if name.startswith("SemiSupervised"):
        y[np.arange(n_rows) % 5 > 0] = -1
    return X, y


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
