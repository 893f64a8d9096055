"""The target column: numbers or labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import BoolArray
from kboost.data.sizes import MOST_LABELS
from kboost.tables.columns import MISSING, as_numbers, as_text

_EXACT = 2.0**53  # integers below it are exact in float64


def target_of(
    column: Any,
    task: str | None = None,
    missing: Sequence[str] = MISSING,
    *,
    distinct: bool = True,
) -> tuple[Any, BoolArray, str]:
    """The target values of a column, without missing values, and the task.

    Parameters
    ----------
    column : pandas.Series
        As read.
    task : {"classification", "regression"}, optional
        By default, numbers with more than 20 distinct values or with fractions are a regression.
    missing : sequence of str, default=MISSING
        Words, in small letters, that are missing values if the others are numbers; else they are
        labels.
    distinct : bool, default=True
        Whether labels must have several values, each in several rows, as training needs it.

    Returns
    -------
    tuple
        The values, which rows have one, and the task.
    """
    text, numbers = as_text(column), as_numbers(column)
    are_words = text.str.lower().isin(missing)
    n = int((text.notna() & ~are_words).sum())
    if n == 0:
        raise ValueError(f"the target {column.name!r} must have values; it has none.")
    are_numbers = int(numbers.notna().sum()) >= 0.9 * n
    if are_numbers:
        text = text.mask(are_words, None)
    whole = are_numbers and bool((numbers.dropna() % 1 == 0).all())
    if task is None:
        many = numbers.nunique() > MOST_LABELS
        task = "regression" if are_numbers and (many or not whole) else "classification"
    if task == "regression":
        if not are_numbers:
            odd = text[numbers.isna() & text.notna()].iloc[0]
            raise ValueError(
                f"the target {column.name!r} must be numbers for a regression; got {odd!r}."
            )
        kept: BoolArray = numbers.notna().to_numpy()
        return numbers.to_numpy()[kept], kept, task
    kept = text.notna().to_numpy()
    labels = text.to_numpy()[kept]
    if whole and bool((numbers[kept].abs() < _EXACT).all()):
        labels = numbers.to_numpy()[kept].astype(np.int64)
    else:
        labels = labels.astype(str)
    if distinct:
        _check_labels(labels, column.name)
    return labels, kept, task


def _check_labels(labels: Any, name: str) -> None:
    n_different = len(np.unique(labels))
    if n_different == len(labels) > 2:
        raise ValueError(
            f"the target {name!r} must be numbers, or labels with repeated values; got "
            f"{len(labels)} distinct values, such as {str(labels[0])!r}."
        )
    if n_different < 2:
        raise ValueError(
            f"the target {name!r} must have at least two values; got {str(labels[0])!r}."
        )
