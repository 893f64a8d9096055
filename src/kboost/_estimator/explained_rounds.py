"""Predictions of boosted machines taken apart: see explanation.py.

    f(x) = intercept + sum_t share_t s_t(x),   s_t(x) = sign(sum_i coef_i k_j(x, x_i) + b), j = j(t)

A machine without support vectors says the same everywhere: the intercept is the sum of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._estimator.explanation import Explanation, Splitting
from kboost._typing import FloatArray, IntArray
from kboost.boosting.svm_ensemble import SVMEnsemble
from kboost.columns.terms import features_of

NOBODY = -1  # the kernel of a constant


def kernels_of_rounds(model: SVMEnsemble) -> list[IntArray]:
    """The kernel of each round, task by task; raises where several vote in one."""
    out = [np.full(count, NOBODY) for count in model.n_rounds]
    for bundle in model.bundles:
        own = bundle.rounds[bundle.coef.any(axis=0)] if len(bundle.support) else bundle.rounds[:0]
        if (out[bundle.task][own] != NOBODY).any():
            raise ValueError(
                "a prediction has no additive split where several kernels vote in a round, "
                "as with variant='D2' and 'S2'; those of variant='D1' and 'S1' have one."
            )
        out[bundle.task][own] = bundle.kernel
    return out


def explained_rounds(
    model: SVMEnsemble, rows: Any, shares: Sequence[FloatArray], splitting: Splitting
) -> Explanation:
    """The values of each task, split by kernel, by group of features and by round."""
    kernels, said = kernels_of_rounds(model), model.rounds(rows)
    n, q = rows.shape[0], len(said)
    groups = [splitting.group(features_of(kernel)) for kernel in model.kernels]
    names = tuple(dict.fromkeys(groups))
    place = np.array([names.index(group) for group in groups])
    by_kernel = np.zeros((n, len(model.kernels), q))
    by_group = np.zeros((n, len(names), q))
    by_round = np.zeros((n, sum(model.n_rounds), q))
    intercept = np.zeros(q)
    start = 0
    for k, (own, values, share) in enumerate(zip(kernels, said, shares, strict=True)):
        parts = values * share  # (n, T)
        varies = own != NOBODY
        intercept[k] = parts[0, ~varies].sum() if n else 0.0
        by_round[:, start : start + len(own), k] = np.where(varies, parts, 0.0)
        start += len(own)
        for j in np.unique(own[varies]):
            total = parts[:, own == j].sum(axis=1)
            by_kernel[:, j, k] += total
            by_group[:, place[j], k] += total
    values = intercept + by_round.sum(axis=1)
    arrays = [values, by_kernel, by_group, by_round]
    values, by_kernel, by_group, by_round = (a[..., 0] if splitting.flat else a for a in arrays)
    return Explanation(
        values,
        float(intercept[0]) if splitting.flat else intercept,
        by_kernel,
        splitting.names,
        by_group,
        names,
        by_round,
        None,
        splitting.outputs,
        "round",
    )
