"""Comparison of size and speed with a support vector machine."""

from __future__ import annotations

import numpy as np

from kboost.report import measures
from kboost.report.page import paragraph, section, size_words, table
from kboost.report.report_data import ReportData, Section


def comparison(s: ReportData) -> Section | None:
    """Comparison of size and speed with a support vector machine."""
    n_bytes = s.file.stat().st_size if s.file is not None and s.file.is_file() else None
    lines = [measures.model_figures(s.model, s.inner, s.X, s.scores[0], n_bytes)]
    if s.X_learn is not None:
        lines.append(
            measures.reference_figures(s.model, s.X_learn, s.y_learn, s.X, np.asarray(s.y))
        )
    rows = [
        [
            line.name + (f" ({line.note})" if line.note else ""),
            f"{line.score.value:.4f}" if line.score else "",
            line.terms,
            size_words(line.n_bytes),
            f"{line.microseconds:.1f} µs",
        ]
        for line in lines
    ]
    head = ["model", s.scores[0].name, "terms", "size", "time per row"]
    note = "The support vector machine has default settings and the same rows, scaled. "
    note = note if len(lines) > 1 else ""
    return section(
        "comparison",
        "Size and speed",
        table("Size and speed of prediction", head, rows, numbers=(1, 3, 4)),
        paragraph(f"{note}Time per row for {measures.TIMED_ROWS:,} rows at once.", dim=True),
    )
