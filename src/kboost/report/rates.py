"""Curves of a classifier: ROC, precision and recall, calibration, and a table of thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from kboost._typing import FloatArray
from kboost.plotting._axes import BLUE, GREY
from kboost.report.charts import chart
from kboost.report.page import figure, grid, paragraph, table
from kboost.report.report_data import ReportData

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
BINS = 10  # of a calibration curve, with equally many rows
DRAWN = 200  # points of a curve
FEWEST = 20  # rows for a calibration curve


def rates(s: ReportData) -> list[str]:
    """What applies: two classes have all of it, several classes a calibration curve."""
    both = np.isin(s.model.classes_, np.asarray(s.y)).all() and len(np.unique(s.y)) == 2
    two = len(s.labels) == 2 and bool(both)
    positive = np.asarray(s.y) == s.model.classes_[-1]
    charts, below = [], []
    if two and hasattr(s.model, "decision_function"):
        scores = s.answers.decision_function(s.X)
        charts += [_roc(s, positive, scores), _precision_recall(s, positive, scores)]
    if hasattr(s.model, "predict_proba") and len(s.y) >= FEWEST:
        chances = s.answers.predict_proba(s.X)
        if two:
            charts.append(_calibration(positive, chances[:, 1], f"is {s.labels[1]}"))
            below.append(_thresholds(s, positive, chances[:, 1]))
        else:
            right = s.model.classes_[chances.argmax(axis=1)] == np.asarray(s.y)
            charts.append(_calibration(right, chances.max(axis=1), "is as predicted"))
    return [grid(charts), *below]


def _roc(s: ReportData, positive: Any, scores: FloatArray) -> str:
    false, true, _ = metrics.roc_curve(positive, scores)
    area = metrics.roc_auc_score(positive, scores)
    words = f"The area under the ROC curve is {area:.3f}; 0.5 is chance, 1 is perfect."
    axes = ("false positive rate", "true positive rate (recall)")
    svg = _curve("roc", "ROC curve", words, false, true, axes, [[0, 1], [0, 1]])
    return figure(svg, f"ROC curve of {s.labels[1]}. {words}")


def _precision_recall(s: ReportData, positive: Any, scores: FloatArray) -> str:
    precision, recall, _ = metrics.precision_recall_curve(positive, scores)
    mean, share = metrics.average_precision_score(positive, scores), float(np.mean(positive))
    words = f"The average precision is {mean:.3f}; {share:.3f}, the share of the class, is chance."
    base = [[0, 1], [share, share]]
    axes = ("recall", "precision")
    svg = _curve("precision", "Precision and recall", words, recall, precision, axes, base)
    return figure(svg, f"Precision and recall of {s.labels[1]}. {words}")


def _curve(
    name: str, title: str, words: str, x: Any, y: Any, axes: tuple[str, str], base: Any
) -> str:
    shown = np.unique(np.linspace(0, len(x) - 1, min(DRAWN, len(x))).astype(np.intp))

    def draw(ax: Any) -> None:
        ax.plot(*base, color=GREY, lw=1, ls="--")
        ax.plot(x[shown], y[shown], color=BLUE, lw=2)
        ax.set(xlabel=axes[0], ylabel=axes[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))

    return chart(name, title, words, draw, size=(4.0, 3.2))


def calibration_curve(happened: Any, chance: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Mean probability and share of each bin, and the mean distance of the two over the rows."""
    order = np.argsort(chance, kind="stable")
    bins = np.array_split(order, min(BINS, max(1, len(order) // 5)))
    mean = np.array([chance[b].mean() for b in bins])
    share = np.array([np.mean(happened[b]) for b in bins])
    return mean, share, float(np.average(np.abs(mean - share), weights=[len(b) for b in bins]))


def _calibration(happened: Any, chance: FloatArray, what: str) -> str:
    mean, share, gap = calibration_curve(happened, chance)
    words = f"The share and the probability differ by {gap:.3f} on average; 0 is perfect."

    def draw(ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
        ax.plot(mean, share, "o-", color=BLUE, lw=1.5, ms=5)
        ax.set(xlabel="predicted probability", xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
        ax.set_ylabel("share of the rows", parse_math=False)

    svg = chart("calibration", "Calibration", words, draw, size=(4.0, 3.2))
    return figure(svg, f"Calibration: how often a row {what}, by its probability. {words}")


def _thresholds(s: ReportData, positive: Any, chance: FloatArray) -> str:
    rows = []
    for threshold in THRESHOLDS:
        flagged = chance >= threshold
        hits, n = int(np.sum(flagged & positive)), int(np.sum(flagged))
        precision = f"{hits / n:.1%}" if n else "–"
        false = int(np.sum(flagged & ~positive))
        right = np.mean(flagged == positive)
        recall = f"{hits / max(1, int(positive.sum())):.1%}"
        rows.append([f"{threshold:g}", f"{n:,}", precision, recall, f"{false:,}", f"{right:.1%}"])
    label = s.labels[1]
    head = ["threshold", "flagged", "precision", "recall", "false alarms", "accuracy"]
    caption = f"Rows are flagged as {label} from a probability on"
    note = "Choose the threshold by what a missed row and a false alarm cost."
    return table(caption, head, rows, numbers=range(6)) + paragraph(note, dim=True)
