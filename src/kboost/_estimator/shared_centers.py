"""The centres of a model in one array: `centers_` is the array, the parts are slices of it.

So a model holds its centres once, and nothing of the rows on which it was trained.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.columns.hypothesis import KernelPart, stack_rows
from kboost.core.model import AdditiveModel


def share_centers(model: AdditiveModel) -> tuple[AdditiveModel, Any]:
    """The model, and the centres of its parts, one after another; None without parts."""
    parts: Any = model.parts
    if not parts:
        return model, None
    if not _are_dense(parts):
        centers = [part.centers for part in parts]
        return model, stack_rows(centers) if len(centers) > 1 else centers[0]
    stacked = np.concatenate([part.centers for part in parts])
    ends = np.cumsum([len(part.coef) for part in parts])[:-1]
    pieces = np.split(stacked, ends) if len(parts) > 1 else [stacked]
    moved = [part.with_centers(piece) for part, piece in zip(parts, pieces, strict=True)]
    return AdditiveModel(tuple(moved), model.bias), stacked


def shares_centers(model: Any, centers: Any) -> bool:
    """Whether these are the centres of the parts, in shared memory."""
    parts: Any = getattr(model, "parts", ())
    return (
        bool(parts)
        and _are_dense(parts)
        and centers is not None
        and all(part.centers is centers or part.centers.base is centers for part in parts)
    )


def _are_dense(parts: Any) -> bool:
    return all(
        isinstance(part, KernelPart) and isinstance(part.centers, np.ndarray) for part in parts
    )
