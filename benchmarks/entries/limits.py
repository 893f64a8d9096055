"""Time limits of every estimator with 20,000 rows and 20 features: a model, in time.

Friedman's function; its sign around the median for classifiers, a fifth of the labels for the
semi-supervised one. Limits of 0.01, 2 and 8 seconds, by the processor's clock, which other work on
the machine does not disturb; preparation of the data is part of the fit. Each fit runs in a copy of
one process. Two estimators would need more memory than their budget, say so at once, and are fitted
to fewer rows too.

Criterion: every fit gives a model that predicts, at most 10 % + 0.5 s over its limit, and the
reason is `max_seconds` where the limit ended it; a refusal by `memory_budget` takes 0.5 s at most.
"""

from __future__ import annotations

import time
import warnings
from functools import cache, partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from benchmarks.bench import Bench, Report
from benchmarks.entries import memory
from benchmarks.objective import Row

ROWS, FEATURES = 20_000, 20
FEWER = {"baselines.MKLClassifier": 4_000, "baselines.KernelDesignClassifier": 6_000}
SECONDS = (0.01, 2.0, 8.0)
RELATIVE, ABSOLUTE = 0.1, 0.5  # overshoot
LIMIT = 120.0  # seconds of the processor
ESTIMATORS = [name for name in memory.ESTIMATORS if "Composite" not in name]  # no max_seconds
CASES = [(name, ROWS) for name in ESTIMATORS] + list(FEWER.items())
HEAD = ("estimator", "rows", "max_seconds", "cpu s", "over s", "reason")


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    misses: list[str] = []
    over: dict[str, float] = {}
    for seconds in SECONDS:
        for name, rows in CASES:
            label = f"{name}, {rows:,} rows, {seconds:g} s"
            job = {"entry": "limits", "name": name, "rows": rows, "seconds": seconds}
            if not bench.wants(job):
                continue
            row = bench.other(job, partial(measure, name, rows, seconds), label)
            over[label] = row["seconds"] - seconds
            cpu, late = row["seconds"], max(0.0, over[label])
            lines.append([name, rows, seconds, cpu, late, row["words"][:60]])
            allowed = RELATIVE * seconds + ABSOLUTE
            if row["verdict"] == "loss" or over[label] > allowed:
                misses.append(f"{label}: {over[label]:.2f} s over; {row['words']}")
    return Report(
        head=HEAD,
        lines=lines,
        settings={"rows": ROWS, "features": FEATURES},
        ratios={"most seconds over": max(over.values())},
        criterion="a model, at most 10 % + 0.5 s over the limit",
        met=not misses,
        notes=[f"Missed: {miss}" for miss in misses],
    )


def measure(name: str, rows: int, seconds: float) -> Row:
    """The row of one fit."""
    from benchmarks.faults.children import in_child

    row = in_child(partial(fit, name, rows, seconds), LIMIT)
    return {"status": "ok", **row, "seconds": float(row.get("cpu", LIMIT))}


# In the copy --------------------------------------------------------------------------------------


def fit(name: str, rows: int, seconds: float, begin: Any) -> Any:
    """Fit with the processor's clock, and judge the model."""
    import numpy as np

    from benchmarks.faults.outcome import LOSS, MODEL, SENTENCE, Outcome, words_of

    model, (X, y) = made(name, max_seconds=seconds), data(name, rows)
    clock = SimpleNamespace(monotonic=time.process_time, time=time.time)
    begin()
    with patch("kboost.core.deadline.time", clock), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            model.fit(X, y)
        except Exception as error:
            cpu = time.process_time() - start
            refused = str(error).startswith("memory_budget must be at least") and cpu < ABSOLUTE
            return Outcome(SENTENCE if refused else LOSS, str(error)[:300], {"cpu": cpu})
        cpu = time.process_time() - start
        predicted = np.asarray(model.predict(X[:100]), dtype=float)
    good = bool(np.isfinite(predicted).all())
    return Outcome(MODEL if good else LOSS, words_of(model), {"cpu": cpu})


def made(name: str, **options: Any) -> Any:
    """The estimator with its limit, if any."""
    import kboost
    import kboost.baselines
    import kboost.compose

    module, _, own = name.rpartition(".")
    return getattr(getattr(kboost, module) if module else kboost, own)(**options)


@cache
def data(name: str, rows: int) -> tuple[Any, Any]:
    import numpy as np
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(rows, n_features=FEATURES, noise=1.0, random_state=0)
    if name.endswith(("Classifier", "SVC")):
        y = (y > np.median(y)).astype(int)
    if name.startswith("SemiSupervised"):
        y[np.arange(rows) % 5 > 0] = -1
    return X, y
