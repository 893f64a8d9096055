"""Predictions of boosted SVMs split into shares; see explanation.py.

    f(x) = intercept + sum_t share_t s_t(x),   s_t(x) = sign(sum_i coef_i k_j(x, x_i) + b), j = j(t)

An SVM without support vectors is constant; the intercept is the sum of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._estimator.explanation import Explanation, Splitting
from kboost._typing import FloatArray, IntArray
from kboost.boosting.svm_ensemble import SVMEnsemble
from kboost.columns.terms import features_of

NO_KERNEL = -1  # of a constant round


def kernels_of_rounds(model: SVMEnsemble) -> list[IntArray]:
    """The kernel of each round of each output; raises if several kernels vote in a round."""
    kernels = [np.full(count, NO_KERNEL) for count in model.n_rounds]
    for group in model.groups:
        if not len(group.support):
            continue
        rounds = group.rounds[group.coef.any(axis=0)]
        if (kernels[group.output][rounds] != NO_KERNEL).any():
            raise ValueError(
                "explain requires variant='D1' or 'S1': with several kernels per round the "
                "prediction is not a sum over kernels."
            )
        kernels[group.output][rounds] = group.kernel
    return kernels


def explained_rounds(
    model: SVMEnsemble, rows: Any, shares: Sequence[FloatArray], splitting: Splitting
) -> Explanation:
    """The values of each output, split by kernel, by group of features and by round."""
    kernels, signs = kernels_of_rounds(model), model.rounds(rows)
    n, q = rows.shape[0], len(signs)
    groups = [splitting.group(features_of(kernel)) for kernel in model.kernels]
    names = tuple(dict.fromkeys(groups))
    group_of_kernel = np.array([names.index(group) for group in groups])
    by_kernel = np.zeros((n, len(model.kernels), q))
    by_group = np.zeros((n, len(names), q))
    by_round = np.zeros((n, sum(model.n_rounds), q))
    intercept = np.zeros(q)
    start = 0
    for k, (kernel, values, share) in enumerate(zip(kernels, signs, shares, strict=True)):
        parts = values * share  # (n, T)
        varies = kernel != NO_KERNEL
        intercept[k] = parts[0, ~varies].sum() if n else 0.0
        by_round[:, start : start + len(kernel), k] = np.where(varies, parts, 0.0)
        start += len(kernel)
        for j in np.unique(kernel[varies]):
            total = parts[:, kernel == j].sum(axis=1)
            by_kernel[:, j, k] += total
            by_group[:, group_of_kernel[j], k] += total
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
