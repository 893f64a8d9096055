"""COVTYPE in the paper's own setting: a series of ensembles (SYB IV-B, Figure 5).

One Gaussian `exp(-|x-z|^2 / 10000)` on raw features, ridge 1e-4, ensembles of 50 base learners of
50 basis vectors each, initialised by MP on 2000 random rows, every ensemble on at most 25,000 rows
of lowest margin. The error on the 58,102 test rows after each ensemble is found afterwards, from
the centres and coefficients of the model. One draw: it takes long.

The criterion was that the error reaches the paper's 2.19 %. The page also says from where on it
stays there, which is what a user gets who stops a little earlier or later.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Row

GAMMA = 1e-4
LEARNERS, SIZE = 50, 50
UPDATE = {"columns_per_step": SIZE, "n_init_rows": 2000, "series": LEARNERS}
SETTING: dict[str, Any] = {
    "ridge": 1e-4,
    "selection": "mp",
    "max_columns": 150_000,
    "max_iter": 100_000,
    "max_seconds": 6600,
}
PAPER = 2.19
WORDS = "the paper: 2.19 % with 100,000 basis vectors in 17,000 s, 2.02 % in 25,000 s, of 2008"
HEAD = ("basis vectors", "error %", "fit s")


def run(bench: Bench) -> Report:
    job = {"entry": "covtype_series", "seed": 0, "update": UPDATE, **SETTING}
    row = must(bench.other(job, measure, "series of ensembles"))
    lines = [list(line) for line in zip(row["vectors"], row["errors"], row["seconds"], strict=True)]
    first = next((line for line in lines if line[1] <= PAPER), None)
    above = max((i for i, line in enumerate(lines) if line[1] > PAPER), default=-1)
    stays = lines[above + 1] if above + 1 < len(lines) else None
    return Report(
        head=HEAD,
        lines=lines,
        settings={"gamma": GAMMA, "update": UPDATE, **SETTING},
        ratios={"reached": _point(first), "stays below": _point(stays)},
        criterion=f"reaches the paper's {PAPER} %",
        met=first is not None,
        notes=[
            WORDS,
            row["stop_reason"],
            f"the error first reaches {PAPER} % {_words(first)}, and stays there {_words(stays)}",
            f"the whole fit: {row['fit_seconds']:.0f} s by the clock, "
            f"{row['fit_cpu_seconds']:.0f} s of the processor",
        ],
    )


def _point(line: list[Any] | None) -> dict[str, float] | None:
    return None if line is None else {"vectors": line[0], "seconds": line[2]}


def _words(line: list[Any] | None) -> str:
    return "nowhere" if line is None else f"from {line[0]:,} basis vectors on, {line[2]:.0f} s"


def measure() -> Row:
    from kboost import SparseKernelClassifier
    from kboost.kernels import Gaussian
    from kboost.settings import Full

    try:
        data = datasets.load("covtype", seed=0)
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    kernel = Gaussian(GAMMA)
    start, cpu = time.perf_counter(), time.process_time()
    model = SparseKernelClassifier([kernel], update=Full(**UPDATE), random_state=0, **SETTING)
    model.fit(data.X_train, data.y_train)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    step = LEARNERS * SIZE
    grown = {int(s.n_columns): s.seconds for s in model.trace_}
    ends = [*range(step, model.n_columns_, step), model.n_columns_]
    decision = np.full(len(data.X_test), float(model.intercept_))
    errors = []
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        values = kernel(data.X_test.astype(np.float64), model.centers_[first:end])
        decision += values @ model.dual_coef_[first:end]
        guess = model.classes_[(decision > 0).astype(int)]
        errors.append(100 * float(np.mean(guess != data.y_test)))
    return {
        "status": "ok",
        "vectors": ends,
        "errors": errors,
        "seconds": [round(grown.get(end, seconds), 1) for end in ends],
        "fit_seconds": seconds,
        "fit_cpu_seconds": cpu,
        "stop_reason": str(model.stop_reason_),
    }
