"""A prediction split by feature: Shapley values, relative to rows that the model keeps.

For a row x, a reference row b and an order of the features, walk from b to x one feature at a time;
each feature gets the change of f at its step. The shares of a walk add up to f(x) - f(b) exactly.
They are averaged over the reference rows, and for each of these over a random order and its
reverse:

    f(x) = mean_b f(b) + sum_j share_j(x)

If f is a sum of functions of one feature each, every walk gives the same shares, and

    share_j(x) = g_j(x_j) - mean_b g_j(b_j),    exactly.

If it is a sum of functions of at most two features, an order and its reverse together are exact:
each feature of a pair comes first in one of them. Otherwise the shares are a sample, the same in
each call; their sum is exact in any case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._estimator.players import Players
from kboost._typing import FloatArray

WALKS = (4, 64)  # reference rows, the fewest and the most
_PART = 32  # of the work that importances may take, for one row


def reference_rows(rows: Any, players: Players, n_terms: int) -> Any:
    """The first of the rows, which are in random order, as many as are worth their time."""
    return rows[: players.affordable(rows, n_terms, WALKS, _PART)]


def shapley_values(values_at: Any, rows: Any, references: Any, players: Players) -> FloatArray:
    """The shares of the players in the values at rows, (n, n_players, n_outputs)."""
    ends, starts = values_at(rows), values_at(references)
    shares = np.zeros((rows.shape[0], players.count, ends.shape[1]))
    rng = np.random.default_rng(0)
    orders = [rng.permutation(players.count) for _ in range(len(starts))]
    for i in range(rows.shape[0]):
        row, walks, from_ = rows[i : i + 1], [], []
        for b, order in enumerate(orders):
            other = references[b : b + 1]
            walk = order[np.isin(order, players.differing(row, other))]
            walks += [(other, walk), (other, walk[::-1])] if len(walk) else []
            from_ += [b, b] if len(walk) else []
        if not walks:
            continue
        batches = [values_at(batch) for batch in players.between(row, walks) if batch.shape[0]]
        values, at = np.concatenate([ends[:0], *batches]), 0
        for b, (_, walk) in zip(from_, walks, strict=True):
            steps = values[at : at + len(walk) - 1]
            at += len(steps)
            path = np.concatenate([starts[b : b + 1], steps, ends[i : i + 1]])
            shares[i, walk] += np.diff(path, axis=0)
    return shares / max(1, 2 * len(orders))
