"""Models to compare with: gradient-boosted trees and a support vector machine, both by default."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from kboost.kernels.rows import as_dense
from kboost.plotting._fitted import input_of, last_step
from kboost.report.scores import Score, is_classifier, scores
from kboost.report.table_rows import positions, take

SVM_ROWS, TREE_ROWS = 5_000, 20_000  # to which the others are fitted, at most
TREES = 1_000  # of all classes together
TREE_NUMBERS = 20_000_000  # entries of a table that becomes dense
TIMED_ROWS = 10_000  # predicted to measure the time


@dataclass(frozen=True)
class ModelFigures:
    """Scores, size and speed of a model."""

    name: str
    scores: Sequence[Score]
    terms: str
    n_bytes: int
    microseconds: float  # per row
    note: str = ""


def model_figures(
    model: Any, inner: Any, X: Any, results: Sequence[Score], n_bytes: int | None
) -> ModelFigures:
    """Those of the model."""
    size = len(pickle.dumps(model)) if n_bytes is None else n_bytes
    terms = f"{inner.n_columns_:,} terms"
    return ModelFigures(type(last_step(model)).__name__, results, terms, size, _clock(model, X))


def tree_figures(model: Any, X_learn: Any, y_learn: Any, X: Any, y: Any) -> ModelFigures | None:
    """Those of gradient-boosted trees on the same rows; None if these are too many numbers."""
    if sparse.issparse(X) and X_learn.shape[0] * X.shape[1] > TREE_NUMBERS:
        return None
    n_classes = len(np.unique(y_learn)) if is_classifier(model) else 1
    options = {"max_iter": min(100, max(10, TREES // n_classes)), "random_state": 0}
    trees = (HistGradientBoostingClassifier if n_classes > 1 else HistGradientBoostingRegressor)(
        **options
    )
    fitted = _fitted(trees, model, X_learn, y_learn, TREE_ROWS)
    n = fitted.n_iter_ * fitted.n_trees_per_iteration_
    rows = as_dense(_plain(input_of(model, X)))
    return _figures(fitted, "gradient-boosted trees", f"{n:,} trees", rows, y, y_learn, TREE_ROWS)


def svm_figures(model: Any, X_learn: Any, y_learn: Any, X: Any, y: Any) -> ModelFigures:
    """Those of a support vector machine on the same rows, scaled."""
    rows = _plain(input_of(model, X))
    scale = StandardScaler(with_mean=isinstance(rows, np.ndarray))  # gamma depends on the means
    labels = is_classifier(model)
    svm = make_pipeline(scale, SVC() if labels else SVR())
    fitted = _fitted(svm, model, X_learn, y_learn, SVM_ROWS)
    n = int(np.sum(fitted[-1].n_support_))
    name = "support vector machine"
    return _figures(fitted, name, f"{n:,} support vectors", rows, y, y_learn, SVM_ROWS)


def _fitted(rival: Any, model: Any, X_learn: Any, y_learn: Any, most: int) -> Any:
    """Fitted to at most `most` rows, as the model reads them."""
    at = positions(X_learn.shape[0], most)
    learn = _plain(input_of(model, take(X_learn, at)))
    dense = hasattr(rival, "max_iter")  # trees
    return rival.fit(as_dense(learn) if dense else learn, np.asarray(y_learn)[at])


def _figures(
    rival: Any, name: str, terms: str, rows: Any, y: Any, y_learn: Any, most: int
) -> ModelFigures:
    results = scores(rival, rows, np.asarray(y), np.asarray(y_learn))
    note = f"fitted to {most:,} of the rows" if len(y_learn) > most else ""
    return ModelFigures(name, results, terms, len(pickle.dumps(rival)), _clock(rival, rows), note)


def _plain(rows: Any) -> Any:
    return rows.to_numpy() if hasattr(rows, "to_numpy") else rows


def _clock(model: Any, X: Any) -> float:
    """Microseconds per row, the smaller of two measurements."""
    many = take(X, np.arange(TIMED_ROWS) % X.shape[0])
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model.predict(many)
        seconds.append(time.perf_counter() - start)
    return 1e6 * min(seconds) / TIMED_ROWS
