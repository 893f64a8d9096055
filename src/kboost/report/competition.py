"""Section on a search: what competed."""

from __future__ import annotations

from kboost.report.page import paragraph, section, size_words, table
from kboost.report.report_data import ReportData, Section


def competition(s: ReportData) -> Section | None:
    """The leaderboard of an AutoKernel estimator, and why the first line won."""
    if not hasattr(s.door, "leaderboard_"):
        return None
    rows = [
        [
            line["candidate"],
            f"{line['score']:.4g}",
            f"{line['spread']:.2g}",
            f"{line['columns']:,}",
            size_words(line["bytes"]),
            f"{line['predict_us_per_row']:.1f} µs",
            f"{line['fit_seconds']:.1f} s",
        ]
        for line in s.door.leaderboard_
    ]
    head = ["candidate", s.door.scoring_, "standard error", "terms", "size", "per row", "search"]
    return section(
        "competition",
        "What competed",
        paragraph(s.door.reason_),
        table("Candidates, the best first", head, rows, numbers=range(1, 7)),
        paragraph(
            "Scores are those of rows left out of each fit; larger is better. Terms, size and "
            "time per row are estimates for a fit to all rows.",
            dim=True,
        ),
    )
