"""How much of a model each column of the table carries: total-effect indices.

With `x'` equal to x but for the features of column j, which come from another row,

    T_j = E[(f(x) - f(x'))^2] / 2       (Jansen's estimator of the total effect)

summed over outputs and divided by the sum over all columns. No targets are needed; effects that
columns have together count for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kboost._typing import FloatArray
from kboost.core.model import AdditiveModel

_ENTRIES = 1 << 26  # kernel values, at most
_ROWS, _HURRIED = (20, 300), (5, 60)  # the fewest and the most, with and without time
_ROWS_AT_ONCE = 20_000


def total_effects(
    model: AdditiveModel, X: FloatArray, columns: Sequence[slice], *, hurry: bool = False
) -> FloatArray:
    """One share per column of the table; they add up to 1, or are all 0."""
    effort = max(1, model.n_columns) * max(1, len(columns))
    fewest, most = _HURRIED if hurry else _ROWS
    n = int(np.clip(_ENTRIES // effort, fewest, min(most, len(X))))
    rows = X[np.linspace(0, len(X) - 1, max(1, n)).astype(np.intp)]
    values = model.decision(rows)
    used = [number for number, features in enumerate(columns) if features.start < features.stop]
    out = np.zeros(len(columns))
    step = max(1, _ROWS_AT_ONCE // len(rows))
    for start in range(0, len(used), step):  # many columns at a time: each call reads all centres
        batch = used[start : start + step]
        changed = np.tile(rows, (len(batch), 1, 1))
        for place, number in enumerate(batch):
            features, shift = columns[number], 1 + number % max(1, n - 1)
            changed[place][:, features] = np.roll(rows[:, features], shift, axis=0)
        moved = model.decision(changed.reshape(-1, X.shape[1])).reshape(len(batch), *values.shape)
        out[batch] = np.mean(np.sum((moved - values) ** 2, axis=2), axis=1) / 2
    total = out.sum()
    return np.asarray(out / total) if total > 0 else out
