"""The share of each feature in a model: total-effect indices.

With `x'` equal to x but for feature j, which comes from another row,

    T_j = E[(f(x) - f(x'))^2] / 2       (Jansen's estimator of the total effect)

summed over outputs and divided by the sum over all features. No targets are needed; effects that
features have together count for each of them. Rows are paired by shifts of one fixed order, all
pairs where the rows are few. Rows that agree in feature j are not evaluated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._estimator.players import Players
from kboost._typing import FloatArray

PAIRS = (8, 300)  # of each feature, the fewest and the most


def total_effects(values_at: Any, rows: Any, players: Players, n_terms: int) -> FloatArray:
    """One share per player; they add up to 1, or are all 0. The rows are in random order."""
    totals = np.zeros(players.count)
    pairs = players.affordable(rows, n_terms, PAIRS)
    n = min(rows.shape[0], pairs)
    if n < 2:
        return totals
    rows = rows[:n]
    values = values_at(rows)
    for shift in range(1, 1 + min(n - 1, max(1, pairs // n))):
        others = rows[(np.arange(n) + shift) % n]
        for row, player, changed in players.exchanged(rows, others):
            squares = np.sum((values_at(changed) - values[row]) ** 2, axis=1)
            totals += np.bincount(player, squares, players.count)
    total = totals.sum()
    return np.asarray(totals / total) if total > 0 else totals
