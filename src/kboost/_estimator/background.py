"""Rows that a fitted model keeps: what its features are compared with, without training data.

These are its centres, each once. Halfspaces have none, but keep the mean and the deviation of each
feature: their rows are drawn from normal distributions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.boosting.svm_ensemble import SVMEnsemble
from kboost.columns.active import ActivePart
from kboost.columns.halfspaces import HalfspacePart
from kboost.columns.hypothesis import KernelPart, stack_rows
from kboost.kernels.algebra import terms
from kboost.kernels.base import Kernel
from kboost.kernels.rows import group_rows

_MOST = 5_000  # centres used
_DRAWN = 300


def kept_rows(model: Any, n_features: int) -> Any:
    """Distinct rows in a random order that is fixed; None if the model keeps none."""
    rng = np.random.default_rng(0)
    if isinstance(model, SVMEnsemble):
        centers = model.centers
    else:
        parts: Any = model.parts
        if not parts:
            return np.zeros((0, n_features))
        if all(isinstance(part, HalfspacePart) for part in parts):
            return _drawn(parts[0], n_features, rng)
        if not all(hasattr(part, "centers") for part in parts):
            return None
        centers = stack_rows([part.centers for part in parts])
    n = centers.shape[0]
    centers = centers[np.linspace(0, n - 1, min(n, _MOST)).astype(np.intp)].astype(np.float64)
    first, _ = group_rows(centers)
    return centers[rng.permutation(first)]


def _drawn(part: HalfspacePart, n_features: int, rng: np.random.Generator) -> FloatArray:
    """Normal rows with the means and deviations of the training rows."""
    standard: Any = part.view.transform
    deviation = np.divide(1.0, standard.scale, out=np.zeros(n_features), where=standard.scale > 0)
    normal = rng.standard_normal((_DRAWN, n_features))
    return np.asarray(np.ldexp(normal * deviation + standard.shift, standard.exponent))


def is_sum_of_pairs(model: Any) -> bool:
    """Whether a model is known to be a sum of functions of at most two features each."""
    return all(_pairs_only(part) for part in getattr(model, "parts", (None,)))


def _pairs_only(part: Any) -> bool:
    if isinstance(part, KernelPart):
        return all(_term_has_pairs(term) for term in terms(part.kernel))
    if isinstance(part, HalfspacePart):
        return bool((np.count_nonzero(part.directions, axis=1) <= 2).all())
    if isinstance(part, ActivePart):
        return part.view.columns is not None and len(part.view.columns) <= 2
    return False


def _term_has_pairs(term: Kernel) -> bool:
    monomials = term.monomials()
    if monomials is not None and all(monomial.degree <= 2 for monomial in monomials):
        return True
    views = [pairing.view.columns for pairing in term.pairings]
    return None not in views and len({f for view in views for f in view or ()}) <= 2
