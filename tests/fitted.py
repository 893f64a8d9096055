"""Small fitted models, one of each kind there is: for files, exports and explanations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator

import kboost
from kboost import (
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
    MKBoostClassifier,
    SemiSupervisedKernelBoostClassifier,
    SparseKernelClassifier,
    SparseKernelRegressor,
    baselines,
)
from kboost.baselines import (
    BoostedSVMClassifier,
    CompositeSVC,
    CompositeSVR,
    KernelDesignClassifier,
    MKLClassifier,
)
from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from kboost.settings import (
    ActiveGaussians,
    Barrier,
    Cells,
    ColumnGeneration,
    EarlyStopping,
    Full,
    Halfspaces,
    LpNorm,
    Quantile,
)

_RNG = np.random.default_rng(0)
X = np.round(_RNG.normal(size=(60, 4)), 3)
SIGN = (X[:, 0] * X[:, 1] > 0).astype(int)
VALUE = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
LETTERS = np.array(["a", "bb", "ccc"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
TWO = np.column_stack([VALUE, X[:, 3]])
PARTLY = np.where(np.arange(60) < 30, SIGN, -1)
FRAME = pd.DataFrame(X, columns=["one", "two", "three", "four"])
COUNTS = np.abs(X)
GAPS = np.where(np.arange(60)[:, None] % 7 == np.array([1, 9, 3, 9]), np.nan, X)
FOUR = 2 * SIGN + (X[:, 2] > 0)
NAMES = np.array(["no", "yes"], dtype=object)[SIGN]

EVERY_KERNEL = [
    Linear(),
    Linear(on="ranks"),
    Polynomial(2, on="standard"),
    Polynomial(5, coef0=-0.5, gamma=0.1),
    Sigmoid(columns=[0, 2]),
    Gaussian("mean", on="ranks"),
    Laplacian("median", columns=[1, 3], on="standard"),
    Matern(nu=0.5),
    Matern(nu=1.5, on="ranks"),
    Matern(nu=2.5, columns=[3]),
    "cosine",
    2.0 * Linear() + Gaussian(0.3) * Polynomial(2, columns=[0]),
    Gaussian(0.5, columns=[-1]) + Linear(columns=[0, 1]) + 0.5 * Sigmoid(0.1, coef0=0.2),
]

EVERY_PSD = [Linear(on="ranks"), Polynomial(2, on="standard"), *EVERY_KERNEL[5:11]]


def _mixture(cls: Any, **params: Any) -> Any:
    return cls(**{"kernels": EVERY_KERNEL, "C": 10.0, "column_scaling": "floored", **params})


MODELS: dict[str, tuple[Any, Any, Any]] = {
    "boost": (KernelBoostClassifier(C=1.0), X, SIGN),
    "boost three classes": (_mixture(KernelBoostClassifier), X, LETTERS),
    "boost tuned": (KernelBoostClassifier([Gaussian()], max_iter=3), X, NAMES),
    "boost with settings": (
        KernelBoostClassifier(C=1.0, solver=ColumnGeneration("stratified", 3, early_stopping=0.3)),
        X,
        SIGN,
    ),
    "boost sparse rows": (
        KernelBoostClassifier(C=1.0, n_jobs=1),
        csr_matrix(np.maximum(X, 0.0)),
        SIGN,
    ),
    "boost names of features": (
        KernelBoostClassifier(
            [Gaussian(columns=["one", "four"]), Linear(on="standard")],
            C=1.0,
            class_weight={"a": 1.0, "bb": 2.0, "ccc": 1.0},
            random_state=np.random.RandomState(3),
        ),
        FRAME,
        LETTERS,
    ),
    "boost precomputed": (
        KernelBoostClassifier("precomputed", C=1.0),
        np.hstack([Gaussian(0.5)(X), Linear()(X)]),
        SIGN,
    ),
    "boost chi2": (KernelBoostClassifier(["chi2", "additive_chi2"], C=1.0), COUNTS, SIGN),
    "tube": (_mixture(KernelBoostRegressor), X, VALUE),
    "tube nu l2": (KernelBoostRegressor(penalty="l2", nu=0.3, C=1.0), X, VALUE),
    "active, with settings": (
        KernelBoostRegressor(
            ActiveGaussians([Gaussian(0.3), Gaussian(1.0)], (0.2, 4.0)),
            C=1.0,
            max_columns=4,
            solver=Barrier(columns_per_step=2, early_stopping=EarlyStopping(0.3, 2)),
        ),
        X,
        VALUE,
    ),
    "active": (KernelBoostRegressor("active", C=1.0, max_iter=3), X, VALUE),
    "halfspaces": (
        KernelBoostRegressor(Halfspaces(0.8), C=1.0, epsilon=Quantile(0.7), max_iter=5),
        X,
        VALUE,
    ),
    "barrier": (KernelBoostRegressor(solver="barrier", C=1.0, max_iter=20), X, VALUE),
    "constant": (KernelBoostRegressor(C=1.0), X, np.ones(60)),
    "novelty": (KernelBoostNovelty(), X, None),
    "semi-supervised": (SemiSupervisedKernelBoostClassifier(C=1.0), X, PARTLY),
    "sparse": (SparseKernelRegressor(EVERY_KERNEL[:3] + EVERY_KERNEL[5:7]), X, VALUE),
    "sparse two targets": (SparseKernelRegressor("ard", ridge=0.1), X.astype(np.float32), TWO),
    "sparse series": (SparseKernelRegressor(update=Full(series=2), max_columns=8), X, VALUE),
    "sparse cells": (SparseKernelRegressor(cells=20), X, VALUE),
    "sparse partitions": (
        SparseKernelClassifier([Laplacian(1.0)], cells=Cells(20, partitions=2, columns_per_cell=5)),
        X,
        LETTERS,
    ),
    "sparse log": (SparseKernelClassifier(loss="log", max_columns=20, ridge=0.1), X, LETTERS),
    "sparse signs": (SparseKernelClassifier(loss="hinge", max_columns=20, ridge=0.1), X, SIGN),
    "sparse sparse": (
        SparseKernelClassifier([Gaussian(0.5), Linear()], max_columns=20, ridge=0.1),
        csr_array(np.maximum(X, 0.0)),
        SIGN,
    ),
    "composite": (CompositeSVC(), X, LETTERS),
    "boosted SVMs": (MKBoostClassifier(max_iter=6), X, SIGN),
    "boosted votes": (
        MKBoostClassifier([Gaussian(0.5), Linear(), Polynomial(2)], variant="S2", max_iter=6),
        csr_matrix(np.maximum(X, 0.0)),
        LETTERS,
    ),
    "boosted against the rest": (
        MKBoostClassifier(EVERY_PSD, variant="D2", max_iter=4, multi_class="ovr"),
        FRAME,
        LETTERS,
    ),
    "boosted precomputed": (
        BoostedSVMClassifier("precomputed", max_iter=4, n_folds=3),
        np.hstack([Gaussian(0.5)(X), Linear()(X)]),
        SIGN,
    ),
    "mixture learned": (MKLClassifier(), X, SIGN),
    "mixtures learned": (MKLClassifier(method=LpNorm(1.5)), FRAME, LETTERS),
    "mixtures of four classes": (MKLClassifier([Gaussian(0.5), Linear()]), X, FOUR),
    "kernel designed": (KernelDesignClassifier(["linear", Gaussian()]), X, LETTERS),
    "auto": (AutoKernelClassifier(), GAPS, SIGN),
    "auto three classes": (AutoKernelClassifier(), FRAME, LETTERS),
    "auto numbers": (AutoKernelRegressor(prefer="size"), X, VALUE),
    "auto logarithms": (AutoKernelRegressor(), GAPS, np.exp(3 * VALUE)),
    "auto certified": (AutoKernelClassifier(prefer="size"), GAPS, SIGN),
    "auto certified three classes": (AutoKernelClassifier(prefer="size"), FRAME, LETTERS),
    "auto certified logarithms": (AutoKernelRegressor(prefer="size"), GAPS, np.exp(3 * VALUE)),
    "composite regressor": (CompositeSVR([Linear(), Gaussian(1.0)]), X, VALUE),
}


def public_estimators() -> set[type]:
    """The classes that users see, but those of kboost.dask."""
    found = [getattr(module, name) for module in (kboost, baselines) for name in module.__all__]
    return {one for one in found if isinstance(one, type) and issubclass(one, BaseEstimator)}


def one_of_each() -> list[str]:
    """The name of the first model of each public estimator; none may be missing."""
    names = {type(model): name for name, (model, _, _) in reversed(MODELS.items())}
    return sorted(names[cls] for cls in public_estimators())


@cache
def fitted(name: str) -> Any:
    """The model of that name; do not change it."""
    estimator, rows, y = MODELS[name]
    return estimator.fit(rows) if y is None else estimator.fit(rows, y)


def rows_of(name: str) -> Any:
    """Rows to predict."""
    return MODELS[name][1]


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """All that a model says of rows."""
    methods = (
        "predict",
        "decision_function",
        "predict_proba",
        "predict_log_proba",
        "score_samples",
        "transform",
    )
    return {name: getattr(model, name)(rows) for name in methods if hasattr(model, name)}
