"""Data sets, a file each. A file has one function, `load(**parameters) -> Data`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
LOCATION = "KBOOST_DATA"


@dataclass(frozen=True)
class Data:
    """Rows to learn from and rows to be judged on; labels are -1 and +1, or numbers to predict.

    Rows for validation, where there are any, tell a solver when to stop.
    """

    X_train: FloatArray
    y_train: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    X_val: FloatArray | None = None
    y_val: FloatArray | None = None


class MissingDataError(Exception):
    """The data set is not on this machine; the message says what to do about it."""


def load(name: str, **parameters: Any) -> Data:
    """The data set `name`, drawn as its parameters say."""
    data: Data = import_module(f"benchmarks.datasets.{name}").load(**parameters)
    return data


def data_file(name: str) -> Path:
    """A file in the directory that KBOOST_DATA names."""
    directory = os.environ.get(LOCATION)
    if not directory:
        raise MissingDataError(f"{name} needed: set {LOCATION} to the directory that holds it")
    path = Path(directory) / name
    if not path.is_file():
        raise MissingDataError(f"{name} is not in the directory that {LOCATION} names")
    return path


def standardised(X_train: FloatArray, *others: FloatArray) -> list[FloatArray]:
    """All parts by the mean and deviation of the training part; constant features become 0."""
    mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    deviation[deviation == 0] = 1.0
    return [(X - mean) / deviation for X in (X_train, *others)]


def three_parts(
    X: Any, y: FloatArray, rows: Any, *, n_train: int, n_val: int, skip: int, n_test: int
) -> Data:
    """The first of the `rows` to train, the next ones to validate, and after `skip` more to test.

    Only these are converted to floating point; without `n_val` there are none to validate.
    """
    cuts = np.cumsum([0, n_train, n_val, skip, n_test])
    train, val, _, test = (rows[a:b] for a, b in pairwise(cuts))
    parts = standardised(*(X[part].astype(np.float64) for part in (train, test, val)))
    held = (parts[2], y[val]) if n_val else (None, None)
    return Data(parts[0], y[train], parts[1], y[test], *held)
