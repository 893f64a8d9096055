"""Section on the errors of a model: confusion and curves, or residuals; the worst rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.plotting._axes import BLUE, GREY
from kboost.report import measures, row_text
from kboost.report.charts import chart
from kboost.report.page import details, figure, figure_words, grid, scrolling, section, table, text
from kboost.report.rates import rates
from kboost.report.report_data import CLASSES, WIDE, ReportData, Section
from kboost.report.response import losses
from kboost.report.table_rows import row_name, take

WORST = 8  # rows listed


def errors(s: ReportData) -> Section:
    """Where the model errs."""
    blocks = _of_labels(s) if s.labels else _of_numbers(s)
    return section("errors", "Where it errs", *blocks)


def _of_labels(s: ReportData) -> list[str]:
    labels, counts = measures.confusion(s.y, s.predicted)
    if len(labels) <= CLASSES:
        first = _confusion(labels, counts)
    else:
        worst = sorted(
            ((int(counts[i, j]), labels[i], labels[j]) for i in range(len(labels))
             for j in range(len(labels)) if i != j and counts[i, j]), reverse=True,
        )[:20]  # fmt: skip
        rows = [[f"{n:,}", true, guess] for n, true, guess in worst]
        first = table("Labels mistaken most", ["rows", "true", "predicted"], rows)
    return [first, *rates(s), _worst(s)]


def _of_numbers(s: ReportData) -> list[str]:
    y, predicted = np.asarray(s.y, dtype=np.float64), np.asarray(s.predicted, dtype=np.float64)
    quantiles = measures.residuals(y, predicted)
    low, high = figure_words(quantiles["25%"]), figure_words(quantiles["75%"])
    words = f"Half of the errors lie between {low} and {high}."
    sample = measures.sample_rows(np.column_stack([y, predicted]))

    def draw(ax: Any) -> None:
        low, high = sample.min(), sample.max()
        ax.plot([low, high], [low, high], color=GREY, lw=1)
        ax.scatter(sample[:, 0], sample[:, 1], s=12, color=BLUE, alpha=0.6, lw=0)
        ax.set_xlabel(f"{s.target}, true", parse_math=False)
        ax.set_ylabel("predicted")

    def draw_residuals(ax: Any) -> None:
        ax.axhline(0.0, color=GREY, lw=1)
        ax.scatter(sample[:, 1], sample[:, 0] - sample[:, 1], s=12, color=BLUE, alpha=0.6, lw=0)
        ax.set(xlabel="predicted", ylabel="true minus predicted")

    svg = chart("true", "Predicted against true values", words, draw, size=(4.0, 3.2))
    large = np.abs(sample[:, 0] - sample[:, 1])
    half = sample[:, 1] > np.median(sample[:, 1])
    sizes = [float(np.median(large[part])) if part.any() else 0.0 for part in (~half, half)]
    second = (
        f"The median size of an error is {figure_words(sizes[0])} where predictions are low and "
        f"{figure_words(sizes[1])} where they are high."
    )
    other = chart("residuals", "Residuals", second, draw_residuals, size=(4.0, 3.2))
    rows = [[share, figure_words(value)] for share, value in quantiles.items()]
    inside = table("Quantiles of true minus predicted", ["share", "error"], rows, numbers=(0, 1))
    charts = [
        figure(svg, f"Predicted against true values, on {len(sample):,} rows. {words}"),
        figure(other, f"Errors against predictions. {second}"),
    ]
    return [grid(charts), details("The errors as a table", inside), _worst(s)]


def _worst(s: ReportData) -> str:
    """The rows with the largest loss, described by their most unusual values."""
    loss = losses(s, s.X, np.asarray(s.y))[:, 0]
    order = np.argsort(-loss, kind="stable")[:WORST]
    if s.labels:
        order = order[np.asarray(s.predicted)[order] != np.asarray(s.y)[order]]
    if not len(order):
        return ""
    described = _described(s, order)
    rows = []
    for i, words in zip(order.tolist(), described, strict=True):
        true, predicted = np.asarray(s.y)[i], np.asarray(s.predicted)[i]
        if s.labels:
            chance = f"{np.exp(-loss[i]):.3f}" if hasattr(s.model, "predict_proba") else ""
            rows.append([row_name(s.X, i), true, predicted, chance, words])
        else:
            error = float(true) - float(predicted)
            cells = [figure_words(float(v)) for v in (true, predicted)]
            rows.append([row_name(s.X, i), *cells, figure_words(error, "+"), words])
    last = "probability of the true label" if s.labels else "error"
    head = ["row", "true", "predicted", last, "most unusual values"]
    caption = "The most confident mistakes" if s.labels else "The rows with the largest errors"
    return table(caption, head, rows, numbers=(0, 3) if s.labels else range(4), words=(4,))


def _described(s: ReportData, rows: Any) -> list[str]:
    """Rows by their most unusual values."""
    if s.sample.shape[1] > WIDE or getattr(s.inner, "_is_precomputed", False):
        return [""] * len(rows)
    if hasattr(s.X, "columns"):
        frames = measures.sample_rows(s.X), take(s.X, rows)
        others, chosen = map(row_text.rows_of_frame, frames)
    else:
        others = row_text.named_rows(s.model, s.sample)
        chosen = row_text.named_rows(s.model, s.input_of(take(s.X, rows)))
    out = []
    for row in chosen:
        order = row_text.unusual(row, others)
        out.append(", ".join(row_text.show(name, row[name]) for name in order[:3]))
    return out


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
    right = [
        f"{counts[j, j] / n:.1%}" if (n := counts[:, j].sum()) else "–" for j in range(len(labels))
    ]
    cells = "".join(f'<td class="n">{value}</td>' for value in right)
    body += f'<tr><th scope="row">precision</th>{cells}<td></td></tr>'
    caption = "Confusion: rows are true labels, columns are predicted ones"
    return scrolling(
        caption,
        f'<table class="confusion"><caption>{caption}</caption><thead><tr><th scope="col">true</th>'
        f'{head}<th scope="col" class="n">recall</th></tr></thead><tbody>{body}</tbody></table>',
    )
