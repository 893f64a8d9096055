"""A case: an estimator with drawn options, and a drawn table with something wrong about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import kboost
from kboost import baselines
from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial
from kboost.settings import Cells

FAULTS = ("none", "none", "twins", "constant", "dependent", "one point", "grid", "far", "small")
WEIGHTS = (None, "any", "counts", "with zeros")


@dataclass(frozen=True)
class Case:
    """What is fitted."""

    estimator: Any
    X: Any
    y: Any
    weight: Any
    words: str  # for a report

    @property
    def name(self) -> str:
        return type(self.estimator).__name__


def draw(rng: np.random.Generator) -> Case:
    """The next case."""
    name = str(rng.choice(list(ESTIMATORS)))
    fault, weighted = str(rng.choice(FAULTS)), WEIGHTS[rng.integers(len(WEIGHTS))]
    X, weight = table(rng, fault, weighted)
    estimator, y = ESTIMATORS[name](rng, X)
    words = f"{estimator!r}, {X.shape[0]} x {X.shape[1]}, {fault}, weights {weighted}"
    return Case(estimator, X, y, weight, " ".join(words.split()))


def table(rng: np.random.Generator, fault: str, weighted: str | None) -> tuple[Any, Any]:
    """Rows, and weights or None."""
    n, d = int(rng.integers(8, 50)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if fault == "twins":
        X = X[rng.integers(0, (n + 1) // 2, n)]
    elif fault == "constant":
        X[:, 0] = 3.0
    elif fault == "dependent":
        X = np.hstack([X, X @ rng.normal(size=(d, 2))])
    elif fault == "one point":
        X = np.tile(X[:1], (n, 1))
    elif fault == "grid":
        X = rng.integers(-1, 2, size=(n, d)).astype(float)
    elif fault in ("far", "small"):
        X = X + 1e4 if fault == "far" else X * 1e-6
    if weighted is None:
        return X, None
    weight = rng.uniform(0.2, 3.0, n)
    if weighted == "counts":
        weight = rng.integers(1, 4, n).astype(float)
    elif weighted == "with zeros":
        weight[rng.integers(4, n, size=2)] = 0.0
    return X, weight


def kernels(rng: np.random.Generator) -> list[Any]:
    """One to three kernels, fixed or with widths from the data."""
    width = float(2.0 ** rng.integers(-3, 3))
    choices = [
        Linear(),
        Polynomial(2, gamma=width),
        Gaussian(width),
        Gaussian(4 * width),
        Laplacian(width),
        Matern(nu=1.5),
        Gaussian("mean", on="standard"),
        Laplacian("median"),
        Gaussian(width, columns=[0]),
        Linear(on="ranks"),
    ]
    count = int(rng.integers(1, 4))
    return [choices[i] for i in rng.choice(len(choices), count, replace=False)]


def labels(rng: np.random.Generator, X: Any, count: int | None = None) -> Any:
    """Classes that depend on the rows; each has a row."""
    count = int(rng.integers(2, 4)) if count is None else count
    noisy = X[:, 0] - X[:, 0].mean() + 0.3 * X[:, 0].std() * rng.normal(size=len(X))
    codes = np.searchsorted(np.quantile(noisy, np.arange(1, count) / count), noisy)
    codes[:count] = np.arange(count)
    names = np.array(["no", "yes", "perhaps"]) if rng.integers(2) else np.arange(3)
    return names[codes]


def numbers(rng: np.random.Generator, X: Any) -> Any:
    """A target."""
    z = (X[:, 0] - X[:, 0].mean()) / (X[:, 0].std() or 1.0)
    return np.sin(2 * z) + 0.3 * rng.normal(size=len(X))


def _any(rng: np.random.Generator, *options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _margin(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "kernels": kernels(rng),
        "penalty": _any(rng, "l1", "l1", "l2"),
        "C": _any(rng, 0.1, 1.0, 1.0, 30.0, "auto"),
        "intercept": _any(rng, "free", "free", "penalized", "none"),
        "nonnegative": bool(rng.integers(5) == 0),
        "column_scaling": _any(rng, "floored", "floored", None),
        "max_columns": _any(rng, None, None, 5),
    }


def _classifier(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    return kboost.KernelBoostClassifier(**_margin(rng)), labels(rng, X)


def _regressor(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    width = _any(rng, {}, {"epsilon": 0.1}, {"nu": 0.4})
    return kboost.KernelBoostRegressor(**_margin(rng), **width), numbers(rng, X)


def _novelty(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    return kboost.KernelBoostNovelty([Gaussian(float(2.0 ** rng.integers(-3, 3)))], nu=0.2), None


def _semi_supervised(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    y = np.where(labels(rng, X, 2) == labels(rng, X, 2)[0], 1, 0)
    y[:2] = 0, 1
    y[rng.random(len(y)) < 0.4] = -1
    y[:2] = 0, 1
    options = {**_margin(rng), "C": 1.0}
    return kboost.SemiSupervisedKernelBoostClassifier(**options), y


def _sparse(rng: np.random.Generator) -> dict[str, Any]:
    options: dict[str, Any] = {
        "kernels": _any(rng, [Gaussian(0.5)], [Laplacian(1.0)], [Gaussian("mean")], "auto"),
        "ridge": _any(rng, 0.1, 1.0, "auto"),
        "max_columns": _any(rng, None, 6, 20),
    }
    if rng.integers(4) == 0:
        return {**options, "cells": Cells(size=12), "max_columns": None}
    options["update"] = _any(rng, "joint", "joint", "full", "one")
    options["selection"] = _any(rng, "max-res", "mp", "boost", "random")
    return options


def _sparse_regressor(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    return kboost.SparseKernelRegressor(**_sparse(rng)), numbers(rng, X)


def _sparse_classifier(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    options = _sparse(rng)
    if "cells" not in options:
        options["loss"] = _any(rng, "squared", "logistic", "squared_hinge")
    return kboost.SparseKernelClassifier(**options), labels(rng, X)


def _mkboost(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    options = {"max_iter": 5, "sample_ratio": 0.5, "variant": _any(rng, "D1", "D2", "S1", "S2")}
    return kboost.MKBoostClassifier(kernels(rng), **options), labels(rng, X)


def _boosted(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    model = baselines.BoostedSVMClassifier(kernels(rng), max_iter=4, sample_ratio=0.5, n_folds=2)
    return model, labels(rng, X)


def _mkl(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    method = _any(rng, "hessian", "simple", "level", "silp")
    return baselines.MKLClassifier(kernels(rng), method=method), labels(rng, X)


def _design(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    return baselines.KernelDesignClassifier(max_iter=4), labels(rng, X)


def _composite(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    if rng.integers(2):
        return baselines.CompositeSVR(kernels(rng), tol=1e-8), numbers(rng, X)
    return baselines.CompositeSVC(kernels(rng), tol=1e-8), labels(rng, X)


def _door(rng: np.random.Generator, X: Any) -> tuple[Any, Any]:
    if rng.integers(2):
        return kboost.AutoKernelRegressor(max_seconds=None), numbers(rng, X)
    return kboost.AutoKernelClassifier(max_seconds=None), labels(rng, X)


Draw = Callable[[np.random.Generator, Any], tuple[Any, Any]]
ESTIMATORS: dict[str, Draw] = {
    "classifier": _classifier,
    "regressor": _regressor,
    "novelty": _novelty,
    "semi-supervised": _semi_supervised,
    "sparse regressor": _sparse_regressor,
    "sparse classifier": _sparse_classifier,
    "mkboost": _mkboost,
    "boosted svm": _boosted,
    "mkl": _mkl,
    "kernel design": _design,
    "composite": _composite,
    "door": _door,
}
