"""The numbers of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.kernels.rows import as_dense
from kboost.plotting._fitted import kernel_names
from kboost.report.table_rows import positions, take

SAMPLE_ROWS = 500  # on which shares are measured
MAX_TERMS = 5_000  # of a model whose terms are listed
LISTED = 10  # terms


@dataclass(frozen=True)
class LargeTerm:
    """A term of the model with a large share of the output."""

    kernel: str
    share: float  # of the standard deviations of all columns
    sign: float  # of its coefficient, the largest one if there are several outputs
    output: int
    center: Any  # as input of the estimator, (d,)


def sample_rows(X: Any) -> Any:
    """A random sample of the rows, in their order."""
    return take(X, positions(X.shape[0], SAMPLE_ROWS))


def largest_terms(model: Any, rows: Any) -> list[LargeTerm]:
    """The columns that vary most over the rows; empty if columns are not kernels at centres."""
    columns: list[LargeTerm] = []
    if model.n_columns_ > MAX_TERMS or not isinstance(model._model, AdditiveModel):
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
            columns.append(LargeTerm(name, size, float(np.sign(coef[output])), output, center))
    total = sum(column.share for column in columns)
    ordered = sorted(columns, key=lambda column: -column.share)[:LISTED] if total > 0 else []
    return [LargeTerm(h.kernel, h.share / total, h.sign, h.output, h.center) for h in ordered]


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
