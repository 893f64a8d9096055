"""Friedman's first function, `KernelBoostRegressor()` with its defaults on 800 rows.

Rows are uniform in the unit cube of 10 or 30 features, of which five count. Training targets have
noise of deviation 1. 5,000 other rows judge: `error` is the NMSE against their targets without
noise (the same rows, `make_friedman1(noise=0)`), `noisy_error` against targets with noise like that
of the training rows, where no model gets below about 4 %.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

from benchmarks.objective import Row
from benchmarks.tabular.measure import in_a_process, main, of_numbers, processor_seconds

N_TRAIN, N_TEST = 800, 5000


@dataclass(frozen=True)
class FriedmanJob:
    """A draw of the rows."""

    features: int
    draw: int
    competitor: str = "KernelBoost"
    table: str = "friedman1"
    threads: int | None = None
    time_limit: float = 600.0


def judge(job: FriedmanJob) -> Row:
    """Run a job in a new process and return its row."""
    return in_a_process("benchmarks.tabular.friedman", asdict(job), job.threads, job.time_limit)


def measure(job: FriedmanJob) -> Row:
    from sklearn.datasets import make_friedman1

    from kboost import KernelBoostRegressor

    size = {"n_samples": N_TRAIN + N_TEST, "n_features": job.features, "random_state": job.draw}
    X, noisy = make_friedman1(noise=1.0, **size)
    _, plain = make_friedman1(noise=0.0, **size)
    model = KernelBoostRegressor()
    cpu, wall = processor_seconds(), time.perf_counter()
    model.fit(X[:N_TRAIN], noisy[:N_TRAIN])
    wall, cpu = time.perf_counter() - wall, processor_seconds() - cpu
    predicted = model.predict(X[N_TRAIN:])
    return {
        "status": "ok",
        "task": "regression",
        "error": of_numbers(plain[N_TRAIN:], predicted)["error"],
        "noisy_error": of_numbers(noisy[N_TRAIN:], predicted)["error"],
        "columns": int(model.n_columns_),
        "fit_seconds": wall,
        "fit_cpu_seconds": cpu,
    }


if __name__ == "__main__":
    main(lambda job: measure(FriedmanJob(**job)))
