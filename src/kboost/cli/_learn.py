"""Fit an estimator with its preparation: to training rows for the scores, then to all rows.

Scores are those of models on rows they were not fitted to; the model that is saved is fitted to all
rows. A time limit is that of all fits together. Ctrl-C keeps the best so far: the columns found in
the first fit, or the last complete model. A fit to all rows that the time cuts short, with fewer
terms than the model that was scored, is not taken.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

import kboost
from kboost import settings
from kboost.cli._data import Data
from kboost.cli._holdout import Holdout
from kboost.cli._live import shown
from kboost.cli._names import meant
from kboost.core.stopping import OUT_OF_TIME
from kboost.data.sizes import search_seconds
from kboost.estimators._auto import AutoKernelBase
from kboost.estimators._kernel_boost import solver_settings
from kboost.plotting._fitted import last_step
from kboost.report.scores import Score, scores

_DEFAULT_TIME = re.compile(r", by default for at most [\d,.]+ seconds?")


@dataclass(frozen=True)
class Scored:
    """A model with the rows it was fitted to, and its scores on others."""

    model: Any
    learn: Data
    test: Data
    scores: Sequence[Score]


@dataclass(frozen=True)
class FitResult:
    """The model to save with its rows, and the models that were scored."""

    model: Any
    data: Data  # its rows
    reason: str
    scored: Sequence[Scored]
    holdout: Holdout
    seconds: float
    interrupted: bool

    @property
    def scores(self) -> list[Score]:
        """The mean of each score over the models that were scored."""
        return [
            replace(
                same[0], value=_mean([s.value for s in same]), base=_mean([s.base for s in same])
            )
            for same in self._by_name()
        ]

    @property
    def spreads(self) -> list[float | None]:
        """The standard deviations of the scores over several models."""
        return [
            float(np.std([s.value for s in same], ddof=1)) if len(same) > 1 else None
            for same in self._by_name()
        ]

    def _by_name(self) -> list[list[Score]]:
        names = [score.name for score in self.scored[0].scores] if self.scored else []
        return [[s for each in self.scored for s in each.scores if s.name == n] for n in names]

    @property
    def n_test(self) -> int:
        """Rows that were held out, in all."""
        return sum(len(each.test.y) for each in self.scored)

    @property
    def where(self) -> str:
        """The rows that the scores are of, in words."""
        return self.holdout.words(self.data, self.n_test) if self.scored else ""

    @property
    def all_rows(self) -> bool:
        """Whether the model is fitted to the rows that were held out, too."""
        return bool(self.scored) and len(self.data.y) > len(self.scored[0].learn.y)

    @property
    def out_of_time(self) -> bool:
        """Whether there was no time for a fit to all rows, and the model is the one scored."""
        held_out = self.scored and self.holdout.test is None
        return bool(held_out and not self.all_rows and not self.interrupted)

    @property
    def estimator(self) -> Any:
        """The estimator of the model, without its preparation."""
        return _estimator_of(self.model)


def _estimator_of(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _cut_short(final: Any, before: Any) -> bool:
    """Whether the time ended a fit to all rows with fewer terms than the one before has."""
    reasons = getattr(final, "stop_reason_", [])
    reasons = reasons if isinstance(reasons, list) else [reasons]
    late = any(reason.rule == OUT_OF_TIME.rule for reason in reasons)
    return bool(late and final.n_columns_ < before.n_columns_)


def _mean(values: Sequence[float | None]) -> Any:
    return None if None in values else float(np.mean(np.array(values, dtype=np.float64)))


def estimator_for(
    data: Data, name: str | None, params: Sequence[str], **given: Any
) -> tuple[Any, str]:
    """The named or suggested estimator with the given parameters, and the reason for it."""
    if name is None:
        suggestion = kboost.suggest(data.X, data.y, task=data.task)
        estimator, reason = last_step(suggestion.estimator), suggestion.reason
    else:
        cls: Any = getattr(kboost, name, None)
        if name not in kboost.__all__ or not hasattr(cls, "fit"):
            names = [n for n in kboost.__all__ if hasattr(getattr(kboost, n), "fit")]
            raise ValueError(
                f"--estimator must be one of {', '.join(names)}; got {name!r}{meant(name, names)}."
            )
        estimator, reason = cls(), "chosen with --estimator."
        kind = "classifier" if data.task == "classification" else "regressor"
        if get_tags(estimator).estimator_type != kind:
            raise ValueError(f"--estimator must be a {kind} for a {data.task}; got {name!r}.")
    if given.get("max_seconds") is not None:
        reason = _DEFAULT_TIME.sub("", reason)
    parameters = estimator.get_params(deep=False)
    chosen = {k: v for k, v in given.items() if v is not None and k in parameters}
    for text in params:
        key, equals, value = text.partition("=")
        if not equals or key not in parameters:
            raise ValueError(
                f"--set must be NAME=VALUE with a parameter of {type(estimator).__name__}; "
                f"got {text!r}{meant(key, parameters)}."
            )
        chosen[key] = _literal(value)
    fraction = given.get("validation_fraction")
    solver = chosen.get("solver", parameters.get("solver"))
    if fraction is not None and _is_solver(solver):
        chosen["solver"] = replace(solver_settings(solver), early_stopping=fraction)
    elif fraction is not None and not parameters.keys() & {"solver", "early_stopping"}:
        raise ValueError(
            "--validation-fraction must belong to an estimator with early stopping; got "
            f"{type(estimator).__name__}."
        )
    return estimator.set_params(**chosen), reason


def with_budget(estimator: Any, n_rows: int, params: Sequence[str]) -> Any:
    """The estimator with a time limit, unless it has one or `--set` removes it."""
    asked = any(text.startswith("max_seconds=") for text in params)
    if not asked and estimator.get_params(deep=False).get("max_seconds", 0) is None:
        estimator.set_params(max_seconds=search_seconds(n_rows))
    return estimator


def preparation_for(data: Data, estimator: Any) -> Any:
    """The unfitted transformer before an estimator; None if it prepares tables, or needs none."""
    return None if isinstance(estimator, AutoKernelBase) else data.preparation()


def learn(
    data: Data, estimator: Any, reason: str, console: Any, *, holdout: Holdout, live: bool = False
) -> FitResult:
    """Fit the models to score, and the one to save; after Ctrl-C the best so far is returned."""
    parts = holdout.parts(data)
    whole = parts[0][0] is data
    run = _Run(data, estimator, console, live, len(parts) + (not whole))
    for train, test in parts:
        run.fit(train)
        if test is not None:
            run.score(train, test)
        if run.interrupted:
            break
    if not whole and not run.interrupted:
        run.fit(data, final=True)
    seconds = time.perf_counter() - run.started
    return FitResult(run.kept, run.rows, reason, run.scored, holdout, seconds, run.interrupted)


@dataclass
class _Run:
    """The fits of a command, one after the other."""

    data: Data
    estimator: Any
    console: Any
    live: bool
    n_fits: int
    n_done: int = 0
    started: float = field(default_factory=time.perf_counter)
    kept: Any = None  # the model to save, and its rows
    rows: Any = None
    last: Any = None  # the model of the last fit, to be scored
    scored: list[Scored] = field(default_factory=list)
    interrupted: bool = False

    def fit(self, rows: Data, *, final: bool = False) -> None:
        """Fit the rows in the time that is left for them; the first and the final model is kept."""
        before, estimator = preparation_for(rows, self.estimator), clone(self.estimator)
        limit = estimator.get_params(deep=False).get("max_seconds")
        if isinstance(limit, int | float) and limit > 0:
            seconds_left = limit - (time.perf_counter() - self.started)
            share = max(seconds_left / (self.n_fits - self.n_done), limit / self.n_fits)
            estimator.set_params(max_seconds=share)  # a long fit leaves time for the others
        words = f"fit {self.n_done + 1} of {self.n_fits}, to {len(rows.y):,} rows"
        self.last = None
        with shown(self.console, estimator, live=self.live, words=words) as progress:
            try:
                X = rows.X if before is None else before.fit_transform(rows.X, rows.y)
                estimator.fit(X, rows.y)
            except KeyboardInterrupt:
                self.interrupted = True
                if self.kept is not None:
                    return
                if not hasattr(estimator, "n_columns_"):
                    choosing = progress.last is None and getattr(estimator, "C", None) == "auto"
                    when = "while C was being chosen (--set C=1 sets it)" if choosing else ""
                    raise KeyboardInterrupt(
                        f"interrupted {when or 'before there was a model'}; nothing was saved."
                    ) from None
        if isinstance(limit, int | float):
            estimator.set_params(max_seconds=limit)
        self.n_done += 1
        steps = [("prepare", before), ("model", estimator)]
        self.last = estimator if before is None else Pipeline(steps)
        if self.kept is None or (final and not _cut_short(estimator, _estimator_of(self.kept))):
            self.kept, self.rows = self.last, rows

    def score(self, learn: Data, test: Data) -> None:
        """Score the model of the last fit, unless it was interrupted before there was one."""
        if self.last is None:
            return
        try:
            results = scores(self.last, test.X, test.y, learn.y)
        except KeyboardInterrupt:
            self.interrupted = True
            return
        self.scored.append(Scored(self.last, learn, test, results))


def _is_solver(value: Any) -> bool:
    return isinstance(value, settings.ColumnGeneration | settings.Barrier) or (
        isinstance(value, str) and value in ("cg", "barrier")
    )


def _literal(text: str) -> Any:
    """A Python literal, settings such as Barrier(columns_per_step=1), or the text itself."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") in settings.__all__:
        return _settings(tree)
    try:
        return ast.literal_eval(tree)
    except ValueError:
        return text


def _settings(node: ast.AST) -> Any:
    """The settings that a call stands for, whose arguments are literals or settings."""
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    args = [_settings(value) for value in node.args]
    options = {str(k.arg): _settings(k.value) for k in node.keywords}
    try:
        cls = getattr(settings, getattr(node.func, "id", ""))
        return cls(*args, **options)
    except (AttributeError, TypeError) as error:
        text = ast.unparse(node)
        raise ValueError(f"--set must name settings and their fields; got {text}.") from error
