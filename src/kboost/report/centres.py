"""Columns with their centres in the user's units, and predictions taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.plotting._fitted import input_of, short
from kboost.report import facts, units
from kboost.report.page import Raw, bar, paragraph, section, table, text
from kboost.report.subject import Section, Subject

WIDE = 300  # features: rows of more are not told in words


def columns(s: Subject) -> Section | None:
    """The columns that carry most, with their centres in the user's units."""
    heavy = facts.heavy_columns(s.inner, s.some)
    d = s.some.shape[1]
    if not heavy or heavy[0].center.shape[0] != d or d > WIDE:
        return None
    centers = units.named_rows(s.model, np.stack([h.center for h in heavy]))
    others = units.named_rows(s.model, s.some)
    rows = []
    for h, center in zip(heavy, centers, strict=True):
        order = units.unusual(center, others)
        shown = ", ".join(units.show(name, center[name]) for name in order[:5])
        rest = ", ".join(units.show(name, center[name]) for name in order[5:40])
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
            "Each column is a kernel around one training row, its centre. Rows like the centre are "
            "pushed to where the column points. What sets a centre apart comes first."
        ),
        table("Columns by their share", ["share", "pushes towards", "kernel", "centre"], rows),
    )


def explained(s: Subject) -> Section | None:
    """A few predictions taken apart, exactly; votes of several kernels are not."""
    values = getattr(s.model, "decision_function", s.model.predict)(facts.some_rows(s.X))
    top = values.reshape(len(values), -1).max(axis=1)  # (n,), of the winning output
    order = np.argsort(top, kind="stable")
    places = dict.fromkeys([order[0], order[len(order) // 2], order[-1]])
    chosen = np.array(list(places), dtype=np.intp)
    try:
        told = s.inner.explain(input_of(s.model, _rows(s, chosen)))
    except ValueError:
        return None
    names = [short(name) for name in told.kernels]
    blocks = []
    for place, who in enumerate(_in_words(s, chosen)):
        value = np.ravel(told.values[place])
        out = int(np.argmax(value)) if len(value) > 1 else 0
        shares = told.by_kernel[place].reshape(len(names), -1)[:, out]
        offset = float(np.ravel(told.intercept)[out])
        largest = max(np.abs(shares).max(initial=0.0), abs(offset)) or 1.0
        parts = [("intercept", offset), *zip(names, shares.tolist(), strict=True)]
        lines = [
            [name, Raw(f"{bar(abs(v) / largest, minus=v < 0)} {v:+.4g}")] for name, v in parts if v
        ]
        of = f" of {told.outputs[out]}" if len(value) > 1 else ""
        lines.append([f"sum: the value{of}", Raw(f"<strong>{value[out]:+.4g}</strong>")])
        said = s.model.predict(_rows(s, chosen[[place]]))[0]
        said = str(said) if s.labels else f"{said:.6g}"
        blocks.append(table(f"{who}: predicted {said}", ["part", "adds"], lines))
    return section(
        "explained",
        "Predictions taken apart",
        paragraph(
            "The model is a sum, so each value splits exactly into what the kernels add. Shown are "
            "the rows of the lowest, the middle and the highest value."
        ),
        *blocks,
    )


def _rows(s: Subject, places: Any) -> Any:
    """Some of the few rows, as the user gave them."""
    rows = facts.some_rows(s.X)
    return rows.iloc[places] if hasattr(rows, "iloc") else rows[places]


def _towards(s: Subject, h: facts.Heavy) -> str:
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


def _in_words(s: Subject, chosen: Any) -> list[str]:
    """Rows by what sets them apart."""
    if s.some.shape[1] > WIDE:
        return [f"Row {place + 1}" for place in chosen.tolist()]
    others = units.named_rows(s.model, s.some)
    out = []
    for row in units.named_rows(s.model, s.some[chosen]):
        order = units.unusual(row, others)
        out.append("A row with " + ", ".join(units.show(name, row[name]) for name in order[:4]))
    return out
