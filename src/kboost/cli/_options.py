"""The arguments and options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataFile = Annotated[
    Path,
    typer.Argument(
        help="Rows: CSV, Parquet, svmlight or npz, told by the ending.", show_default=False
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(help="A model file that kboost fit wrote.", show_default=False)
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to predict; svmlight and npz files hold their own.",
    ),
]
Task = Annotated[
    str | None,
    typer.Option(metavar="TASK", help="classification or regression; else the target says."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column to leave out; may be repeated."),
]
Estimator = Annotated[
    str | None, typer.Option(metavar="CLASS", help="An estimator of kboost; else one is suggested.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the estimator; may be repeated."
    ),
]
MaxSeconds = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Time limit of the fit; else none.")
]
Validation = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Rows to learn from that are held out, to stop by their error."
    ),
]
TestSize = Annotated[
    float, typer.Option(metavar="SHARE", help="Rows to judge the model by; 0 for none.")
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Draws the rows to judge by.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a report too, one HTML file.")
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="A CSV or Parquet file; else they are printed."
    ),
]
