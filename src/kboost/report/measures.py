"""The numbers of a report."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.kernels.rows import as_dense
from kboost.plotting._fitted import input_of, kernel_names, last_step
from kboost.report.scores import Score, is_classifier, scores

SAMPLE_ROWS = 500  # on which shares are measured
MAX_COLUMNS = 5_000  # of a model whose columns are listed
REFERENCE_ROWS = 5_000  # to which the SVM is fitted, at most
TIMED_ROWS = 10_000  # predicted to measure the time


@dataclass(frozen=True)
class HeavyColumn:
    """A column of the model with a large share of the output."""

    kernel: str
    share: float  # of the standard deviations of all columns
    sign: float  # of its coefficient, the largest one if there are several outputs
    output: int
    center: Any  # as input of the estimator, (d,)


@dataclass(frozen=True)
class ModelFigures:
    """Score, size and speed of a model."""

    name: str
    score: Score | None
    terms: str
    n_bytes: int
    microseconds: float  # per row
    note: str = ""


def sample_rows(X: Any, seed: int = 0) -> Any:
    """A random sample of the rows, in their order."""
    n = X.shape[0]
    if n <= SAMPLE_ROWS:
        return X
    chosen = np.sort(np.random.default_rng(seed).choice(n, SAMPLE_ROWS, replace=False))
    return X.iloc[chosen] if hasattr(X, "iloc") else X[chosen]


def heavy_columns(model: Any, rows: Any, most: int = 10) -> list[HeavyColumn]:
    """The columns that vary most over the rows; empty if columns are not kernels at centres."""
    columns: list[HeavyColumn] = []
    if model.n_columns_ > MAX_COLUMNS or not isinstance(model._model, AdditiveModel):
        return []
    parts, names = model._sum().parts, kernel_names(model)
    if not all(isinstance(part, KernelPart) for part in parts):
        return []
    for part in parts:
        name = names[model.kernels_.index(part.kernel)]
        values = part.kernel(rows, part.centers)  # (n, m)
        spread = values.std(axis=0)
        for j, coef in enumerate(part.coef):
            output = int(np.argmax(np.abs(coef)))
            size = float(np.sqrt(np.sum(coef**2)) * spread[j])
            center = as_dense(part.centers[[j]])[0]
            columns.append(HeavyColumn(name, size, float(np.sign(coef[output])), output, center))
    total = sum(column.share for column in columns)
    ordered = sorted(columns, key=lambda column: -column.share)[:most] if total > 0 else []
    return [HeavyColumn(h.kernel, h.share / total, h.sign, h.output, h.center) for h in ordered]


def confusion(y: Any, predicted: Any) -> tuple[list[str], Any]:
    """Labels and the confusion matrix, with one row per true label."""
    labels = np.unique(np.concatenate([np.asarray(y), np.asarray(predicted)]))
    code = {label: k for k, label in enumerate(labels.tolist())}
    table = np.zeros((len(labels), len(labels)), dtype=int)
    for true, guess in zip(np.asarray(y).tolist(), np.asarray(predicted).tolist(), strict=True):
        table[code[true], code[guess]] += 1
    return [str(label) for label in labels], table


def residuals(y: Any, predicted: Any) -> dict[str, float]:
    """Quantiles of the errors."""
    error = np.asarray(y, dtype=np.float64) - np.asarray(predicted, dtype=np.float64)
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    return {
        f"{share:.0%}": float(v)
        for share, v in zip(shares, np.quantile(error, shares), strict=True)
    }


def model_figures(
    model: Any, inner: Any, X: Any, score: Score | None, n_bytes: int | None
) -> ModelFigures:
    """Score, size and speed of the model."""
    size = len(pickle.dumps(model)) if n_bytes is None else n_bytes
    terms = f"{inner.n_columns_:,} columns"
    name = type(last_step(model)).__name__
    return ModelFigures(name, score, terms, size, _clock(model, X))


def reference_figures(model: Any, X_learn: Any, y_learn: Any, X: Any, y: Any) -> ModelFigures:
    """Score, size and speed of a default support vector machine on the same rows, scaled."""
    labels = is_classifier(model)
    rows, learn = (_plain(input_of(model, given)) for given in (X, X_learn))
    note = ""
    if learn.shape[0] > REFERENCE_ROWS:
        chosen = np.random.default_rng(0).choice(learn.shape[0], REFERENCE_ROWS, replace=False)
        learn, y_learn = learn[chosen], np.asarray(y_learn)[chosen]
        note = f"fitted to {REFERENCE_ROWS:,} of the rows"
    scale = StandardScaler(with_mean=isinstance(learn, np.ndarray))  # gamma depends on the means
    svm = make_pipeline(scale, SVC() if labels else SVR())
    svm.fit(learn, y_learn)
    score = scores(svm, rows, y, y_learn)[0]
    n = int(np.sum(svm[-1].n_support_))
    size = len(pickle.dumps(svm))
    name = "SVC" if labels else "SVR"
    return ModelFigures(name, score, f"{n:,} support vectors", size, _clock(svm, rows), note)


def _plain(rows: Any) -> Any:
    return rows.to_numpy() if hasattr(rows, "to_numpy") else rows


def _clock(model: Any, X: Any) -> float:
    """Microseconds per row, the smaller of two measurements."""
    n = X.shape[0]
    chosen = np.arange(TIMED_ROWS) % n
    many = X.iloc[chosen] if hasattr(X, "iloc") else X[chosen]
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model.predict(many)
        seconds.append(time.perf_counter() - start)
    return 1e6 * min(seconds) / TIMED_ROWS
