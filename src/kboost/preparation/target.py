"""The target as columns of numbers, whose means per level encode a category."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from kboost._typing import FloatArray
from kboost.data.sizes import MOST_LABELS
from kboost.data.units import safe_unit

MOST_TARGETS = 10  # columns
_SAFE = 1e50  # size of targets: fourth powers, which compare encodings, are finite


@dataclass(frozen=True)
class Target:
    """Columns of numbers: the target itself, or one indicator per class."""

    values: FloatArray  # (n, targets)
    labels: list[str]  # of the targets; [""] if there is one
    classes: Any = None  # those that have indicators; None if the target is numbers
    unit: float = 1.0  # of the numbers, a power of 2

    def of_rows(self, y: Any) -> Iterator[FloatArray]:
        """The same targets at other rows, one after another."""
        array = np.asarray(y)
        for j in range(len(self.labels)):
            if self.classes is not None:
                yield (array.reshape(len(array)) == self.classes[j]).astype(np.float64)
            else:
                column = array if array.ndim == 1 else array[:, j]
                yield column.astype(np.float64) / self.unit


def target_columns(y: Any, weight: FloatArray, target_type: str) -> Target | None:
    """The target as numbers: of two classes the second, of many the most frequent ones."""
    if y is None:
        return None
    array = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if array.ndim > 2 or len(array) != len(weight):
        raise ValueError(
            f"y must have one value per row of X ({len(weight)}); got shape {array.shape}."
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.shape[1] > 1:
        return _outputs(array)
    column = array[:, 0]
    classes = np.unique(column[weight > 0])
    if target_type == "regression" or (target_type == "auto" and _are_numbers(column, classes)):
        return _numbers(column.astype(np.float64)[:, None], [""])
    if len(classes) <= 2:
        return Target((column == classes[-1]).astype(np.float64)[:, None], [""], classes[-1:])
    mass = np.array([weight[column == label].sum() for label in classes])
    chosen = classes[np.sort(np.argsort(-mass, kind="stable")[:MOST_TARGETS])]
    labels = [str(c) for c in chosen]
    return Target((column[:, None] == chosen).astype(np.float64), labels, chosen)


def _outputs(array: Any) -> Target:
    if array.dtype.kind not in "biuf":
        raise ValueError(f"y must be numeric if it has several columns; got dtype {array.dtype}.")
    values = array[:, :MOST_TARGETS].astype(np.float64)
    return _numbers(values, [str(j) for j in range(values.shape[1])])


def _numbers(values: FloatArray, labels: list[str]) -> Target:
    """Numbers in a unit of their own if their squares would not be finite, or vanish."""
    unit = safe_unit(values, _SAFE)
    return Target(values / unit, labels, unit=unit)


def _are_numbers(column: Any, classes: Any) -> bool:
    if column.dtype.kind not in "iuf":
        return False
    return len(classes) > MOST_LABELS or bool((classes % 1 != 0).any())
