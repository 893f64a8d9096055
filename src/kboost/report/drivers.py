"""Section on what drives a model: permutation importance, partial dependence, one interaction.

The importance of a column is the loss that a model adds on these rows if the values of the column
are permuted among them. At most `EVALUATIONS` rows are predicted, so that the time is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.report.dependence import dependence_charts, interaction_chart
from kboost.report.page import Raw, bar, figure_words, grid, paragraph, section, table
from kboost.report.report_data import ReportData, Section
from kboost.report.response import losses
from kboost.report.shares import importances_by_column
from kboost.report.table_rows import column, has_columns, names_of, positions, take, with_column

EVALUATIONS = 30_000  # rows predicted for all columns
ROWS = (50, 500)  # the fewest and the most
COLUMNS = 40  # permuted, at most: the most important ones by the model itself
SHOWN = 15  # listed
DRAWN = 6  # with a chart, if the loss is at least this part of the largest:
LEAST, TINY = 1e-3, 1e-6  # below the second it is rounding


@dataclass(frozen=True)
class Permuted:
    """The losses that permuting columns adds."""

    columns: list[int]  # by importance
    added: FloatArray  # (n_columns, 2), mean over repeats
    spread: FloatArray  # (n_columns,), standard deviation of the first over repeats
    loss: FloatArray  # (2,), before
    n_rows: int


def drivers(s: ReportData) -> Section | None:
    """The columns of the table by what they do to the predictions."""
    if not has_columns(s):
        return None
    importances = permuted(s)
    names = names_of(s)
    head, cells = _cells(s, importances)
    largest = max(float(importances.added[:, 0].max(initial=0.0)), 1e-300)
    rows = []
    for number, j in enumerate(importances.columns[:SHOWN]):
        value, spread = importances.added[number, 0], importances.spread[number]
        size = Raw(f"{bar(float(value) / largest)} 0")
        if abs(value) > TINY * largest:
            words = f"{figure_words(value, '+')} ± {spread:.1g}"
            size = Raw(f"{bar(float(value) / largest)} {words}")
        rows.append([names[j], size, cells[number]])
    added = importances.added[:, 0]
    top = [j for j, v in zip(importances.columns, added, strict=True) if v > LEAST * largest]
    charts = dependence_charts(s, top[:DRAWN])
    n_others = len(names) - len(importances.columns)
    note = (
        f"What is lost on {importances.n_rows:,} of these rows when a column is permuted among "
        "them, the mean of several permutations ± their standard deviation. Columns with the same "
        "information share their importance: permuting one of them adds little."
    )
    note += f" {n_others:,} columns with small effects were not permuted." if n_others > 0 else ""
    return section(
        "drivers",
        "What drives it",
        table("Columns by permutation importance", ["column", *head], rows, numbers=(2,)),
        paragraph(note, dim=True),
        grid(charts),
        interaction_chart(s, top),
    )


def permuted(s: ReportData) -> Permuted:
    """Permute the columns one at a time."""
    chosen = _candidates(s)
    repeats = 5 if len(chosen) <= 12 else 3
    n = int(np.clip(EVALUATIONS // max(1, len(chosen) * repeats), *ROWS))
    at = positions(s.X.shape[0], n)
    X, y = take(s.X, at), np.asarray(s.y)[at]
    before = losses(s, X, y).mean(axis=0)
    many = take(X, np.tile(np.arange(len(at)), repeats))
    order = np.concatenate([_shuffle(len(at), k) for k in range(repeats)])
    after = []
    for j in chosen:
        moved = with_column(many, j, column(X, j)[order])
        each = losses(s, moved, np.tile(y, repeats)).reshape(repeats, len(at), 2).mean(axis=1)
        after.append(each - before)
    added = np.array(after).reshape(len(chosen), repeats, 2)
    if not s.labels and np.var(y) > 0:
        added[..., 0] /= np.var(y)  # the loss is the squared error
    means, spread = added.mean(axis=1), added[:, :, 0].std(axis=1)
    rank = np.argsort(-means[:, 0], kind="stable")
    return Permuted([chosen[k] for k in rank], means[rank], spread[rank], before, len(at))


@cache
def _shuffle(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).permutation(n)


def _candidates(s: ReportData) -> list[int]:
    """The columns to permute."""
    d = s.X.shape[1]
    if d <= COLUMNS:
        return list(range(d))
    return list(map(int, np.argsort(-importances_by_column(s), kind="stable")[:COLUMNS]))


def _cells(s: ReportData, importances: Permuted) -> tuple[list[str], list[str]]:
    """Names of the losses, and the second one of each column."""
    if not s.labels:
        head = ["R² lost", "mean absolute error added"]
        return head, [figure_words(v, "+") for v in importances.added[:, 1]]
    fine = "log loss added" if hasattr(s.model, "predict_proba") else "errors added"
    return [fine, "accuracy lost"], [f"{v:+.1%}" for v in importances.added[:, 1]]
