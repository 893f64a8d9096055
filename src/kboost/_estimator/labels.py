"""Class labels as codes 0, 1, ... and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from kboost._typing import IntArray
from kboost.data.multiclass import predicted_codes

__all__ = ["check_two_classes", "encode_labels", "predicted_codes"]


def encode_labels(estimator: Any, y: Any) -> IntArray:
    """Set `classes_` and return the code of each label."""
    try:
        check_classification_targets(y)
        estimator.classes_, codes = np.unique(y, return_inverse=True)
    except TypeError as error:  # labels that cannot be ordered
        kinds = ", ".join(sorted({type(label).__name__ for label in y}))
        raise ValueError(f"y must have labels of one kind, without gaps; got {kinds}.") from error
    return np.asarray(codes)


def check_two_classes(classes: Any, codes: IntArray) -> None:
    """Raise unless rows of two classes are left; `codes` are those of rows with a weight."""
    present = np.unique(codes)
    if len(present) < 2:
        given = f"one class, {classes[present[0]]}" if len(present) else "none"
        raise ValueError(f"y must have at least two classes with a positive weight; got {given}.")
