"""Comparison of kboost with scikit-learn estimators on the user's rows."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from kboost.cli._data import Data
from kboost.cli._holdout import split
from kboost.cli._learn import preparation_for
from kboost.cli._show import heading, size_words
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
    n_test: int = 0


def show_bench(console: Console, lines: Sequence[BenchResult], name: str, n_rows: int) -> None:
    """Print a table of the models."""
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for title in ("", lines[0].score, "fit", "predict", "size"):
        table.add_column(title, justify="left" if not title else "right")
    for line in lines:
        table.add_row(
            line.name,
            f"{line.value:.4f}",
            f"{line.fit_seconds:.2f} s",
            f"{1e6 * line.predict_seconds / line.n_test:.1f} µs per row",
            size_words(line.n_bytes),
        )
    heading(console, name, f"{n_rows:,} rows, {lines[0].n_test:,} of them held out")
    console.print(table)


def bench(data: Data, estimator: Any, *, test_size: float, seed: int) -> list[BenchResult]:
    """Fit all models to the same training rows and score them on the same held-out rows."""
    if not 0 <= test_size < 1:
        raise ValueError(f"--test-size must be above 0 and below 1; got {test_size:g}.")
    train, held_out = split(data, test_size, seed)
    if held_out is None:
        raise ValueError("--test-size must be above 0 for a comparison; got 0.")
    inputs = prepared = train.X, held_out.X
    before = data.preparation()
    if before is not None:
        prepared = before.fit_transform(train.X, train.y), before.transform(held_out.X)
    lines = []
    for name, model in _models(data, estimator, len(train.y)).items():
        same_input = model is estimator and preparation_for(data, estimator) is None
        learn, test = inputs if same_input else prepared
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
    seconds = fitted - start, predicted - fitted
    return BenchResult(name, score.name, score.value, *seconds, size, len(y_test))
