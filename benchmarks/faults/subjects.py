"""The estimators that are exposed to faults, with small data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import kboost
from kboost import baselines, compose
from kboost.kernels import Gaussian, Linear
from kboost.settings import ColumnGeneration, EarlyStopping

ROWS = 90
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(ROWS, 3))
LABELS = (X[:, 0] + 0.3 * _RNG.normal(size=ROWS) > 0.4).astype(int)
CLASSES = LABELS + 2 * (X[:, 1] > 0)
VALUES = X[:, 0] ** 2 + 0.1 * _RNG.normal(size=ROWS)
PARTLY = np.where(np.arange(ROWS) % 3 == 0, LABELS, -1)
MIXTURE = (Gaussian(0.5), Linear())


@dataclass(frozen=True)
class Subject:
    """One estimator: how it is made, what it is fitted to."""

    kind: Callable[..., Any]
    y: Any = None
    options: tuple[tuple[str, Any], ...] = ()
    kernels: Any = MIXTURE  # None: the estimator takes none
    rows: int = ROWS

    def make(self, kernels: Any = None, **options: Any) -> Any:
        """A new estimator; kernels and options replace those of the subject."""
        chosen = self.kernels if kernels is None else kernels
        own = {} if chosen is None else {"kernels": _as_given(chosen)}
        return self.kind(**{**own, **dict(self.options), **options})

    def takes(self, name: str) -> bool:
        """Whether the estimator has a parameter."""
        return name in self.kind().get_params(deep=False)

    def data(self, times: int = 1) -> tuple[Any, Any]:
        """Rows and targets, repeated with other rows `times` times."""
        if times == 1:
            n = self.rows
            return X[:n].copy(), None if self.y is None else np.array(self.y[:n])
        rng = np.random.default_rng(1)
        rows = np.concatenate([X + 0.1 * rng.normal(size=X.shape) for _ in range(times)])
        return rows, None if self.y is None else np.tile(self.y, times)

    def fit(self, model: Any, data: tuple[Any, Any] | None = None) -> Any:
        """Fit the model to the subject's data."""
        rows, y = self.data() if data is None else data
        return model.fit(rows) if y is None else model.fit(rows, y)


def _as_given(kernels: Any) -> Any:
    return list(kernels) if isinstance(kernels, tuple) else kernels


def _with(**options: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(options.items())


_STOPPING = ColumnGeneration(early_stopping=EarlyStopping(0.2))
SUBJECTS = {
    "KernelBoostClassifier": Subject(kboost.KernelBoostClassifier, LABELS, _with(C=1.0)),
    "KernelBoostClassifier, C auto": Subject(kboost.KernelBoostClassifier, LABELS),
    "KernelBoostClassifier, 4 classes": Subject(
        kboost.KernelBoostClassifier, CLASSES, _with(C=1.0)
    ),
    "KernelBoostClassifier, l2": Subject(
        kboost.KernelBoostClassifier, LABELS, _with(C=1.0, penalty="l2")
    ),
    "KernelBoostClassifier, early stopping": Subject(
        kboost.KernelBoostClassifier, LABELS, _with(C=1.0, solver=_STOPPING)
    ),
    "KernelBoostRegressor": Subject(kboost.KernelBoostRegressor, VALUES, _with(C=1.0)),
    "KernelBoostRegressor, C auto": Subject(kboost.KernelBoostRegressor, VALUES, rows=40),
    "KernelBoostRegressor, active": Subject(
        kboost.KernelBoostRegressor, VALUES, _with(C=1.0, kernels="active"), kernels=None, rows=30
    ),
    "KernelBoostNovelty": Subject(kboost.KernelBoostNovelty),
    "SemiSupervisedKernelBoostClassifier": Subject(
        kboost.SemiSupervisedKernelBoostClassifier, PARTLY, _with(C=1.0)
    ),
    "SparseKernelClassifier": Subject(kboost.SparseKernelClassifier, LABELS, _with(max_columns=30)),
    "SparseKernelRegressor": Subject(kboost.SparseKernelRegressor, VALUES, _with(max_columns=30)),
    "SparseKernelRegressor, cells": Subject(kboost.SparseKernelRegressor, VALUES, _with(cells=40)),
    "MKBoostClassifier": Subject(kboost.MKBoostClassifier, CLASSES, _with(max_iter=10)),
    "BoostedSVMClassifier": Subject(
        baselines.BoostedSVMClassifier, LABELS, _with(max_iter=10, n_folds=3)
    ),
    "MKLClassifier": Subject(baselines.MKLClassifier, LABELS),
    "KernelDesignClassifier": Subject(baselines.KernelDesignClassifier, LABELS, _with(max_iter=10)),
    "CompositeSVC": Subject(baselines.CompositeSVC, LABELS),
    "CompositeSVR": Subject(baselines.CompositeSVR, VALUES),
    "ColumnGenerationClassifier": Subject(compose.ColumnGenerationClassifier, LABELS),
    "ColumnGenerationRegressor": Subject(compose.ColumnGenerationRegressor, VALUES),
    "AutoKernelClassifier": Subject(kboost.AutoKernelClassifier, LABELS, kernels=None),
    "AutoKernelRegressor": Subject(kboost.AutoKernelRegressor, VALUES, kernels=None),
}
_DASK_NAMES = ("KernelBoost", "SparseKernel", "AutoKernel")


def _on_dask(name: str, y: Any) -> Subject:
    """The estimator of this name on Dask, imported when it is made."""

    def kind(**options: Any) -> Any:
        import kboost.dask

        return getattr(kboost.dask, name)(**options)

    options = {"KernelBoost": {"C": 1.0}, "SparseKernel": {"max_columns": 30}}
    own = next((value for start, value in options.items() if start in name), {})
    return Subject(kind, y, tuple(own.items()), None if "Auto" in name else MIXTURE)


DASK = {
    f"Dask{name}{ending}": _on_dask(f"Dask{name}{ending}", y)
    for name in _DASK_NAMES
    for ending, y in (("Classifier", LABELS), ("Regressor", VALUES))
}
