"""Sections with scores, certificate, code to load the model, and settings."""

from __future__ import annotations

import shlex
import sys

import numpy as np
import sklearn

import kboost
from kboost.report.page import (
    code,
    different,
    figure_words,
    gap_words,
    pairs,
    paragraph,
    section,
    size_words,
    table,
    tiles,
)
from kboost.report.report_data import CLASSES, ReportData, Section
from kboost.settings import Quantile
from kboost.tables.preparing import preparation_of


def summary(s: ReportData) -> Section:
    """What was predicted, and how well."""
    first = s.scores[0]
    trees = next((r for r in s.rivals if r.terms.endswith("trees")), None)
    facts = [(first.name, f"{first.value:.3f}", f"on {len(s.y):,} rows")]
    facts.append((_constant(s), f"{first.base:.3f}", "a baseline"))
    if trees is not None:
        facts.append((trees.name, f"{trees.scores[0].value:.3f}", trees.note or "default settings"))
    facts.append(("model", f"{s.inner.n_columns_:,} terms", _size(s)))
    names = ["score", "model", _constant(s)] + ([] if trees is None else [trees.name])
    rows = [
        [x.name, figure_words(x.value), "" if x.base is None else figure_words(x.base)]
        for x in s.scores
    ]
    others = {} if trees is None else {score.name: score.value for score in trees.scores}
    for row in rows:
        row.extend([figure_words(others[row[0]])] if row[0] in others else [])
    where = f"Scores on {len(s.y):,} rows" + (" the model was fitted to" if s.seen else "")
    early = [str(r) for r in s.estimator._reasons() if r.rule in s.estimator._limits]
    warnings = [f"The fit ended early: {words}" for words in different(early)]
    if s.seen:
        warnings.append("These are training rows, so the scores are optimistic.")
    return section(
        "summary",
        "What was predicted, and how well",
        paragraph(_predicted(s)),
        tiles(facts),
        *map(paragraph, warnings),
        table(where, names, rows, numbers=range(1, 4)),
    )


def _predicted(s: ReportData) -> str:
    """The target and the model in words."""
    y = np.asarray(s.y)
    if s.labels:
        few = ", ".join(s.labels[:CLASSES]) + (", ..." if len(s.labels) > CLASSES else "")
        target = f"{s.target}: one of {len(s.labels)} labels ({few})"
    else:
        low, high = map(figure_words, np.quantile(y.astype(np.float64), (0.05, 0.95)))
        target = f"{s.target}: a number, mostly between {low} and {high}"
    training = "" if s.X_learn is None else f" fitted to {s.X_learn.shape[0]:,} rows"
    name = type(s.estimator).__name__
    words = f"Predicted is {target}, from {s.X.shape[1]:,} columns. "
    words += f"The model is {'an' if name[0] in 'AEIOU' else 'a'} {name}{training}."
    return f"{words} {s.reason[:1].upper()}{s.reason[1:]}".rstrip()


def _size(s: ReportData) -> str:
    if s.file is not None and s.file.is_file():
        return f"{size_words(s.file.stat().st_size)}, {s.file.name}"
    used = sum(n > 0 for n in s.inner.columns_per_kernel_.values())
    return f"from {used} of {len(s.inner.kernels_)} kernels"


def certificate(s: ReportData) -> Section:
    """The certified gap, and why the fit stopped."""
    inner = s.inner
    if hasattr(s.estimator, "leaderboard_"):
        proof = "No gap is certified: the model was chosen by its error on rows left out."
    elif not hasattr(inner, "objective_"):
        proof = "No gap is certified: this method does not minimise an objective."
    elif s.gap is None:
        proof = "No gap is certified: this method does not price all terms of its library."
    elif hasattr(inner, "kernel_weights_"):
        proof = (
            f"The objective is proven to be within {gap_words(s.gap)} (relative) of the optimum "
            "over all weights of the kernels."
        )
    else:
        proof = (
            f"The objective is proven to be within {gap_words(s.gap)} (relative) of the optimum "
            "over all terms of the library: no model of these terms has an objective that is "
            "lower by more than that."
        )
    reasons = getattr(s.estimator, "stop_reason_", [])
    reasons = [str(r) for r in (reasons if isinstance(reasons, list) else [reasons])]
    rows = []
    if hasattr(inner, "objective_"):
        objective = np.atleast_1d(np.asarray(inner.objective_, dtype=np.float64))
        rows.append(("objective", ", ".join(f"{v:.6g}" for v in objective[:CLASSES])))
    if hasattr(inner, "C_"):
        rows.append(
            ("C", f"{inner.C_:.4g}" + (" (chosen on held-out rows)" if inner.C == "auto" else ""))
        )
    if isinstance(quantile := getattr(inner, "epsilon", None), Quantile):
        rows.append(("quantile", f"{quantile.quantile:.4g}"))
    elif hasattr(inner, "epsilon_"):
        rows.append(("half-width of the tube", f"{inner.epsilon_:.4g}"))
    if hasattr(inner, "ridge_"):
        rows.append(("ridge", f"{inner.ridge_:.4g}"))
    steps = "rounds" if hasattr(inner, "estimator_weights_") else "steps"
    if hasattr(inner, "n_iter_"):
        rows.append((steps, f"{inner.n_iter_:,}"))
    if s.seconds is not None:
        rows.append(("seconds to fit", f"{s.seconds:.1f}"))
    rows += [("stopped", reason) for reason in different(reasons)]
    return section("certificate", "Certificate", paragraph(proof), pairs(rows))


def use(s: ReportData) -> Section:
    """How to load and predict."""
    name = s.file.name if s.file is not None else "model.kboost"
    table_ = hasattr(preparation_of(s.model), "feature_names_in_")
    na = "" if s.na is None else f", na={list(s.na)!r}"
    lines = ["import kboost", "", f"model = kboost.load_model({name!r})"]
    if table_:
        lines += [
            "from kboost.tables import read_table, rows_for",
            f'X = rows_for(model, read_table("new.csv"{na}).frame)  # columns in any order',
        ]
    lines.append("model.predict(X)")
    if hasattr(s.model, "predict_proba"):
        lines.append("model.predict_proba(X)")
    return section(
        "use",
        "Load and predict",
        code(f"kboost predict {shlex.quote(name)} new.csv --output predictions.csv"),
        code("\n".join(lines)),
        paragraph(
            "The file contains arrays and JSON; loading it does not execute code.",
            dim=True,
        ),
    )


def made(s: ReportData) -> Section:
    """Estimator, pipeline, unused columns and versions."""
    rows = [("estimator", " ".join(repr(s.estimator).split()))]
    if hasattr(s.model, "steps"):
        rows += [(f"step {n}", " ".join(repr(step).split())) for n, step in s.model.steps[:-1]]
    rows += [(f"column left out: {name}", why) for name, why in s.left_out]
    if s.X_learn is not None:
        rows.append(("training rows", f"{s.X_learn.shape[0]:,}"))
    versions = (
        f"kboost {kboost.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}"
    )
    rows.append(("versions", f"{versions}, Python {sys.version.split()[0]}"))
    return section("made", "How it was made", pairs(rows))


def _constant(s: ReportData) -> str:
    return "always the most frequent label" if s.labels else "always the mean"
