"""One judge for kboost and its peers.

A job names a solver, a data set and their parameters. It runs in a process of its own, so that its
peak memory is its own and a time limit can end it; what comes back is a plain dict:

    status            "ok", "time limit", "missing data" or "failed", with a message if not ok
    train_error, test_error       fractions of rows
    false_positives, false_negatives   fractions of the negative and of the positive test rows
    columns           kernel columns, or support vectors
    gap               relative distance from the optimum that the solver proves, where it does
    objective         sum|coef| + C sum hinge, computed here from the model, where it is comparable
    fit_seconds       wall clock; fit_cpu_seconds beside it tells of a busy machine
    predict_seconds   for all test rows, median of up to 25 calls; predict_cpu_seconds likewise
    memory_mib        peak during fit and prediction beyond what imports and data take
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]
REPEATS = 25  # of a prediction, at most, within about a second


@dataclass(frozen=True)
class Job:
    """One run of a solver on a data set."""

    solver: str
    dataset: str
    solver_parameters: dict[str, Any] = field(default_factory=dict)
    dataset_parameters: dict[str, Any] = field(default_factory=dict)
    C: float | None = None  # weight of the errors in the objective; None: not comparable
    repeat: int = 0
    threads: int | None = None  # of BLAS and OpenMP; None: as a user's session would have them
    time_limit: float = 900.0  # seconds, for the whole process

    def key(self) -> str:
        """The same for the same settings."""
        return json.dumps(asdict(self), sort_keys=True)


def judge(job: Job) -> Row:
    """Run a job in a new process and return its row."""
    with tempfile.TemporaryDirectory() as directory:
        question, answer = Path(directory) / "job.json", Path(directory) / "row.json"
        question.write_text(job.key())
        command = [sys.executable, "-m", "benchmarks.objective", str(question), str(answer)]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment(job.threads),
                check=False,
                capture_output=True,
                text=True,
                timeout=job.time_limit,
            )
        except subprocess.TimeoutExpired:
            message = f"stopped after {job.time_limit:g} s"
            return {"status": "time limit", "message": message}
        if not answer.is_file():  # killed, for instance for want of memory
            words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            return {"status": "failed", "message": words[-1]}
        row: Row = json.loads(answer.read_text())
        return row


def environment(threads: int | None) -> dict[str, str]:
    """This process's, with the number of threads set for whatever library asks, if it is given."""
    if threads is None:
        return dict(os.environ)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads))}


# In the process of the job ------------------------------------------------------------------------


def answer(job: Job) -> Row:
    """Measure a job; errors become rows too."""
    from benchmarks.datasets import MissingDataError

    try:
        return measure(job)
    except MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    except Exception as error:
        return {"status": "failed", "message": f"{type(error).__name__}: {error}"}


def measure(job: Job) -> Row:
    """Load, prepare, fit, predict."""
    import numpy as np

    from benchmarks import datasets, solvers

    data = datasets.load(job.dataset, **job.dataset_parameters)
    solver = solvers.build(job.solver, **job.solver_parameters)
    solver.prepare(data)
    before = start_of_memory()

    cpu, wall = time.process_time(), time.perf_counter()
    model = solver.fit(data)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    predicted, predict_seconds, predict_cpu = timed(
        lambda: model.predict(data.X_test), most=REPEATS
    )
    memory = peak_memory() - before

    return {
        "status": "ok",
        "n_train": len(data.y_train),
        "n_test": len(data.y_test),
        "train_error": float(np.mean(model.predict(data.X_train) != data.y_train)),
        "test_error": float(np.mean(predicted != data.y_test)),
        "false_positives": float(np.mean(predicted[data.y_test < 0] > 0)),
        "false_negatives": float(np.mean(predicted[data.y_test > 0] < 0)),
        "objective": l1_hinge(model, data, job.C),
        "fit_seconds": wall,
        "fit_cpu_seconds": cpu,
        "predict_seconds": predict_seconds,
        "predict_cpu_seconds": predict_cpu,
        "memory_mib": max(0.0, memory / 2**20),
        **model.facts(),
    }


def l1_hinge(model: Any, data: Any, C: float | None) -> float | None:
    """`sum|coef| + C sum max(0, 1 - y f)` on the training rows."""
    import numpy as np

    if C is None or not hasattr(model, "penalty") or (penalty := model.penalty()) is None:
        return None
    slack = np.maximum(0.0, 1.0 - data.y_train * model.decision(data.X_train))
    return float(penalty + C * slack.sum())


def timed(
    call: Callable[[], Any], *, enough: float = 1.0, most: int = 5
) -> tuple[Any, float, float]:
    """The result, and the median time of up to `most` calls within about `enough` seconds.

    Times are by the wall clock, and by the processor.
    """
    wall: list[float] = []
    cpu: list[float] = []
    while not wall or (len(wall) < most and sum(wall) < enough):
        start, start_cpu = time.perf_counter(), time.process_time()
        result = call()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    return result, median(wall), median(cpu)


def start_of_memory() -> int:
    """Forget the peak so far where the system allows it (Linux); bytes in use now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def peak_memory() -> int:
    """Highest resident memory in bytes.

    Linux keeps two figures. `ru_maxrss` also remembers the process that started this one, so the
    other, VmHWM, comes first.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(question: str, reply: str) -> None:
    """Read the job and write the row atomically."""
    row = answer(Job(**json.loads(Path(question).read_text())))
    unfinished = Path(reply).with_suffix(".part")
    unfinished.write_text(json.dumps(row))
    os.replace(unfinished, reply)


if __name__ == "__main__":
    main(*sys.argv[1:])
