"""The arguments and options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataFile = Annotated[
    Path,
    typer.Argument(
        help="Rows: a CSV, Parquet, svmlight or npz file (by its suffix).", show_default=False
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
    ),
]
Task = Annotated[
    str | None,
    typer.Option(metavar="TASK", help="classification or regression; by default inferred."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column to leave out; may be repeated."),
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
        metavar="SECONDS", help="Time limit of the fit; by default that of the estimator."
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
