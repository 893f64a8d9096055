"""The arguments and options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kboost.cli._complete import column_names

DataFile = Annotated[
    Path,
    typer.Argument(
        help="Rows: a CSV, Parquet, Arrow, JSON, svmlight or npz file (by its suffix).",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(help="A model file written by kboost fit.", show_default=False)
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to predict; svmlight and npz files contain their target.",
        autocompletion=column_names,
    ),
]
Task = Annotated[
    str | None,
    typer.Option(metavar="TASK", help="classification or regression; by default inferred."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns to leave out, separated by commas; may be repeated.",
        autocompletion=column_names,
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns of numbers to use although they look like ids; may be repeated.",
        autocompletion=column_names,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value are held out together; the column is not used.",
        autocompletion=column_names,
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Hold out the last rows in the order of this column, a date or a number.",
        autocompletion=column_names,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option("--cv", metavar="FOLDS", help="Score by cross-validation with so many folds."),
]
TestFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Score on the rows of this file; hold out none of DATA."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns of DATA to write before the predictions, separated by commas.",
        autocompletion=column_names,
    ),
]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet",
        help="Write an apostrophe before text that begins with =, +, - or @, which spreadsheets "
        "take for a formula.",
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        help="A word for missing values, in all columns; may be repeated. By default NA, none, ? "
        "and similar words, in columns of numbers and dates; --na '' for none.",
    ),
]
Estimator = Annotated[
    str | None, typer.Option(metavar="CLASS", help="A kboost estimator; by default suggested.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the estimator; may be repeated."
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time limit of all fits together; by default a minute or more for each, depending on "
        "the rows.",
    ),
]
Validation = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Share of the training rows held out for early stopping."),
]
TestSize = Annotated[
    float, typer.Option(metavar="SHARE", help="Share of the rows held out for scores; 0 for none.")
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the split of the rows.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write a report, one HTML file.")
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="A CSV or Parquet file; by default standard output."
    ),
]
