"""Comparison of kboost with scikit-learn estimators on the user's rows."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from kboost.cli._data import Data
from kboost.cli._learn import preparation_for, split
from kboost.report.scores import scores

MAX_ROWS_OF_SVC = 20_000


@dataclass(frozen=True)
class BenchResult:
    """Score, times and size of one model."""

    name: str
    score: str
    value: float
    fit_seconds: float
    predict_seconds: float  # for the held-out rows
    n_bytes: int


def bench(data: Data, estimator: Any, *, test_size: float, seed: int) -> list[BenchResult]:
    """Fit all models to the same training rows and score them on the same held-out rows."""
    train, held_out = split(data, test_size, seed)
    if held_out is None:
        raise ValueError("--test-size must be above 0 for a comparison; got 0.")
    given = prepared = train.X, held_out.X
    before = data.preparation()
    if before is not None:
        prepared = before.fit_transform(train.X, train.y), before.transform(held_out.X)
    lines = []
    for name, model in _models(data, estimator, len(train.y)).items():
        own = model is estimator and preparation_for(data, estimator) is None
        learn, test = given if own else prepared
        lines.append(_measure(name, model, learn, train.y, test, held_out.y))
    return lines


def _models(data: Data, estimator: Any, n_rows: int) -> dict[str, Any]:
    labels = data.task == "classification"
    out = {type(estimator).__name__: estimator}
    if n_rows <= MAX_ROWS_OF_SVC:
        scale = StandardScaler(with_mean=isinstance(data.X, np.ndarray) or data.is_table)
        out["SVC" if labels else "SVR"] = make_pipeline(scale, SVC() if labels else SVR())
    if data.is_table or isinstance(data.X, np.ndarray):
        trees = HistGradientBoostingClassifier if labels else HistGradientBoostingRegressor
        out["HistGradientBoosting"] = trees(random_state=0)
    return out


def _measure(
    name: str, model: Any, learn: Any, y_learn: Any, test: Any, y_test: Any
) -> BenchResult:
    start = time.perf_counter()
    model.fit(learn, y_learn)
    fitted = time.perf_counter()
    model.predict(test)
    predicted = time.perf_counter()
    score = scores(model, test, y_test, y_learn)[0]
    size = len(pickle.dumps(model))
    return BenchResult(name, score.name, score.value, fitted - start, predicted - fitted, size)
