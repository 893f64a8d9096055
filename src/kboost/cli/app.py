"""The commands of `kboost`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable

import kboost
from kboost._optional import require
from kboost.cli import _show
from kboost.cli._console import PlainConsole
from kboost.cli._data import load
from kboost.cli._files import check_writable, rows_for_model, rows_of
from kboost.cli._guard import INTERRUPTED, handle_errors
from kboost.cli._learn import FitResult, estimator_for, learn, split
from kboost.cli._options import (
    AsJson,
    DataFile,
    Drop,
    Estimator,
    MaxSeconds,
    ModelFile,
    Na,
    Predictions,
    ReportFile,
    Seed,
    Set,
    Target,
    Task,
    TestSize,
    Validation,
)
from kboost.cli._predict import predictions, write_table
from kboost.cli._results import as_json as in_json
from kboost.cli._results import fit_facts, model_facts
from kboost.tables import Table

app = typer.Typer(
    name="kboost",
    help="Sparse, boosted mixtures of kernels: from a table to a small model with a certificate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kboost {kboost.__version__}")
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
    na: Na = None,
    max_seconds: MaxSeconds = None,
    validation_fraction: Validation = None,
    test_size: TestSize = 0.2,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a table, with inferred column types and a preparation pipeline.

    Ctrl-C ends the fit and saves the columns found so far.
    """
    console = PlainConsole(quiet=as_json)
    output = output or Path(f"{data.name.split('.')[0]}.kboost")
    check_writable(output, report)
    rows = load(data, target, task=task, left_out=drop or (), na=na)
    _show.show_data(console, rows, data)
    model, reason = estimator_for(
        rows,
        estimator,
        set_ or (),
        max_seconds=max_seconds,
        validation_fraction=validation_fraction,
        early_stopping=validation_fraction,
        random_state=seed,
    )
    if report is not None:
        _check_reportable(model)
    _show.show_plan(console, rows, model, reason)
    result = learn(rows, model, reason, console, test_size=test_size, seed=seed, live=not as_json)
    kboost.save_model(result.model, output)
    try:
        _show.show_result(console, result)
        if report is not None:
            _write_report(result, report, output)
        _finish(console, result, output, report, as_json=as_json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; the model is saved to {output}.") from None


@app.command(epilog="For example: kboost predict m.kboost new.csv --output p.csv")
@handle_errors
def predict(
    model: ModelFile,
    data: DataFile,
    output: Predictions = None,
    na: Na = None,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a file, with probabilities for classifiers."""
    check_writable(output)
    fitted = kboost.load_model(model)
    table = predictions(fitted, rows_of(fitted, data, na))
    if output is not None:
        write_table(table, output)
        words = {"rows": len(table), "output": str(output)}
        print(in_json(words) if as_json else f"{len(table):,} predictions written to {output}")
    elif as_json:
        print(in_json({"rows": len(table), **{k: v.tolist() for k, v in table.items()}}))
    else:
        print(table.to_csv(index=False), end="")


@app.command()
@handle_errors
def inspect(model: ModelFile, as_json: AsJson = False) -> None:
    """Describe a model file."""
    fitted = kboost.load_model(model)
    inner = fitted[-1] if hasattr(fitted, "steps") else fitted
    facts = model_facts(inner) | {"file": str(model), "bytes": model.stat().st_size}
    if hasattr(fitted, "feature_names_in_"):
        facts["columns"] = [str(name) for name in fitted.feature_names_in_]
    if hasattr(inner, "classes_"):
        facts["classes"] = inner.classes_.tolist()
    if as_json:
        print(in_json(facts))
        return
    console = PlainConsole()
    _show.heading(console, str(model), _show.size_words(facts["bytes"]))
    for step in fitted.steps if hasattr(fitted, "steps") else [("model", fitted)]:
        console.print(f"  {step[0]}: {' '.join(str(step[1]).split())}", soft_wrap=True)
    for name in ("columns", "classes"):
        if name in facts:
            console.print(f"  {name}: {', '.join(map(str, facts[name]))}", soft_wrap=True)
    _show.heading(console, "Model")
    _show.show_model(console, inner)


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
    """Write a report on a model, with scores on the rows of a file."""
    from kboost.plotting._fitted import unwrap
    from kboost.report import check_reportable, write_report
    from kboost.report.scores import is_classifier

    check_writable(output)
    fitted = kboost.load_model(model)
    check_reportable(unwrap(fitted))
    task = "classification" if is_classifier(fitted) else "regression"
    rows = load(data, target, task=task, n_features=getattr(fitted, "n_features_in_", None), na=na)
    X = rows_for_model(fitted, Table(rows.raw, rows.X), data)
    text = task == "classification" and fitted.classes_.dtype.kind == "U"
    y = rows.y.astype(str) if text else rows.y  # 1 is "1", if other labels were words
    write_report(output, fitted, X, y, target=rows.target, model_path=model)
    size = output.stat().st_size
    words = {"report": str(output), "bytes": size}
    print(in_json(words) if as_json else f"{output} written ({_show.size_words(size)})")


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
    rows = load(data, target, task=task, na=na)
    estimator, reason = estimator_for(rows, None, ())
    if as_json:
        print(in_json({"estimator": repr(estimator), "reason": reason, "task": rows.task}))
        return
    console = PlainConsole()
    _show.show_data(console, rows, data)
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

    rows = load(data, target, task=task, na=na)
    model, _ = estimator_for(rows, estimator, set_ or (), random_state=seed)
    console = PlainConsole(stderr=True, quiet=as_json)
    with console.status("fitting"):
        lines = compare(rows, model, test_size=test_size, seed=seed)
    if as_json:
        print(in_json([vars(line) for line in lines]))
        return
    table = RichTable(box=None, padding=(0, 2), header_style="dim")
    for name in ("", lines[0].score, "fit", "predict", "size"):
        table.add_column(name, justify="left" if not name else "right")
    n_test = len(split(rows, test_size, seed)[1].y)  # type: ignore[union-attr]
    for line in lines:
        table.add_row(
            line.name,
            f"{line.value:.4f}",
            f"{line.fit_seconds:.2f} s",
            f"{1e6 * line.predict_seconds / n_test:.1f} µs per row",
            _show.size_words(line.n_bytes),
        )
    out = PlainConsole()
    _show.heading(out, str(data), f"{len(rows.y):,} rows, {n_test:,} of them held out")
    out.print(table)


@app.command()
@handle_errors
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path("kboost_demo"),
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Draws the table.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Make a raw table, fit a model, predict, and write a report."""
    from kboost.cli.demo_data import demo_table

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "deliveries.csv"
    demo_table(seed=seed).to_csv(path, index=False)
    model, page = folder / "deliveries.kboost", folder / "report.html"
    fit(path, "late", output=model, report=page, as_json=as_json)
    fitted = kboost.load_model(model)
    table = predictions(fitted, rows_of(fitted, path))
    write_table(table, folder / "predictions.csv")
    if not as_json:
        print(f"  {len(table):,} predictions written to {folder / 'predictions.csv'}")


def _check_reportable(model: Any) -> None:
    """Raise before the fit if there is no report for the model."""
    from kboost.report import check_reportable

    require("matplotlib", extra="plots", what="--report")
    check_reportable(model)


def _write_report(result: FitResult, report: Path, model_path: Path) -> None:
    from kboost.report import write_report

    scored = result.test or result.learn
    write_report(
        report,
        result.model,
        scored.X,
        scored.y,
        X_learn=result.learn.X,
        y_learn=result.learn.y,
        seen=result.test is None,
        target=result.learn.target,
        model_path=model_path,
        seconds=result.seconds,
        left_out=[(c.name, c.note) for c in result.learn.columns if c.kind == "left out"],
        reason=result.reason,
    )


def _finish(
    console: PlainConsole, result: FitResult, output: Path, report: Path | None, *, as_json: bool
) -> None:
    """Print where the files are, and exit with a code."""
    if as_json:
        print(in_json(fit_facts(result, output, report)))
    else:
        size = _show.size_words(output.stat().st_size)
        _show.heading(console, "Saved", f"{output} ({size})" + (f", {report}" if report else ""))
        console.print(
            f"  kboost predict {shlex.quote(str(output))} NEW.csv --output p.csv", soft_wrap=True
        )
        _show.show_warnings(console, result.learn)
    if result.interrupted:
        if not as_json:
            print("interrupted; the model holds the columns found so far.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
