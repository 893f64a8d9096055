"""The referee of the SYB entries: plain regularised least squares on random centres, in float64.

One product, one Cholesky factor, kernel values in place, as a careful user would write it; and
clocks for it and for what is beside it. Times are of fit and prediction, kernels at hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.objective import Row


def plain(
    kernel: Any, ridge: float, X: Any, Y: Any, X_test: Any, m: int, seed: int
) -> tuple[Any, dict[str, float]]:
    """Values at the test rows, and the seconds they took."""

    def work() -> Any:
        centers = np.random.default_rng(seed).permutation(len(X))[:m]
        mean = Y.mean(axis=0)
        seen, seen_test = (X, X_test) if kernel.on is None else map(kernel.on.apply, (X, X_test))
        basis = seen[centers]
        K = gaussian(seen, basis, kernel.gamma)
        G = K.T @ K
        G += ridge * K[centers]
        G[np.diag_indices(m)] += 1e-10 * np.trace(G) / m
        factor = cho_factor(G, lower=True, overwrite_a=True, check_finite=False)
        coef = cho_solve(factor, K.T @ (Y - mean), check_finite=False)
        return mean + gaussian(seen_test, basis, kernel.gamma) @ coef

    return timed(work)


def gaussian(X: Any, Z: Any, gamma: float) -> Any:
    """`exp(-gamma |x - z|^2)` in one product and one array."""
    middle = Z.mean(axis=0)
    X, Z = X - middle, Z - middle
    out = X @ (2 * gamma * Z.T)
    out -= gamma * np.einsum("ij,ij->i", X, X)[:, None]
    out -= gamma * np.einsum("ij,ij->i", Z, Z)
    np.minimum(out, 0.0, out=out)
    return np.exp(out, out=out)


def warm(n_bytes: int) -> None:
    """Have the machine hand out so much memory before clocks start: the first touch is slow on a
    virtual one, and whoever runs first would pay for all."""
    np.empty(n_bytes, dtype=np.uint8).fill(1)


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What it returns, with wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    seconds = {
        "fit_seconds": time.perf_counter() - wall,
        "fit_cpu_seconds": time.process_time() - processor,
    }
    return found, seconds


def time_to(target: float, runs: list[Row], clock: str = "fit_seconds") -> float | None:
    """Seconds at which the error falls to the target, between runs of growing size.

    Logarithms of both are joined by lines; None if no run gets there.
    """
    before: Row | None = None
    for row in sorted(runs, key=lambda row: row[clock]):
        if row["error"] <= target:
            if before is None:
                return float(row[clock])
            share = np.log(before["error"] / target) / np.log(before["error"] / row["error"])
            return float(before[clock] * (row[clock] / before[clock]) ** share)
        before = row
    return None
