"""The commands of `kboost`; what they need is imported when they run, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kboost.cli._guard import handle_errors
from kboost.cli._options import (
    AsJson,
    DataFile,
    Drop,
    Estimator,
    Folds,
    Groups,
    Keep,
    MaxSeconds,
    ModelFile,
    Na,
    Predictions,
    ReportFile,
    Seed,
    Set,
    SplitBy,
    Spreadsheet,
    Target,
    Task,
    TestFile,
    TestSize,
    Use,
    Validation,
)

app = typer.Typer(
    name="kboost",
    help="Sparse, boosted mixtures of kernels: from a table to a small model with a certificate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich and its Markdown would take half a second to load
)


def _version(wanted: bool) -> None:
    if wanted:
        from kboost import __version__

        print(f"kboost {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Sparse, boosted mixtures of kernels: from a table to a small model with a certificate."""


@app.command(epilog="For example: kboost fit data.csv --target y --output m.kboost --report r.html")
@handle_errors
def fit(
    data: DataFile,
    target: Target = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The model file; by default named after the data.",
        ),
    ] = None,
    report: ReportFile = None,
    estimator: Estimator = None,
    set_: Set = None,
    task: Task = None,
    drop: Drop = None,
    use: Use = None,
    na: Na = None,
    max_seconds: MaxSeconds = None,
    validation_fraction: Validation = None,
    test_size: TestSize = 0.2,
    test: TestFile = None,
    split_by: SplitBy = None,
    groups: Groups = None,
    cv: Folds = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a table, with inferred column types and a preparation pipeline.

    Scores are those of a model on rows left out; the saved model is fitted to all rows.

    Ctrl-C ends the fit and saves the best model so far.
    """
    from kboost.cli._data import DataOptions
    from kboost.cli._fit import FitOptions, run_fit

    data_options = DataOptions(task, drop or (), use or (), na, groups, split_by)
    options = FitOptions(
        output=output,
        report=report,
        estimator=estimator,
        params=set_ or (),
        max_seconds=max_seconds,
        validation_fraction=validation_fraction,
        test_size=test_size,
        cv=cv,
        test=test,
        seed=seed,
        as_json=as_json,
    )
    run_fit(data, target, data_options, options)


@app.command(epilog="For example: kboost predict m.kboost new.csv --keep id --output p.csv")
@handle_errors
def predict(
    model: ModelFile,
    data: DataFile,
    output: Predictions = None,
    keep: Keep = None,
    na: Na = None,
    spreadsheet: Spreadsheet = False,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a file, with probabilities for classifiers.

    What the rows have and training had not is said on standard error, a line for each column.
    """
    from kboost.cli._predict import run_predict

    run_predict(
        model, data, output, keep=keep or (), na=na, spreadsheet=spreadsheet, as_json=as_json
    )


@app.command()
@handle_errors
def inspect(model: ModelFile, as_json: AsJson = False) -> None:
    """Describe a model file: its target, rows, scores, preparation, version and terms."""
    from kboost.cli._inspect import run_inspect

    run_inspect(model, as_json=as_json)


@app.command()
@handle_errors
def report(
    model: ModelFile,
    data: DataFile,
    target: Target = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The report, one HTML file.")
    ] = Path("report.html"),
    na: Na = None,
    as_json: AsJson = False,
) -> None:
    """Write a report on a model, with scores on the rows of a file.

    The target is that of the fit, unless it is given.
    """
    from kboost.cli._report import run_report

    run_report(model, data, target, output, na, as_json=as_json)


@app.command()
@handle_errors
def suggest(
    data: DataFile,
    target: Target = None,
    task: Task = None,
    na: Na = None,
    as_json: AsJson = False,
) -> None:
    """Suggest an estimator for a table, with a reason."""
    from kboost.cli import _show
    from kboost.cli._checks import notes_on
    from kboost.cli._console import PlainConsole
    from kboost.cli._data import DataOptions, load
    from kboost.cli._learn import estimator_for
    from kboost.cli._results import as_json as in_json

    rows = load(data, target, DataOptions(task=task, na=na))
    estimator, reason = estimator_for(rows, None, ())
    if as_json:
        print(in_json({"estimator": repr(estimator), "reason": reason, "task": rows.task}))
        return
    console = PlainConsole()
    _show.show_data(console, rows, data, notes_on(rows))
    _show.show_plan(console, rows, estimator, reason)


@app.command()
@handle_errors
def bench(
    data: DataFile,
    target: Target = None,
    estimator: Estimator = None,
    set_: Set = None,
    task: Task = None,
    na: Na = None,
    test_size: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the rows held out for scores, above 0.")
    ] = 0.25,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare kboost with scikit-learn's SVC (or SVR) and gradient boosting on your rows."""
    from kboost.cli._bench import bench as compare
    from kboost.cli._bench import show_bench
    from kboost.cli._console import PlainConsole
    from kboost.cli._data import DataOptions, load
    from kboost.cli._learn import estimator_for
    from kboost.cli._results import as_json as in_json

    rows = load(data, target, DataOptions(task=task, na=na))
    model, _ = estimator_for(rows, estimator, set_ or (), random_state=seed)
    with PlainConsole(stderr=True, quiet=as_json).status("fitting"):
        lines = compare(rows, model, test_size=test_size, seed=seed)
    if as_json:
        print(in_json([vars(line) for line in lines]))
    else:
        show_bench(PlainConsole(), lines, str(data), len(rows.y))


@app.command()
@handle_errors
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path("kboost_demo"),
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Draws the table.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Make a raw table, fit a model, predict, and write a report."""
    from kboost.cli._files import rows_of
    from kboost.cli._predict import predictions, write_table
    from kboost.cli.demo_data import demo_table
    from kboost.persistence import load_model

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "deliveries.csv"
    demo_table(seed=seed).to_csv(path, index=False)
    model, page = folder / "deliveries.kboost", folder / "report.html"
    fit(path, "late", output=model, report=page, as_json=as_json)
    fitted = load_model(model)
    table = predictions(fitted, rows_of(fitted, path)[0])
    write_table(table, folder / "predictions.csv")
    if not as_json:
        print(f"  {len(table):,} predictions written to {folder / 'predictions.csv'}")
