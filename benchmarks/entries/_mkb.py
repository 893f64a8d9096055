"""What the entries on MKBoost share: its kernels, its methods, and a plain loop as referee."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.datasets import FloatArray
from benchmarks.objective import Row

C, ROUNDS, RATIO, DECAY = 50.0, 100, 0.2, 2.0**-5
WIDTHS = [2.0**e for e in range(-6, 8)]
DEGREES = (1, 2, 3)
VARIANTS = ("D1", "D2", "S1", "S2")
SETTINGS = {"C": C, "rounds": ROUNDS, "sample_ratio": RATIO, "kernel_decay": DECAY,
            "widths": WIDTHS, "degrees": DEGREES}  # fmt: skip


def paper_kernels() -> list[Any]:
    from kboost.presets import mkboost_kernels

    return list(mkboost_kernels())


def mkboost(variant: str, *, column_scaling: str | None, seed: int, **changes: Any) -> Any:
    from kboost import presets

    given = {"max_iter": ROUNDS, "column_scaling": column_scaling, "random_state": seed}
    return presets.mkboost(variant, **{**given, **changes})


def timed_fit(fit: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it returns, wall and processor seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = fit()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def judged(model: Any, data: Any) -> Row:
    """Fit and score."""
    _, wall, cpu = timed_fit(lambda: model.fit(data.X_train, data.y_train))
    predicted, wall_new, cpu_new = timed_fit(lambda: model.predict(data.X_test))
    return {
        "status": "ok",
        "accuracy": float(np.mean(predicted == data.y_test)),
        "fit_seconds": wall,
        "fit_cpu_seconds": cpu,
        "predict_seconds": wall_new,
        "predict_cpu_seconds": cpu_new,
    }


def referee(
    grams: list[FloatArray], targets: FloatArray, weight: FloatArray, seed: int
) -> list[tuple[int, float]]:
    """MKBoost-D1 as a plain loop over `SVC(kernel="precomputed")`: (kernel, weight) of each round.

    The matrices are given. Draws, ties, capped weights and resets are those of the estimator; a
    row drawn several times is a row of that weight, which gives the smaller problems. Labels are
    turned round, as the estimator hands them to libsvm: its steps depend on which class is first.
    """
    from sklearn.svm import SVC

    rng, size = np.random.RandomState(seed), max(2, round(RATIO * weight.sum()))
    start = weight / weight.sum()
    D, least = start, min(0.25, 0.25 / weight.sum())
    rounds: list[tuple[int, float]] = []
    failures = 0
    while len(rounds) < ROUNDS and failures < 10:
        total = np.cumsum(D)
        found = np.searchsorted(total, rng.random_sample(size) * total[-1], side="right")
        rows, counts = np.unique(np.minimum(found, len(D) - 1), return_counts=True)
        rng.random_sample(len(grams))  # where the estimator would draw kernels
        one_class = len(np.unique(targets[rows])) == 1
        said, errors = [], []
        for K in grams:
            if one_class:
                predicted = np.full(len(D), targets[rows[0]])
            else:
                machine = SVC(kernel="precomputed", C=C)
                machine.fit(K[np.ix_(rows, rows)], -targets[rows], sample_weight=counts)
                values = -machine.decision_function(K[:, rows])
                predicted = np.where(values > 1e-9, 1.0, -1.0)
            said.append(predicted)
            errors.append(float(D[predicted != targets].sum()))
        best = int(np.argmax(np.array(errors) <= min(errors) + 1e-12))
        if errors[best] >= 0.5 - 1e-12:
            D, failures = start, failures + 1
            continue
        failures = 0
        error = np.clip(errors[best], least, 1 - least)
        alpha = 0.5 * np.log((1 - error) / error)
        D = D * np.exp(-alpha * targets * said[best])
        D = D / D.sum()
        rounds.append((best, float(alpha)))
    return rounds
