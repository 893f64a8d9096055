"""Section on a search: what competed."""

from __future__ import annotations

from kboost.auto.score_words import as_measured, is_error, score_words
from kboost.report.page import figure_words, in_terms, paragraph, section, size_words, table
from kboost.report.report_data import ReportData, Section


def competition(s: ReportData) -> Section | None:
    """The leaderboard of an AutoKernel estimator, and why the first line won."""
    if not hasattr(s.estimator, "leaderboard_"):
        return None
    rows = [
        [
            line["candidate"],
            figure_words(as_measured(s.estimator.scoring_, line["score"])),
            f"{line['spread']:.2g}" if line["spread"] else "",
            f"{line['columns']:,}",
            size_words(line["bytes"]),
            f"{line['predict_us_per_row']:.1f} µs",
            f"{line['fit_seconds']:.1f} s",
        ]
        for line in s.estimator.leaderboard_
    ]
    measured = score_words(s.estimator.scoring_)
    head = [
        "candidate",
        measured,
        "standard error",
        "terms",
        "size",
        "per row",
        "search",
    ]
    return section(
        "competition",
        "What competed",
        paragraph(in_terms(s.estimator.reason_)),
        table("Candidates, the best first", head, rows, numbers=range(1, 7)),
        paragraph(
            f"The {measured} is that of rows left out of each fit; "
            f"{'smaller' if is_error(s.estimator.scoring_) else 'larger'} is better. Terms, size "
            "and time per row are estimates for a fit to all rows.",
            dim=True,
        ),
    )
