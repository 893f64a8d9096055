"""Section on single predictions, split by the columns of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.report import measures, row_text
from kboost.report.page import Raw, bar, figure_words, paragraph, section, table
from kboost.report.report_data import ReportData, Section
from kboost.report.shares import shares_by_column
from kboost.report.table_rows import (
    column,
    has_columns,
    is_missing,
    names_of,
    row_name,
    take,
)

SHOWN = 10  # columns of a prediction; the others are added up
TINY = 1e-6  # of the largest share is rounding


def explained(s: ReportData) -> Section | None:
    """A few predictions as sums over columns."""
    if not has_columns(s):
        return None
    rows = measures.sample_rows(s.X)
    values = getattr(s.model, "decision_function", s.model.predict)(rows)
    top = values.reshape(len(values), -1).max(axis=1)  # (n,), of the winning output
    order = np.argsort(top, kind="stable")
    chosen = np.array(list(dict.fromkeys([order[-1], order[len(order) // 2], order[0]])))
    few = take(rows, chosen)
    explanation, shares, names = shares_by_column(s, few)
    predicted = s.model.predict(few)
    blocks = []
    for i in range(len(chosen)):
        of_row = explanation.values[i].reshape(-1)
        out = int(np.argmax(of_row)) if len(of_row) > 1 else 0
        base = float(np.ravel(explanation.baseline)[out])
        shown = str(predicted[i]) if s.labels else figure_words(float(predicted[i]))
        lines = _lines(s, few, i, shares[i, :, out], names, base)
        of = f" of {explanation.outputs[out]}" if len(of_row) > 1 else ""
        total = Raw(f"<strong>{figure_words(of_row[out], '+')}</strong>")
        lines.append([f"sum: the {_unit(s)}{of}", "", total])
        of_file = f", row {row_name(few, i)}" if hasattr(few, "iloc") else ""
        caption = f"{_place(i, len(chosen))}{of_file}: predicted {shown}"
        blocks.append(table(caption, ["column", "value", "adds"], lines))
    return section("explained", "Predictions explained", paragraph(_words(s, explanation)), *blocks)


def _lines(
    s: ReportData, rows: Any, i: int, shares: Any, names: list[str], base: float
) -> list[list[Any]]:
    """Baseline, the largest shares, and the sum of the others."""
    order = np.argsort(-np.abs(shares), kind="stable")
    first, rest = order[:SHOWN], order[SHOWN:]
    largest = max(float(np.abs(shares).max(initial=0.0)), 1e-300)
    of_table = names == names_of(s)
    lines: list[list[Any]] = [["baseline", "", figure_words(base, "+")]]
    for j in first.tolist():
        value = _shown(column(rows, j)[i]) if of_table else ""
        lines.append([names[j], value, _sized(float(shares[j]), largest)])
    if len(rest):
        lines.append([f"{len(rest):,} others", "", _sized(float(shares[rest].sum()), largest)])
    return lines


def _sized(value: float, largest: float) -> Raw:
    shown = figure_words(value, "+") if abs(value) > TINY * largest else "0"
    return Raw(f"{bar(abs(value) / largest, minus=value < 0)} {shown}")


def _shown(value: Any) -> str:
    if is_missing(np.array([value]))[0]:
        return "(missing)"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return row_text.show("", value).removeprefix(" = ") if number else str(value)


def _unit(s: ReportData) -> str:
    if not s.labels:
        return f"predicted {s.target}"
    return "log odds" if hasattr(s.estimator, "probabilities_") and len(s.labels) == 2 else "value"


def _place(i: int, n: int) -> str:
    names = [
        "The row with the highest value",
        "The row in the middle",
        "The row with the lowest value",
    ]
    return names[i] if n == 3 else f"Row {i + 1}"


def _words(s: ReportData, explanation: Any) -> str:
    words = (
        f"The {_unit(s)} of a row is the baseline, the mean over rows that the model keeps, "
        "plus a share of each column: the change when the column takes the value of this row, on "
        "average over all orders of the columns."
    )
    if explanation.exact:
        return f"{words} The shares are exact: the kernels use one or two columns at a time."
    return f"{words} The orders are sampled; the sum is exact."
