"""Section on the data: columns that give the target away, drift, missing values.

- Leaks: a small tree on one column alone, fitted to training rows and scored on the others.
- Drift: the largest distance of the distribution functions (Kolmogorov and Smirnov) of a column in
  the training rows and in these rows; of categories, half the sum of the differences of the shares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import ks_2samp
from sklearn import metrics
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from kboost._typing import FloatArray
from kboost.report.page import paragraph, section, table
from kboost.report.report_data import ReportData, Section
from kboost.report.shares import importances_by_column
from kboost.report.table_rows import (
    codes,
    column,
    has_columns,
    is_missing,
    is_number,
    names_of,
    positions,
    take,
)

ROWS = 4_000  # of each part that are checked
COLUMNS = 100  # checked, the most important ones of the model
LEAK = 0.97  # score of one column alone
DRIFT = 0.1  # distance of distributions
CHANGED_MISSING = 0.05  # of the share of missing values
UNSEEN = 0.01  # of the rows with a new category
LEAVES = 32


def data_notes(s: ReportData) -> Section | None:
    """Notes on columns, or that there are none."""
    if not has_columns(s):
        return None
    names = names_of(s)
    columns = np.argsort(-importances_by_column(s), kind="stable")[:COLUMNS].tolist()
    rows: list[list[str]] = []
    missing: list[tuple[float, list[str]]] = []
    for j in sorted(columns):
        pair = _Pair(s, j)
        rows += [[names[j], kind, words] for kind, words in _notes(s, pair)]
        if max(pair.missing) > 0:
            shares = [f"{share:.1%}" for share in pair.missing[: 1 if s.X_learn is None else 2]]
            missing.append((max(pair.missing), [names[j], *shares]))
    missing = sorted(missing, key=lambda each: -each[0])[:20]
    head = ["column", "these rows", "training rows"][: 2 if s.X_learn is None else 3]
    rows.sort(key=lambda row: ("leak", "drift", "new values", "missing values").index(row[1]))
    return section(
        "data",
        "About the data",
        table("Columns to look at", ["column", "what", "why"], rows, words=(2,)) if rows else "",
        paragraph(_clean(s, rows)),
        table("Shares of missing values", head, [row for _, row in missing], numbers=(1, 2))
        if missing
        else "",
    )


class _Pair:
    """A column in these rows and in the training rows, as numbers."""

    def __init__(self, s: ReportData, j: int) -> None:
        at = positions(s.X.shape[0], ROWS)
        self.y, values = np.asarray(s.y)[at], column(take(s.X, at), j)
        if s.X_learn is None or s.seen:  # halves of these rows, which cannot drift
            self.y_learn, training = self.y[::2], values[::2]
            self.y, values, self.is_new = self.y[1::2], values[1::2], False
        else:
            at = positions(s.X_learn.shape[0], ROWS, seed=1)
            self.y_learn, training = np.asarray(s.y_learn)[at], column(take(s.X_learn, at), j)
            self.is_new = True
        self.is_number = is_number(training) and is_number(values)
        self.missing = [float(is_missing(v).mean()) if len(v) else 0.0 for v in (values, training)]
        self.learn, levels = codes(training)
        self.here, _ = codes(values, levels)
        self.unseen = 0.0
        repeated = 2 * len(levels) < len(training)  # texts would all be new
        if not self.is_number and len(values) and repeated:
            self.unseen = float(np.mean((self.here < 0) & ~is_missing(values)))


def _notes(s: ReportData, pair: _Pair) -> list[tuple[str, str]]:
    notes = []
    score = alone(s, pair)
    if score is not None and score >= LEAK:
        name = "mean recall of the classes" if s.labels else "R²"
        notes.append(
            ("leak", f"alone, it predicts {s.target} with {name} {score:.3f}: is it known before?")
        )
    if pair.is_new:
        distance, chance = drift(pair)
        if distance > max(DRIFT, chance):
            notes.append(("drift", f"its distribution moved by {distance:.0%} since training"))
        if pair.unseen > UNSEEN:
            notes.append(
                ("new values", f"{pair.unseen:.1%} of the rows have values not seen before")
            )
        if abs(pair.missing[0] - pair.missing[1]) > CHANGED_MISSING:
            words = f"{pair.missing[1]:.1%} of the training rows, {pair.missing[0]:.1%} of these"
            notes.append(("missing values", words))
    return notes


def alone(s: ReportData, pair: _Pair) -> float | None:
    """The score of a tree on this column alone; None if it cannot be measured."""
    if len(pair.y) < 10 or len(np.unique(pair.learn)) < 2 or len(np.unique(pair.y_learn)) < 2:
        return None
    make: Any = DecisionTreeClassifier if s.labels else DecisionTreeRegressor
    options = {"class_weight": "balanced"} if s.labels else {}
    tree = make(max_leaf_nodes=LEAVES, random_state=0, **options)
    predicted = tree.fit(pair.learn[:, None], pair.y_learn).predict(pair.here[:, None])
    if s.labels:
        return float(metrics.recall_score(pair.y, predicted, average="macro", zero_division=0.0))
    return float(metrics.r2_score(np.asarray(pair.y, dtype=np.float64), predicted))


def drift(pair: _Pair) -> tuple[float, float]:
    """The distance of the two distributions, and what chance may make of it."""
    one, other = (values[np.isfinite(values)] for values in (pair.here, pair.learn))
    if not (len(one) and len(other)):
        return 0.0, 1.0
    size = np.sqrt(1 / len(one) + 1 / len(other))
    if pair.is_number:
        return float(ks_2samp(one, other, method="asymp").statistic), 1.95 * size
    levels = int(max(one.max(), other.max())) + 2
    shares: list[FloatArray] = [
        np.bincount(v.astype(np.intp) + 1, minlength=levels) / len(v) for v in (one, other)
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2), 1.95 * size * np.sqrt(levels) / 2


def _clean(s: ReportData, rows: list[list[str]]) -> str:
    """What was checked and not found."""
    kinds = {row[1] for row in rows}
    words = []
    if "leak" not in kinds:
        words.append("No column alone predicts the target.")
    if s.X_learn is not None and not s.seen and not kinds & {"drift", "new values"}:
        words.append("No column has another distribution than in the training rows.")
    if s.X_learn is None or s.seen:
        words.append("Drift cannot be seen without other rows than those of training.")
    return " ".join(words)
