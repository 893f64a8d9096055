"""Sections on the most important columns, with their centres, and on single predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.plotting._fitted import input_of, short_name
from kboost.report import measures, row_text
from kboost.report.page import Raw, bar, paragraph, section, table, text
from kboost.report.report_data import ReportData, Section

WIDE = 300  # features above which rows are not described


def columns(s: ReportData) -> Section | None:
    """The columns with the largest share of the output, with centres in the user's units."""
    heavy = measures.heavy_columns(s.inner, s.sample)
    d = s.sample.shape[1]
    if not heavy or heavy[0].center.shape[0] != d or d > WIDE:
        return None
    centers = row_text.named_rows(s.model, np.stack([h.center for h in heavy]))
    others = row_text.named_rows(s.model, s.sample)
    rows = []
    for h, center in zip(heavy, centers, strict=True):
        order = row_text.unusual(center, others)
        shown = ", ".join(row_text.show(name, center[name]) for name in order[:5])
        rest = ", ".join(row_text.show(name, center[name]) for name in order[5:40])
        more = (
            f"<details><summary>{len(order) - 5} more</summary>{text(rest)}</details>"
            if rest
            else ""
        )
        rows.append(
            [
                Raw(f"{bar(h.share / heavy[0].share, minus=h.sign < 0)} {h.share:.1%}"),
                _towards(s, h),
                h.kernel,
                Raw(text(shown) + more),
            ]
        )
    return section(
        "columns",
        "The most important columns",
        paragraph(
            "Each column is a kernel around one training row, its centre. It moves the prediction "
            "of rows similar to the centre. The most unusual values of a centre come first."
        ),
        table("Columns by their share", ["share", "pushes towards", "kernel", "centre"], rows),
    )


def explained(s: ReportData) -> Section | None:
    """A few predictions split into contributions of kernels; None for votes of several kernels."""
    values = getattr(s.model, "decision_function", s.model.predict)(measures.sample_rows(s.X))
    top = values.reshape(len(values), -1).max(axis=1)  # (n,), of the winning output
    order = np.argsort(top, kind="stable")
    positions = dict.fromkeys([order[0], order[len(order) // 2], order[-1]])
    chosen = np.array(list(positions), dtype=np.intp)
    try:
        explanation = s.inner.explain(input_of(s.model, _rows(s, chosen)))
    except ValueError:
        return None
    names = [short_name(name) for name in explanation.kernels]
    blocks = []
    for i, description in enumerate(_describe(s, chosen)):
        value = np.ravel(explanation.values[i])
        out = int(np.argmax(value)) if len(value) > 1 else 0
        shares = explanation.by_kernel[i].reshape(len(names), len(value))[:, out]
        offset = float(np.ravel(explanation.intercept)[out])
        largest = max(np.abs(shares).max(initial=0.0), abs(offset)) or 1.0
        parts = [("intercept", offset), *zip(names, shares.tolist(), strict=True)]
        lines = [
            [name, Raw(f"{bar(abs(v) / largest, minus=v < 0)} {v:+.4g}")] for name, v in parts if v
        ]
        of = f" of {explanation.outputs[out]}" if len(value) > 1 else ""
        lines.append([f"sum: the value{of}", Raw(f"<strong>{value[out]:+.4g}</strong>")])
        predicted = s.model.predict(_rows(s, chosen[[i]]))[0]
        shown = str(predicted) if s.labels else f"{predicted:.6g}"
        blocks.append(table(f"{description}: predicted {shown}", ["part", "adds"], lines))
    return section(
        "explained",
        "Predictions taken apart",
        paragraph(
            "The model is a sum, so each value is the sum of the contributions of the kernels. The "
            "rows with the lowest, the median and the highest value are shown."
        ),
        *blocks,
    )


def _rows(s: ReportData, positions: Any) -> Any:
    """Rows of the sample, as given by the user."""
    rows = measures.sample_rows(s.X)
    return rows.iloc[positions] if hasattr(rows, "iloc") else rows[positions]


def _towards(s: ReportData, h: measures.HeavyColumn) -> str:
    if not s.labels:
        return f"higher {s.target}" if h.sign > 0 else f"lower {s.target}"
    if len(s.labels) == 2:
        return s.labels[1] if h.sign > 0 else s.labels[0]
    problems = getattr(s.inner, "_binary_problems", None)
    if problems is not None and problems[h.output].negative is not None:
        problem = problems[h.output]
        positive, negative = s.labels[problem.positive], s.labels[problem.negative]
        return f"{positive}, not {negative}" if h.sign > 0 else f"{negative}, not {positive}"
    return s.labels[h.output] if h.sign > 0 else f"not {s.labels[h.output]}"


def _describe(s: ReportData, chosen: Any) -> list[str]:
    """Describe rows by their most unusual values."""
    if s.sample.shape[1] > WIDE:
        return [f"Row {i + 1}" for i in chosen.tolist()]
    others = row_text.named_rows(s.model, s.sample)
    out = []
    for row in row_text.named_rows(s.model, s.sample[chosen]):
        order = row_text.unusual(row, others)
        out.append("A row with " + ", ".join(row_text.show(name, row[name]) for name in order[:4]))
    return out
