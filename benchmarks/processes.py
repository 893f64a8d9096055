"""`python -m benchmarks.processes`: the same fits in threads, fork, spawn, loky and Dask.

BLAS has two threads before every fit. For each way of starting four fits at a time:

    equal      every model predicts the bits of the model of this process
    restored   BLAS has two threads again: in a worker after each fit, in this process after all
    within     the log of each fit saw BLAS with one thread: workers fill the cores already

Criterion: all three, everywhere.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "2"))

import argparse
import json
import logging
import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

import kboost
from kboost.persistence.replacing import replace_content

N_FITS, WORKERS = 4, 2
ESTIMATORS = {
    "margin": kboost.KernelBoostClassifier(C=1.0, n_jobs=2),
    "least squares": kboost.SparseKernelClassifier(max_columns=20, n_jobs=2),
    "boosting": kboost.MKBoostClassifier(max_iter=5, n_jobs=2),
    "door": kboost.AutoKernelClassifier(max_seconds=None, n_jobs=2),
}


class Fitted(NamedTuple):
    """What a worker saw."""

    values: Any
    inside: int  # fewest BLAS threads that its log saw
    after: int


def blas_threads() -> int:
    """The threads of BLAS in this process."""
    pools = ThreadpoolController().select(user_api="blas").info()
    return max(pool["num_threads"] for pool in pools)


def fit(name: str) -> Fitted:
    """One fit, in whatever process or thread."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    inside: list[int] = []

    def stop(record: Any) -> bool:
        inside.append(blas_threads())
        return True

    logger = logging.getLogger("kboost")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(stop)
    try:
        model = ESTIMATORS[name].fit(X, y)
    finally:
        logger.removeFilter(stop)
        logger.setLevel(level)
    return Fitted(model.predict_proba(X), min(inside, default=0), blas_threads())


def _pool(method: str) -> Callable[[list[str]], list[Fitted]]:
    def run(names: list[str]) -> list[Fitted]:
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
            return list(pool.map(fit, names))

    return run


def _threads(names: list[str]) -> list[Fitted]:
    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(_fit_copy, names))


def _fit_copy(name: str) -> Fitted:
    """Threads share this module, and no estimator."""
    ESTIMATORS[name] = clone(ESTIMATORS[name])
    return fit(name)


def _loky(names: list[str]) -> list[Fitted]:
    return list(Parallel(WORKERS, backend="loky")(delayed(fit)(name) for name in names))


def _dask(names: list[str]) -> list[Fitted]:
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": 1, "threads_per_worker": WORKERS, "processes": False}
    with LocalCluster(dashboard_address=None, **options) as cluster, Client(cluster) as client:
        return list(client.gather(client.map(_fit_copy, names, pure=False)))


WAYS: dict[str, Callable[[list[str]], list[Fitted]]] = {
    "threads": _threads,
    "fork": _pool("fork"),
    "spawn": _pool("spawn"),
    "loky": _loky,
    "dask": _dask,
}


def _after(way: str, found: list[Fitted]) -> set[int]:
    """Threads after the fits of a process; threads of this one end at different times."""
    return set() if way in ("threads", "dask") else {each.after for each in found}


def outcomes() -> Iterator[dict[str, Any]]:
    """One row per way and estimator."""
    before = blas_threads()
    for name in ESTIMATORS:
        here = fit(name)
        for way, run in WAYS.items():
            found = run([name] * N_FITS)
            yield {
                "way": way,
                "estimator": name,
                "equal": all(np.array_equal(each.values, here.values) for each in found),
                "restored": {blas_threads(), *_after(way, found)} <= {before},
                "within": max(each.inside for each in found) == 1,
            }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes")
    parser.add_argument("--out", default="benchmarks/results/processes.json")
    rows = []
    out = parser.parse_args().out
    for row in outcomes():
        print(row, flush=True)
        rows.append(row)
    met = all(row["equal"] and row["restored"] and row["within"] for row in rows)
    found = {"fits": N_FITS * len(rows), "met": met, "rows": rows}
    replace_content(out, (json.dumps(found, indent=1) + "\n").encode())
    print("met" if met else "missed")


if __name__ == "__main__":
    main()
