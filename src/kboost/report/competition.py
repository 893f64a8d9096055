"""Sections on a search: what competed, and which columns of the table matter."""

from __future__ import annotations

import numpy as np

from kboost.report.page import Raw, bar, paragraph, section, size_words, table
from kboost.report.report_data import ReportData, Section

COLUMNS = 20  # listed, at most


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
    head = ["candidate", s.door.scoring_, "standard error", "columns", "size", "per row", "search"]
    return section(
        "competition",
        "What competed",
        paragraph(s.door.reason_),
        table("Candidates, the best first", head, rows, numbers=range(1, 7)),
        paragraph(
            "Scores are those of rows left out of each fit; larger is better. Columns, size and "
            "time per row are estimates for a fit to all rows.",
            dim=True,
        ),
    )


def importances(s: ReportData) -> Section | None:
    """The columns of the table by their total effects."""
    shares = getattr(s.door, "feature_importances_", None)
    if shares is None:
        return None
    names = [column.name for column in s.door.preparation_.columns_]
    order = np.argsort(-shares, kind="stable")[:COLUMNS]
    largest = float(shares.max()) or 1.0
    rows = [[names[j], Raw(f"{bar(float(shares[j]) / largest)} {shares[j]:.1%}")] for j in order]
    return section(
        "importances",
        "Columns of the table",
        table("Columns by their importance", ["column", "share"], rows),
        paragraph(
            "Total effects: how much the values of the model change if only this column changes, "
            "as a share of the sum. An effect that columns have together counts for each of them.",
            dim=True,
        ),
    )
