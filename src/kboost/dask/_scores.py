"""Scores of predictions on the workers: a few sums per partition come to the client.

Accuracy is the weighted share of equal labels. R squared is 1 - E / M with the sum of squared
errors E and that of deviations from the mean M; parts of weights v, w and means a, b merge as

    M = M_a + M_b + (a - b)^2 v w / (v + w).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from distributed import Client

from kboost._typing import FloatArray

Sums = tuple[int, FloatArray]  # rows, and weight, mean, M, E of each target: (4, q)


def same_parts(*collections: Any) -> bool:
    """Whether the partitions agree in number and, where they are known, in lengths."""
    parts = [_lengths(each) for each in collections]
    return all(
        len(part) == len(parts[0])
        and all(a == b or np.isnan(a) or np.isnan(b) for a, b in zip(part, parts[0], strict=True))
        for part in parts
    )


def _lengths(values: Any) -> list[float]:
    known = getattr(values, "chunks", None)
    return list(known[0]) if known else [np.nan] * values.npartitions


def score_on_workers(client: Client, predicted: Any, y: Any, weight: Any, *, labels: bool) -> float:
    """The accuracy or R squared of collections with the same partitions."""
    collections = [predicted, y] if weight is None else [predicted, y, weight]
    blocks = zip(*(np.ravel(each.to_delayed()).tolist() for each in collections), strict=True)
    futures = [
        client.submit(sums_of, *client.compute(list(block)), labels=labels, pure=False)
        for block in blocks
    ]
    return score_of(client.gather(futures), labels=labels)


def score_of(parts: list[Sums], *, labels: bool) -> float:
    """The accuracy or R squared from the sums of all partitions."""
    n_rows, total = reduce(_merged, parts)
    if not n_rows:
        raise ValueError("X must have at least one row; got only empty partitions.")
    _, means, spread, errors = total
    if labels:
        return float(means[0])
    flat = spread == 0  # as in scikit-learn: 1 if all are equal and predicted, else 0
    ratio = np.where(flat, np.where(errors == 0, 0.0, 1.0), errors / np.where(flat, 1.0, spread))
    return float(np.mean(1 - ratio))


def _merged(one: Sums, other: Sums) -> Sums:
    (v, a, s, e), (w, b, t, f) = one[1], other[1]
    both = np.where(v + w > 0, v + w, 1.0)
    mean = a + (b - a) * w / both
    return one[0] + other[0], np.array([v + w, mean, s + t + (a - b) ** 2 * v * w / both, e + f])


# On a worker -------------------------------------------------------------------------------------


def sums_of(predicted: Any, y: Any, weight: Any = None, *, labels: bool) -> Sums:
    """Those of a partition; labels are the numbers 1 (right) and 0."""
    predicted, y = np.asarray(predicted), np.asarray(y)
    if predicted.shape[0] != y.shape[0]:
        raise ValueError(
            f"y must have one value per row; got {y.shape[0]} for {predicted.shape[0]} rows."
        )
    n = len(y)
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    values = (predicted == y) if labels else y
    values = _columns(np.asarray(values, dtype=np.float64))
    errors = np.zeros_like(values) if labels else _columns(predicted) - values
    total = w.sum()
    mean = w @ values / total if total > 0 else np.zeros(values.shape[1])
    rows = [np.full(values.shape[1], total), mean, w @ (values - mean) ** 2, w @ errors**2]
    return n, np.array(rows)


def _columns(values: Any) -> Any:
    """One target or several as columns, (n, q)."""
    return values[:, None] if values.ndim == 1 else values
