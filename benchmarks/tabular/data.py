"""The tables in `KBOOST_DATA/tables`: shuffled rows, the first quarter of them to test.

`reported` has the split of the reports. `tuning` never reads the test quarter: it splits the
training part again, three quarters to train and one to validate, by a seed. Labels are given as
codes from 0 in the order of the training part's sorted classes; -1 is a class that it lacks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.datasets import FloatArray, data_file


@dataclass(frozen=True)
class Entry:
    """What the manifest says of a table."""

    name: str
    file: str
    task: str
    target: str
    rows: int
    features: int

    @property
    def quarter(self) -> int:
        return self.rows // 4

    @property
    def classifies(self) -> bool:
        return self.task == "classification"


@dataclass(frozen=True)
class Split:
    """Frames and targets to learn from and to be judged on."""

    X_train: Any
    y_train: FloatArray
    X_test: Any
    y_test: FloatArray


@cache
def manifest() -> dict[str, Entry]:
    """Every table by its name."""
    names = ("name", "file", "task", "target", "rows", "features")
    content = json.loads(data_file("tables/manifest.json").read_text())
    return {one["name"]: Entry(**{name: one[name] for name in names}) for one in content}


def reported(name: str) -> Split:
    """The test quarter against the rest."""
    entry = manifest()[name]
    frame = read(entry)
    quarter = entry.quarter
    return split(entry, frame.iloc[quarter:], frame.iloc[:quarter])


def tuning(name: str, seed: int) -> Split:
    """Two parts of the training rows; the test quarter is not read."""
    entry = manifest()[name]
    frame = read(entry, skiprows=range(1, entry.quarter + 1))
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = len(frame) // 4
    return split(entry, frame.iloc[order[cut:]], frame.iloc[order[:cut]])


def read(entry: Entry, **options: Any) -> Any:
    import pandas as pd

    return pd.read_csv(data_file(f"tables/{entry.file}"), **options)


def split(entry: Entry, train: Any, test: Any) -> Split:
    """Features apart from the target."""
    train, test = train.reset_index(drop=True), test.reset_index(drop=True)
    y_train, y_test = train.pop(entry.target), test.pop(entry.target)
    if not entry.classifies:
        return Split(train, np.asarray(y_train, float), test, np.asarray(y_test, float))
    classes = {label: code for code, label in enumerate(sorted(set(y_train)))}
    codes = [
        np.array([classes.get(label, -1) for label in y], dtype=np.int64) for y in (y_train, y_test)
    ]
    return Split(train, codes[0], test, codes[1])


def text_columns(frame: Any) -> list[str]:
    """Columns that are no numbers."""
    from pandas.api.types import is_numeric_dtype

    return [name for name in frame.columns if not is_numeric_dtype(frame[name])]
