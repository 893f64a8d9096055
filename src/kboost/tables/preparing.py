"""Prepare a table for an estimator with scikit-learn transformers.

    numbers     SimpleImputer(strategy="median", add_indicator=True)
    categories  SimpleImputer(strategy="constant", fill_value="(missing)"), then
                OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=30)
    dates       before the pipeline, numbers: days since 1970, month, weekday and hour, as columns
                `name:days` and so on, `name (d/m):days` where the day comes before the month

Numbers are not scaled: the kernels of the default library do that, and so the centres of a model
stay in the user's units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kboost._optional import require
from kboost.tables.columns import (
    DATE_PARTS,
    DAY_FIRST,
    Column,
    as_dates,
    as_numbers,
    as_text,
    date_parts,
    has_day_first,
)

GAP = "(missing)"
MAX_CATEGORIES = 30


def tidy(frame: Any, columns: Sequence[Column]) -> Any:
    """The columns used for training, converted to their types; dates as numbers.

    Parameters
    ----------
    frame : pandas.DataFrame
        As read.
    columns : sequence of Column
        Their types; see :func:`describe`.

    Returns
    -------
    pandas.DataFrame
        Numbers as float64, categories as objects. Constant parts of dates are left out.
    """
    pd = require("pandas", extra="cli", what="kboost.tables")
    out: dict[str, Any] = {}
    for column in columns:
        values = frame[column.name] if column.kind != "left out" else None
        if column.kind == "number":
            out[column.name] = as_numbers(values)
        elif column.kind == "category":
            out[column.name] = as_text(values)
        elif column.kind == "date":
            first = has_day_first(values)
            name = f"{column.name}{DAY_FIRST}" if first else column.name
            parts = date_parts(name, as_dates(values, day_first=first))
            out.update({name: part for name, part in parts.items() if part.nunique() > 1})
    return pd.DataFrame(out, index=frame.index)


def preparation(table: Any) -> Any:
    """The unfitted transformer of a tidy table.

    Parameters
    ----------
    table : pandas.DataFrame
        See :func:`tidy`.

    Returns
    -------
    ColumnTransformer
        With transformers for "numbers" and "categories", if there are such columns.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    pd = require("pandas", extra="cli", what="kboost.tables")
    numbers = [n for n in table.columns if pd.api.types.is_numeric_dtype(table[n])]
    categories = [n for n in table.columns if n not in set(numbers)]
    encode = Pipeline(
        [
            ("fill", SimpleImputer(strategy="constant", fill_value=GAP, missing_values=None)),
            (
                "encode",
                OneHotEncoder(
                    handle_unknown="infrequent_if_exist",
                    max_categories=MAX_CATEGORIES,
                    sparse_output=False,
                ),
            ),
        ]
    )
    steps: list[tuple[str, Any, list[str]]] = []
    if numbers:
        steps.append(("numbers", SimpleImputer(strategy="median", add_indicator=True), numbers))
    if categories:
        steps.append(("categories", encode, categories))
    if not steps:
        raise ValueError("the table must have a usable column; all columns were left out.")
    return ColumnTransformer(steps, verbose_feature_names_out=False)


def rows_for(model: Any, frame: Any) -> Any:
    """Convert a table to the input of a model that was fitted to a table with the same columns.

    Parameters
    ----------
    model : Pipeline
        A fitted pipeline with a :func:`preparation` as its first step.
    frame : pandas.DataFrame
        The table as read; columns may be in any order, and there may be others.

    Returns
    -------
    pandas.DataFrame
        For ``model.predict``.
    """
    pd = require("pandas", extra="cli", what="kboost.tables")
    out: dict[str, Any] = {}
    dates: dict[str, dict[str, Any]] = {}
    for group, _, names in model[0].transformers_:
        for name in names if group in ("numbers", "categories") else []:
            base, _, part = name.rpartition(":")
            column = base.removesuffix(DAY_FIRST)
            if name in frame.columns:
                out[name] = (as_numbers if group == "numbers" else as_text)(frame[name])
            elif part in DATE_PARTS and column in frame.columns:
                if base not in dates:  # with day and month in the order of the training rows
                    timestamps = as_dates(frame[column], day_first=base != column)
                    dates[base] = date_parts(base, timestamps)
                out[name] = dates[base][name]
            else:
                given = ", ".join(map(str, frame.columns[:8])) + (", …" * (len(frame.columns) > 8))
                raise ValueError(
                    f"the table must have the columns of the model; {column or name!r} is missing; "
                    f"got {given}."
                )
    return pd.DataFrame(out, index=frame.index)[list(model[0].feature_names_in_)]
