"""Fit an estimator with its preparation to training rows, and score it on held-out rows."""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

import kboost
from kboost import settings
from kboost._typing import IntArray
from kboost.cli._data import Data
from kboost.cli._live import shown
from kboost.estimators._auto import AutoKernelBase
from kboost.estimators._kernel_boost import solver_settings
from kboost.plotting._fitted import last_step
from kboost.report.scores import Score, scores


@dataclass(frozen=True)
class FitResult:
    """A fitted model with its data, time and reason."""

    model: Any
    reason: str
    learn: Data
    test: Data | None
    seconds: float
    interrupted: bool

    @cached_property
    def scores(self) -> Sequence[Score]:
        """Scores on the held-out rows, computed when needed."""
        if self.test is None:
            return ()
        return scores(self.model, self.test.X, self.test.y, self.learn.y)

    @property
    def estimator(self) -> Any:
        return self.model[-1] if isinstance(self.model, Pipeline) else self.model


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
            known = [n for n in kboost.__all__ if hasattr(getattr(kboost, n), "fit")]
            raise ValueError(f"--estimator must be one of {', '.join(known)}; got {name!r}.")
        estimator, reason = cls(), "asked for."
        kind = "classifier" if data.task == "classification" else "regressor"
        if get_tags(estimator).estimator_type != kind:
            raise ValueError(f"--estimator must be a {kind} for a {data.task}; got {name!r}.")
    known = estimator.get_params(deep=False)
    wanted = {k: v for k, v in given.items() if v is not None and k in known}
    for text in params:
        key, equals, value = text.partition("=")
        if not equals or key not in known:
            raise ValueError(
                f"--set must be NAME=VALUE with a parameter of {type(estimator).__name__}; "
                f"got {text!r}."
            )
        wanted[key] = _literal(value)
    fraction = given.get("validation_fraction")
    solver = wanted.get("solver", known.get("solver"))
    if fraction is not None and _is_solver(solver):
        wanted["solver"] = replace(solver_settings(solver), early_stopping=fraction)
    elif fraction is not None and not known.keys() & {"solver", "early_stopping"}:
        raise ValueError(
            "--validation-fraction must belong to an estimator with early stopping; got "
            f"{type(estimator).__name__}."
        )
    return estimator.set_params(**wanted), reason


def split(data: Data, test_size: float, seed: int) -> tuple[Data, Data | None]:
    """Training rows and, unless `test_size` is 0, held-out rows."""
    if not 0 <= test_size < 1:
        raise ValueError(f"--test-size must be at least 0 and below 1; got {test_size:g}.")
    rows = np.arange(len(data.y))
    if test_size == 0:
        return data, None
    by: Any = None
    if data.task == "classification":
        counts = np.unique(data.y, return_counts=True)[1]
        enough = counts.min() >= 2 and test_size * len(rows) >= len(counts)
        by = data.y if enough else None
    parts: list[IntArray] = train_test_split(
        rows, test_size=test_size, random_state=seed, stratify=by
    )
    return data.part(np.sort(parts[0])), data.part(np.sort(parts[1]))


def preparation_for(data: Data, estimator: Any) -> Any:
    """The unfitted transformer before an estimator; None if it prepares tables, or needs none."""
    return None if isinstance(estimator, AutoKernelBase) else data.preparation()


def learn(data: Data, estimator: Any, reason: str, console: Any, **options: Any) -> FitResult:
    """Fit to the training rows; after Ctrl-C the model so far is returned."""
    train, held_out = split(data, options["test_size"], options["seed"])
    before = preparation_for(data, estimator)
    rows = train.X if before is None else before.fit_transform(train.X, train.y)
    start, interrupted = time.perf_counter(), False
    with shown(console, estimator, live=options.get("live", False)) as progress:
        try:
            estimator.fit(rows, train.y)
        except KeyboardInterrupt:
            if not hasattr(estimator, "n_columns_"):
                choosing = progress.last is None and getattr(estimator, "C", None) == "auto"
                when = "while C was being chosen (--set C=1 sets it)" if choosing else ""
                raise KeyboardInterrupt(
                    f"interrupted {when or 'before there was a model'}; nothing was saved."
                ) from None
            interrupted = True
    seconds = time.perf_counter() - start
    model = estimator if before is None else Pipeline([("prepare", before), ("model", estimator)])
    return FitResult(model, reason, train, held_out, seconds, interrupted)


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
