"""Section on the errors of a model: confusion matrix or residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.plotting._axes import BLUE, GREY
from kboost.report import measures
from kboost.report.charts import chart
from kboost.report.page import details, figure, section, table, text
from kboost.report.report_data import CLASSES, ReportData, Section
from kboost.report.scores import is_classifier


def errors(s: ReportData) -> Section:
    """Confusion matrix of a classifier, residuals of a regressor."""
    if is_classifier(s.model):
        labels, counts = measures.confusion(s.y, s.predicted)
        if len(labels) <= CLASSES:
            return section("errors", "Errors", _confusion(labels, counts))
        worst = sorted(
            ((int(counts[i, j]), labels[i], labels[j]) for i in range(len(labels))
             for j in range(len(labels)) if i != j and counts[i, j]), reverse=True,
        )[:20]  # fmt: skip
        rows = [[f"{n:,}", true, guess] for n, true, guess in worst]
        return section(
            "errors", "Errors", table("Labels mistaken most", ["rows", "true", "predicted"], rows)
        )
    y, predicted = np.asarray(s.y, dtype=np.float64), np.asarray(s.predicted, dtype=np.float64)
    found = measures.residuals(y, predicted)
    words = f"Half of the errors lie between {found['25%']:.4g} and {found['75%']:.4g}."
    few = measures.sample_rows(np.column_stack([y, predicted]))

    def draw(ax: Any) -> None:
        low, high = few.min(), few.max()
        ax.plot([low, high], [low, high], color=GREY, lw=1)
        ax.scatter(few[:, 0], few[:, 1], s=12, color=BLUE, alpha=0.6, lw=0)
        ax.set_xlabel(f"{s.target}, true", parse_math=False)
        ax.set_ylabel("predicted")

    svg = chart("residuals", "Predicted against true values", words, draw, size=(6.2, 3.6))
    rows = [[share, f"{value:.4g}"] for share, value in found.items()]
    inside = table("Quantiles of true minus predicted", ["share", "error"], rows, numbers=(0, 1))
    return section(
        "errors",
        "Errors",
        figure(svg, f"Predicted against true values, on {len(few):,} rows. {words}"),
        details("The errors as a table", inside),
    )


def _confusion(labels: list[str], counts: Any) -> str:
    head = "".join(f'<th scope="col" class="n">{text(label)}</th>' for label in labels)
    body = ""
    for i, label in enumerate(labels):
        kinds = ["hit" if i == j else "miss" if n else "" for j, n in enumerate(counts[i])]
        cells = "".join(
            f'<td class="n {kind}">{n:,}</td>' for kind, n in zip(kinds, counts[i], strict=True)
        )
        right = counts[i, i] / max(1, counts[i].sum())
        body += f'<tr><th scope="row">{text(label)}</th>{cells}<td class="n">{right:.1%}</td></tr>'
    caption = "Confusion: rows are true labels, columns are predicted ones"
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">'
        f'<table class="confusion"><caption>{caption}</caption><thead><tr><th scope="col">true</th>'
        f'{head}<th scope="col" class="n">right</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
