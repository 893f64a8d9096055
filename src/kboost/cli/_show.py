"""Results as text on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from kboost.auto.score_words import as_measured, score_words
from kboost.cli._console import say, styled
from kboost.cli._data import Data
from kboost.cli._learn import FitResult
from kboost.plotting._fitted import kernel_names
from kboost.report.page import different, figure_words, gap_words, in_terms, size_words
from kboost.report.scores import Score
from kboost.tables.columns import MAX_LEVELS, Column

__all__ = [
    "counted",
    "figure_words",
    "heading",
    "model_words",
    "pipeline_words",
    "show_data",
    "show_model",
    "show_plan",
    "show_preparation",
    "show_result",
    "show_warnings",
    "size_words",
    "warnings_of",
]

MAX_COLUMNS = 25  # of a table that are listed
CANDIDATES = 8  # of a search that are listed
MOST_WITHOUT_TARGET = 0.01  # share of the rows that are left out without a warning
IMPORTANT, SMALLEST = 5, 0.005  # columns that are named, and their shares
_STEPS = {
    "number": "numbers: the median in place of a missing value, and a 0/1 number that marks it",
    "date": "dates: as the numbers days since 1970, month, weekday, hour, where they vary",
    "category": f"categories: a 0/1 number per value; with more than {MAX_LEVELS} values the mean "
    "target and the frequency of each, or what does better on rows left out",
    "text": "text: the leading directions of its letter sequences, and its length",
}


def heading(console: Console, title: str, rest: str = "") -> None:
    """Print a heading."""
    words = styled("\n", (title, "bold"), ": " if rest else "", rest)
    console.print(words, soft_wrap=True)


def show_data(console: Console, data: Data, path: Any, remarks: Sequence[str] = ()) -> None:
    """Print the size of the data, the type of each column, and what may be wrong."""
    rows, without = counted(len(data.y), "row"), data.n_without_target
    if without:
        verb = "has" if without == 1 else "have"
        rows += f" ({without:,} more {verb} no {data.target} and {_be(without)} left out)"
    heading(console, str(path), rows)
    if not data.is_table:
        console.print(f"  a matrix of {counted(data.X.shape[1], 'feature')}")
    else:
        table = _table("column", "taken for", "missing", "")
        listed = _listed(data.columns)
        for column in listed:
            missing = f"{column.n_missing:,}" if column.n_missing else ""
            style = "dim" if column.kind == "left out" else ""
            table.add_row(column.name, column.kind, missing, column.note, style=style)
        console.print(table)
        if len(data.columns) > len(listed):
            console.print(f"  … and {len(data.columns) - len(listed)} more")
    say(console, styled("target ", (data.target, "bold"), f": {words_of(data)}"))
    for words in remarks:
        say(console, styled((f"note: {words}", "yellow")))
    show_warnings(console, data)


def _listed(columns: Sequence[Column]) -> list[Column]:
    """As many columns as are shown: those left out, and the first of the others."""
    unused = sum(column.kind == "left out" for column in columns)
    room, out = max(0, MAX_COLUMNS - unused), []
    for column in columns:
        if column.kind == "left out" or room > 0:
            room -= column.kind != "left out"
            out.append(column)
    return out[:MAX_COLUMNS]


def show_warnings(console: Console, data: Data) -> None:
    """Print what may be wrong with the data, one line each."""
    for words in warnings_of(data):
        say(console, styled((f"warning: {words}", "bold yellow")))


def warnings_of(data: Data) -> list[str]:
    """More than a few rows without a target."""
    without, total = data.n_without_target, data.n_read
    if without <= MOST_WITHOUT_TARGET * total:
        return []
    return [
        f"{without:,} of {counted(total, 'row')} ({without / total:.0%}) have no value of "
        f"{data.target} and are left out; --na WORD sets the words for missing values "
        "(--na '' for none)"
    ]


def words_of(data: Data) -> str:
    """The task and its target, in words."""
    if data.task == "regression":
        y = np.asarray(data.y, dtype=np.float64)
        low, middle, high = map(figure_words, (y.min(), float(np.median(y)), y.max()))
        return f"regression, from {low} to {high}, median {middle}"
    labels, counts = np.unique(data.y, return_counts=True)
    order = np.argsort(-counts)
    shown = ", ".join(f"{labels[k]} ({counts[k]:,})" for k in order[:5])
    return f"classification, {counted(len(labels), 'class')}: {shown}{', …' * (len(labels) > 5)}"


def pipeline_words(data: Data) -> list[str]:
    """Describe the preparation, one line per kind of columns."""
    if data.has_missing:
        return ["TablePreparation", _STEPS["number"]]
    if not data.is_table:
        return ["none: the features are numbers already"]
    kinds = {column.kind for column in data.columns}
    return ["TablePreparation", *(words for kind, words in _STEPS.items() if kind in kinds)]


def show_plan(console: Console, data: Data, estimator: Any, reason: str, fits: str = "") -> None:
    """The pipeline and the estimator."""
    heading(console, "Pipeline")
    for line in pipeline_words(data):
        say(console, line)
    heading(console, "Model", str(estimator).replace("\n", " "))
    for line in filter(None, (reason, fits)):
        say(console, line)


def show_preparation(console: Console, columns: Sequence[dict[str, Any]]) -> None:
    """Print what becomes of each column of a table."""
    heading(console, "Preparation")
    table = _table("column", "taken for", "missing", "numbers")
    for column in columns[:MAX_COLUMNS]:
        name, numbers = column["name"], column["numbers"]
        parts = [number.removeprefix(name).lstrip("=:") or "itself" for number in numbers]
        shown = ", ".join(parts[:3]) + f", … ({len(parts)})" * (len(parts) > 3)
        missing = f"{column['missing']:,}" if column["missing"] else ""
        table.add_row(name, column["kind"], missing, shown)
    console.print(table)
    if len(columns) > MAX_COLUMNS:
        console.print(f"  … and {len(columns) - MAX_COLUMNS} more")


def show_result(console: Console, result: FitResult) -> None:
    """Print scores and model."""
    model = result.estimator
    heading(console, "Result", f"after {result.seconds:.1f} s")
    if result.scored:
        say(console, f"scores {result.where}")
        console.print(score_table(result.scores, result.data.task, result.spreads))
    if result.all_rows:
        n, n_all = len(result.scored[0].learn.y), len(result.data.y)
        several = len(result.scored) > 1
        words = "the models of the folds" if several else f"a model of {counted(n, 'row')}"
        say(console, f"they are those of {words}; the saved model is of all {n_all:,} rows")
    if result.out_of_time:
        words = "there was no time to fit all rows: the saved model is the one that was scored"
        say(console, f"{words}; raise --max-seconds")
    show_model(console, model)


def show_model(console: Console, model: Any) -> None:
    """Print the candidates of a search, if there was one, and the model."""
    if hasattr(model, "leaderboard_"):
        console.print(leaderboard(model))
    for line in model_words(model):
        say(console, line)


def leaderboard(model: Any) -> Table:
    """The best candidates of a search."""
    table = _table("what competed", score_words(model.scoring_), "", "terms", "µs/row")
    table.columns[1].justify = "right"
    for line in model.leaderboard_[:CANDIDATES]:
        table.add_row(
            line["candidate"],
            figure_words(as_measured(model.scoring_, line["score"])),
            f"± {line['spread']:.2g}" if line["spread"] else "",
            f"{line['columns']:,}",
            f"{line['predict_us_per_row']:.1f}",
        )
    return table


def score_table(values: Sequence[Score], task: str, spreads: Sequence[float | None] = ()) -> Table:
    """Scores of the model and of a constant prediction."""
    constant = "always the mean" if task == "regression" else "always the majority"
    table = _table("", "model", constant)
    table.columns[0].no_wrap = table.columns[2].no_wrap = False  # a narrow screen breaks these
    for score, spread in zip(values, spreads or [None] * len(values), strict=True):
        base = "" if score.base is None else figure_words(score.base)
        words = figure_words(score.value) + ("" if spread is None else f" ± {spread:.2g}")
        table.add_row(score.name, styled((words, "bold")), base)
    return table


def model_words(model: Any) -> list[str]:
    """Terms, certificate and reason of a fitted estimator."""
    out = [f"{counted(model.n_columns_, 'term')}{_by_kernel(model)}"]
    if hasattr(model, "leaderboard_"):
        out += [in_terms(model.reason_), importance_words(model)]
    elif not hasattr(model, "objective_"):
        out.append("no objective, so nothing is proved")
    elif getattr(model, "dual_gap_", None) is None:
        out.append(f"objective {_range(model.objective_)}; no gap is certified")
    else:
        gap = gap_words(float(np.max(model.dual_gap_)))
        out.append(
            f"objective {_range(model.objective_)}, proven within {gap} (relative) of the optimum "
            "over the whole library"
        )
    reasons = getattr(model, "stop_reason_", [])
    for reason in different(reasons if isinstance(reasons, list) else [reasons]):
        words = in_terms(str(reason)).replace("raise max_seconds", "raise --max-seconds")
        out.append(f"stopped: {words}")
    return out


def importance_words(model: Any) -> str:
    """The columns of a table with the largest shares of the variation."""
    names = [column.name for column in model.preparation_.columns_]
    order = np.argsort(-model.feature_importances_, kind="stable")[:IMPORTANT]
    shares = [
        f"{names[j]} {model.feature_importances_[j]:.0%}"
        for j in order
        if model.feature_importances_[j] >= SMALLEST
    ]
    return f"most important: {', '.join(shares) or 'none'}"


def _by_kernel(model: Any) -> str:
    if not hasattr(model, "columns_per_kernel_"):
        return ""
    counts = dict(zip(kernel_names(model), model.columns_per_kernel_.values(), strict=True))
    used = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n)
    return f": {used}" if used else ""


def counted(n: int, what: str) -> str:
    """A number with singular or plural, as in 1 row, 2 rows."""
    more = "es" if what.endswith("s") else "s"
    return f"{n:,} {what}{'' if n == 1 else more}"


def _be(n: int) -> str:
    return "is" if n == 1 else "are"


def _range(values: Any) -> str:
    values = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return f"{values[0]:.6g}" if len(values) == 1 else f"{values.min():.4g} to {values.max():.4g}"


def _table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 2), header_style="dim")
    for position, name in enumerate(names):
        right = ("missing", "model", "terms", "µs/row")
        numbers = name in right or name.startswith("always")
        table.add_column(
            name, justify="right" if numbers else "left", no_wrap=position < 3 or numbers
        )
    return table
