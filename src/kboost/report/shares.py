"""Importances and shares of the columns of the user's table, also in pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.report.table_rows import names_of
from kboost.tables.preparing import preparation_of


def importances_by_column(s: Any) -> FloatArray:
    """`feature_importances_` of the model, added up over what each column became.

    The first columns come first where a pipeline makes unknown features.
    """
    shares: FloatArray = s.estimator.feature_importances_
    owner = _columns_of_features(s, len(shares))
    if owner is None:
        return -np.arange(s.X.shape[1], dtype=np.float64)
    return np.asarray(np.bincount(owner, shares, s.X.shape[1]), dtype=np.float64)


def shares_by_column(s: Any, X: Any) -> tuple[Any, FloatArray, list[str]]:
    """`explain(by="feature")` at rows of the table, its shares per column, and their names.

    The shares are (n, n_columns, n_outputs); of the features of the last step, where a pipeline
    makes unknown features.
    """
    explanation = s.estimator.explain(_input(s.model, X), by="feature")
    n, d = len(explanation.values), len(explanation.features)
    shares = explanation.by_feature.reshape(n, d, -1)
    owner = _columns_of_features(s, d)
    if owner is None:
        return explanation, shares, list(explanation.features)
    out = np.zeros((n, s.X.shape[1], shares.shape[2]))
    for feature, column in enumerate(owner):
        out[:, column] += shares[:, feature]
    return explanation, out, names_of(s)


def _input(model: Any, X: Any) -> Any:
    """The rows as the last step of a pipeline reads them."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X


def _columns_of_features(s: Any, n_features: int) -> list[int] | None:
    """The column of the table that each feature of the last step belongs to."""
    prepare = preparation_of(s.model)
    if prepare is None:
        return list(range(n_features)) if n_features == s.X.shape[1] else None
    index = {name: j for j, name in enumerate(names_of(s))} if hasattr(s.X, "columns") else {}
    columns = [index.get(str(c.name), number) for number, c in enumerate(prepare.columns_)]
    if hasattr(s.estimator, "preparation_"):  # its features are the columns
        return columns
    owner = [0] * n_features
    for column, made in zip(columns, prepare.columns_, strict=True):
        owner[made.output] = [column] * (made.output.stop - made.output.start)
    return owner
