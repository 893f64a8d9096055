"""Size and speed, beside those of other models."""

from __future__ import annotations

from kboost.report.page import paragraph, section, size_words, table
from kboost.report.report_data import ReportData, Section
from kboost.report.rivals import TIMED_ROWS, model_figures


def comparison(s: ReportData) -> Section | None:
    """Size and speed, beside those of other models."""
    n_bytes = s.file.stat().st_size if s.file is not None and s.file.is_file() else None
    lines = [model_figures(s.model, s.inner, s.X, s.scores, n_bytes), *s.rivals]
    rows = [
        [
            line.name + (f" ({line.note})" if line.note else ""),
            f"{line.scores[0].value:.4f}",
            line.terms,
            size_words(line.n_bytes),
            f"{line.microseconds:.1f} µs",
        ]
        for line in lines
    ]
    head = ["model", s.scores[0].name, "terms", "size", "time per row"]
    note = "The other models have default settings and the same rows. "
    note = note if len(lines) > 1 else ""
    return section(
        "comparison",
        "Size and speed",
        table("Size and speed of prediction", head, rows, numbers=(1, 3, 4)),
        paragraph(f"{note}Time per row for {TIMED_ROWS:,} rows at once.", dim=True),
    )
