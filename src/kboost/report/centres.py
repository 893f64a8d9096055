"""Section on the most important terms of a model, with their centres."""

from __future__ import annotations

import numpy as np

from kboost.report import measures, row_text
from kboost.report.page import Raw, bar, paragraph, section, table, text
from kboost.report.report_data import WIDE, ReportData, Section


def terms(s: ReportData) -> Section | None:
    """The terms with the largest share of the output, with centres in the user's units."""
    largest = measures.largest_terms(s.inner, s.sample)
    d = s.sample.shape[1]
    if not largest or largest[0].center.shape[0] != d or d > WIDE:
        return None
    centers = row_text.named_rows(s.model, np.stack([h.center for h in largest]))
    others = row_text.named_rows(s.model, s.sample)
    rows = []
    for h, center in zip(largest, centers, strict=True):
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
                Raw(f"{bar(h.share / largest[0].share, minus=h.sign < 0)} {h.share:.1%}"),
                _towards(s, h),
                h.kernel,
                Raw(text(shown) + more),
            ]
        )
    return section(
        "terms",
        "The most important terms",
        paragraph(
            "Each term is a kernel around one training row, its centre. It moves the prediction "
            "of rows similar to the centre. The most unusual values of a centre come first."
        ),
        table("Terms by their share", ["share", "pushes towards", "kernel", "centre"], rows),
    )


def _towards(s: ReportData, h: measures.LargeTerm) -> str:
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
