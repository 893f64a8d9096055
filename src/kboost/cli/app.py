"""The commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable

import kboost
from kboost._optional import require
from kboost.cli import _show
from kboost.cli._data import load
from kboost.cli._files import check_writable, fitting, rows_of
from kboost.cli._guard import INTERRUPTED, guarded
from kboost.cli._learn import Learnt, estimator_for, learn, split
from kboost.cli._options import (
    AsJson,
    DataFile,
    Drop,
    Estimator,
    MaxSeconds,
    ModelFile,
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Sparse, boosted mixtures of kernels: from a table to a small model with a certificate."""


@app.command(epilog="For example: kboost fit data.csv --target y --output m.kboost --report r.html")
@guarded
def fit(
    data: DataFile,
    target: Target = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The model file; else named after the data."
        ),
    ] = None,
    report: ReportFile = None,
    estimator: Estimator = None,
    set_: Set = None,
    task: Task = None,
    drop: Drop = None,
    max_seconds: MaxSeconds = None,
    validation_fraction: Validation = None,
    test_size: TestSize = 0.2,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a table: columns are understood, prepared, and learnt from.

    Ctrl-C ends the fit and saves the columns found so far.
    """
    console = Console(quiet=as_json)
    output = output or Path(f"{data.name.split('.')[0]}.kboost")
    check_writable(output, report)
    rows = load(data, target, task=task, left_out=drop or ())
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
    found = learn(rows, model, reason, console, test_size=test_size, seed=seed, live=not as_json)
    kboost.save_model(found.model, output)
    try:
        _show.show_result(console, found)
        if report is not None:
            _write_report(found, report, output)
        _finish(console, found, output, report, as_json=as_json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; the model is saved to {output}.") from None


@app.command(epilog="For example: kboost predict m.kboost new.csv --output p.csv")
@guarded
def predict(
    model: ModelFile,
    data: DataFile,
    output: Predictions = None,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a file; probabilities too, where there are classes."""
    check_writable(output)
    fitted = kboost.load_model(model)
    table = predictions(fitted, rows_of(fitted, data))
    if output is not None:
        write_table(table, output)
        words = {"rows": len(table), "output": str(output)}
        print(in_json(words) if as_json else f"{len(table):,} predictions written to {output}")
    elif as_json:
        print(in_json({"rows": len(table), **{k: v.tolist() for k, v in table.items()}}))
    else:
        print(table.to_csv(index=False), end="")


@app.command()
@guarded
def inspect(model: ModelFile, as_json: AsJson = False) -> None:
    """Say what is in a model file."""
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
    console = Console()
    _show.heading(console, str(model), _show.size_words(facts["bytes"]))
    for step in fitted.steps if hasattr(fitted, "steps") else [("model", fitted)]:
        console.print(
            f"  {step[0]}: {' '.join(str(step[1]).split())}", markup=False, soft_wrap=True
        )
    for name in ("columns", "classes"):
        if name in facts:
            console.print(
                f"  {name}: {', '.join(map(str, facts[name]))}", markup=False, soft_wrap=True
            )
    _show.heading(console, "Model")
    for line in _show.model_words(inner):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


@app.command()
@guarded
def report(
    model: ModelFile,
    data: DataFile,
    target: Target = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The report, one HTML file.")
    ] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write a report on a model, judged by the rows of a file."""
    from kboost.plotting._fitted import unwrapped
    from kboost.report import check_reportable, write_report
    from kboost.report.scores import is_classifier

    check_writable(output)
    fitted = kboost.load_model(model)
    check_reportable(unwrapped(fitted))
    task = "classification" if is_classifier(fitted) else "regression"
    rows = load(data, target, task=task, n_features=getattr(fitted, "n_features_in_", None))
    X = fitting(fitted, Table(rows.raw, rows.X), data)
    text = task == "classification" and fitted.classes_.dtype.kind == "U"
    y = rows.y.astype(str) if text else rows.y  # 1 is "1", if other labels were words
    write_report(output, fitted, X, y, target=rows.target, model_path=model)
    size = output.stat().st_size
    words = {"report": str(output), "bytes": size}
    print(in_json(words) if as_json else f"{output} written ({_show.size_words(size)})")


@app.command()
@guarded
def suggest(
    data: DataFile, target: Target = None, task: Task = None, as_json: AsJson = False
) -> None:
    """Say which estimator suits a table, and why."""
    rows = load(data, target, task=task)
    estimator, reason = estimator_for(rows, None, ())
    if as_json:
        print(in_json({"estimator": repr(estimator), "reason": reason, "task": rows.task}))
        return
    console = Console()
    _show.show_data(console, rows, data)
    _show.show_plan(console, rows, estimator, reason)


@app.command()
@guarded
def bench(
    data: DataFile,
    target: Target = None,
    estimator: Estimator = None,
    set_: Set = None,
    task: Task = None,
    test_size: Annotated[
        float, typer.Option(metavar="SHARE", help="Rows to judge the models by, above 0.")
    ] = 0.25,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Set kboost beside scikit-learn's SVC (or SVR) and gradient boosting, on your own rows."""
    from kboost.cli._bench import bench as compare

    rows = load(data, target, task=task)
    model, _ = estimator_for(rows, estimator, set_ or (), random_state=seed)
    console = Console(stderr=True, quiet=as_json)
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
            f"{1e6 * line.predict_seconds / n_test:.1f} µs a row",
            _show.size_words(line.n_bytes),
        )
    out = Console()
    _show.heading(out, str(data), f"{len(rows.y):,} rows, judged on {n_test:,} of them")
    out.print(table)


@app.command()
@guarded
def demo(
    folder: Annotated[Path, typer.Argument(help="Where files go.")] = Path("kboost_demo"),
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Draws the table.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Make a table that nobody prepared, fit it, predict it, and write a report."""
    from kboost.cli.demo_data import messy_table

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "deliveries.csv"
    messy_table(seed=seed).to_csv(path, index=False)
    model, page = folder / "deliveries.kboost", folder / "report.html"
    fit(path, "late", output=model, report=page, as_json=as_json)
    fitted = kboost.load_model(model)
    table = predictions(fitted, rows_of(fitted, path))
    write_table(table, folder / "predictions.csv")
    if not as_json:
        print(f"  {len(table):,} predictions written to {folder / 'predictions.csv'}")


def _check_reportable(model: Any) -> None:
    """Complain before the work, not after it."""
    from kboost.report import check_reportable

    require("matplotlib", extra="plots", what="--report")
    check_reportable(model)


def _write_report(found: Learnt, report: Path, model_path: Path) -> None:
    from kboost.report import write_report

    judged = found.test or found.learn
    write_report(
        report,
        found.model,
        judged.X,
        judged.y,
        X_learn=found.learn.X,
        y_learn=found.learn.y,
        seen=found.test is None,
        target=found.learn.target,
        model_path=model_path,
        seconds=found.seconds,
        left_out=[(c.name, c.note) for c in found.learn.columns if c.kind == "left out"],
        reason=found.reason,
    )


def _finish(
    console: Console, found: Learnt, output: Path, report: Path | None, *, as_json: bool
) -> None:
    """Say where things are, and with which exit code it ends."""
    if as_json:
        print(in_json(fit_facts(found, output, report)))
    else:
        size = _show.size_words(output.stat().st_size)
        _show.heading(console, "Saved", f"{output} ({size})" + (f", {report}" if report else ""))
        console.print(
            f"  kboost predict {output} NEW.csv --output p.csv", markup=False, soft_wrap=True
        )
    if found.interrupted:
        if not as_json:
            print("interrupted; the model holds the columns found so far.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
