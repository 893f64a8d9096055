"""One job: a competitor on a table, in a process of its own; what comes back is a plain dict.

status            "ok", "time limit", "missing data" or "failed", with a message if not ok
error             1 - accuracy; of a regression, MSE / variance of the judged targets (NMSE)
log_loss, auc     of a classification; the AUC of several classes is the mean over one against
                  the rest
rmse              of a regression
fit_seconds       wall clock; fit_cpu_seconds: user and system, with the process's children
predict_row_seconds   a row, median over calls on the judged rows, by the wall clock
million_seconds   a million predictions by the wall clock: judged rows repeated up to 200,000 (or
                  what ten seconds allow), scaled; from the form that the library asks for
million_form_seconds   what it takes to bring a million raw rows into that form
model_bytes       of the pickled model
rarest            share of the smallest class in the training rows
n_train, n_test, n_features, n_classes
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.objective import ROOT, Row, environment, timed

MANY, BUDGET = 200_000, 10.0  # rows of the timed prediction, and its seconds


@dataclass(frozen=True)
class TableJob:
    """A competitor on a table: the split of the reports, or a tuning split by its seed."""

    competitor: str
    table: str
    seed: int | None = None  # None: the test quarter
    threads: int | None = None
    time_limit: float = 1800.0


def judge(job: TableJob) -> Row:
    """Run a job in a new process and return its row."""
    return in_a_process("benchmarks.tabular.measure", asdict(job), job.threads, job.time_limit)


def in_a_process(module: str, job: Row, threads: int | None, time_limit: float) -> Row:
    """What `module` answers to a job."""
    with tempfile.TemporaryDirectory() as directory:
        question, reply = Path(directory) / "job.json", Path(directory) / "row.json"
        question.write_text(json.dumps(job))
        command = [sys.executable, "-m", module, str(question), str(reply)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment(threads), check=False,
                capture_output=True, text=True, timeout=time_limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"status": "time limit", "message": f"stopped after {time_limit:g} s"}
        if not reply.is_file():  # killed, for instance for want of memory
            words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            return {"status": "failed", "message": words[-1]}
        row: Row = json.loads(reply.read_text())
        return row


# In the process of the job ------------------------------------------------------------------------


def answered(measure: Callable[[], Row]) -> Row:
    """What is measured; errors become rows too."""
    from benchmarks.datasets import MissingDataError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return measure()
    except MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    except Exception as error:
        return {"status": "failed", "message": f"{type(error).__name__}: {error}"}


def measure(job: TableJob) -> Row:
    """Load, bring into form, fit, judge, predict many."""
    from benchmarks.tabular import data
    from benchmarks.tabular.competitors import MAKERS

    entry = data.manifest()[job.table]
    split = data.reported(job.table) if job.seed is None else data.tuning(job.table, job.seed)
    competitor = MAKERS[job.competitor](entry.classifies, job.threads)
    competitor.learn(split.X_train)
    train, test = competitor.form(split.X_train), competitor.form(split.X_test)

    cpu, wall = processor_seconds(), time.perf_counter()
    competitor.fit(train, split.y_train)
    wall, cpu = time.perf_counter() - wall, processor_seconds() - cpu
    predicted, once, _ = timed(lambda: competitor.predict(test), most=25)
    if entry.classifies:
        scores = of_classes(split, predicted, competitor.probabilities(test))
    else:
        scores = of_numbers(split.y_test, predicted)
    return {
        "status": "ok",
        "task": entry.task,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "n_features": split.X_train.shape[1],
        **scores,
        "fit_seconds": wall,
        "fit_cpu_seconds": cpu,
        "predict_row_seconds": once / len(split.y_test),
        **million(competitor, split.X_test),
        "model_bytes": size(competitor.model),
        **competitor.facts(),
    }


def processor_seconds() -> float:
    """User and system seconds of this process and of its children, also of those still alive."""
    import resource

    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = sum(one.ru_utime + one.ru_stime for one in spent)
    try:
        import psutil
    except ImportError:
        return total
    for child in psutil.Process().children(recursive=True):
        try:
            theirs = child.cpu_times()
        except psutil.Error:
            continue
        total += theirs.user + theirs.system
    return total


def of_classes(split: Any, predicted: Any, probabilities: Any) -> Row:
    """Error, and log loss and AUC if there are probabilities, whose columns are the codes."""
    import numpy as np

    counts = np.bincount(split.y_train)
    row = {
        "error": float(np.mean(np.asarray(predicted) != split.y_test)),
        "log_loss": None,
        "auc": None,
        "n_classes": len(counts),
        "rarest": float(counts.min() / counts.sum()),
    }
    return row if probabilities is None else row | of_probabilities(split.y_test, probabilities)


def of_probabilities(y: Any, probabilities: Any) -> Row:
    import numpy as np
    from sklearn.metrics import roc_auc_score

    P = np.clip(np.asarray(probabilities, float), 1e-15, 1.0)
    P = P / P.sum(axis=1, keepdims=True)
    own = np.where(y >= 0, P[np.arange(len(y)), np.maximum(y, 0)], 1e-15)
    classes = [1] if P.shape[1] == 2 else range(P.shape[1])
    aucs = [roc_auc_score(y == k, P[:, k]) for k in classes if 0 < np.sum(y == k) < len(y)]
    return {"log_loss": float(-np.log(own).mean()), "auc": float(np.mean(aucs))}


def of_numbers(y: Any, predicted: Any) -> Row:
    import numpy as np

    mse = float(np.mean((np.asarray(predicted) - y) ** 2))
    return {"error": mse / float(np.var(y)), "rmse": mse**0.5}


def million(competitor: Any, frame: Any) -> Row:
    """Seconds of a million predictions, and of bringing the rows into form."""
    import numpy as np

    def rows(count: int) -> Any:
        return frame.iloc[np.arange(count) % len(frame)].reset_index(drop=True)

    few = competitor.form(rows(2000))
    competitor.predict_fast(few)
    pace = seconds(lambda: competitor.predict_fast(few)) / 2000
    count = int(np.clip(BUDGET / pace, 2000, MANY))
    raw = rows(count)
    forming = seconds(lambda: competitor.form(raw))
    formed = competitor.form(raw)
    predicting = min(seconds(lambda: competitor.predict_fast(formed)) for _ in range(2))
    return {
        "million_seconds": 1e6 / count * predicting,
        "million_form_seconds": 1e6 / count * forming,
    }


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def size(model: Any) -> int | None:
    """Bytes of the pickle, if there is one."""
    try:
        return len(pickle.dumps(model))
    except Exception:
        return None


def main(make: Callable[[Row], Row]) -> None:
    """Read the job and write the row atomically."""
    question, reply = map(Path, sys.argv[1:])
    job = json.loads(question.read_text())
    row = answered(lambda: make(job))
    unfinished = reply.with_suffix(".part")
    unfinished.write_text(json.dumps(row))
    os.replace(unfinished, reply)


if __name__ == "__main__":
    main(lambda job: measure(TableJob(**job)))
