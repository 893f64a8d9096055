"""Class labels as codes 0, 1, ... and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from kboost._typing import IntArray
from kboost.data.multiclass import predicted_codes

__all__ = ["check_two_classes", "distinct_labels", "encode_labels", "predicted_codes"]


def encode_labels(estimator: Any, y: Any) -> IntArray:
    """Set `classes_` and return the code of each label."""
    estimator.classes_, codes = distinct_labels(y, "y")
    return codes


def distinct_labels(y: Any, name: str) -> tuple[Any, IntArray]:
    """The labels in order, and the code of each of `y`; `name` is for the error message."""
    y = _plain(np.asarray(y))
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:  # labels that cannot be ordered, or objects
        kinds = sorted({type(label).__name__ for label in y})
        if isinstance(error, ValueError) and len(kinds) == 1:
            raise
        raise ValueError(
            f"{name} must have labels of one kind, without missing values; got {', '.join(kinds)}."
        ) from error
    return classes, np.asarray(codes)


def _plain(y: Any) -> Any:
    """Labels that are objects, but all booleans or all whole numbers, as such."""
    if not isinstance(y, np.ndarray) or y.dtype.kind != "O":
        return y
    kinds = {type(label) for label in y}
    plain = len(kinds) == 1 and issubclass(kinds.pop(), bool | np.bool_ | int | np.integer)
    numbers = np.array(y.tolist()) if plain else y
    return numbers if numbers.dtype.kind in "bi" else y  # not beyond 64 bits


def check_two_classes(classes: Any, codes: IntArray) -> None:
    """Raise unless rows of two classes are left; `codes` are those of rows with a weight."""
    present = np.unique(codes)
    if len(present) < 2:
        present_classes = f"one class, {classes[present[0]]}" if len(present) else "none"
        raise ValueError(
            f"y must have at least two classes with a positive weight; got {present_classes}."
        )
