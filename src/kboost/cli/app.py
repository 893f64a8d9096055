"""The commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as RichTable

import kboost
from kboost._optional import require
from kboost.cli import _show
from kboost.cli._data import Data, load
from kboost.cli._guard import INTERRUPTED, guarded
from kboost.cli._learn import Learnt, estimator_for, learn, split

app = typer.Typer(
    name="kboost",
    help="Sparse, boosted mixtures of kernels: from a table to a small model with a certificate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
)

DataFile = Annotated[
    Path, typer.Argument(help="CSV, Parquet, svmlight or npz.", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")]
Task = Annotated[str | None, typer.Option(help="classification or regression; else inferred.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
Estimator = Annotated[str | None, typer.Option(help="A class of kboost; else suggested.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="NAME=VALUE, a parameter; may be repeated.")
]
MaxSeconds = Annotated[float | None, typer.Option(help="Time limit of the fit.")]
Validation = Annotated[
    float | None, typer.Option(help="Part of the rows to learn from that is held out to stop by.")
]
TestSize = Annotated[
    float, typer.Option(help="Part of the rows to judge the model by; 0 for none.")
]
Seed = Annotated[int, typer.Option(help="Draws the rows to judge by.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Report = Annotated[Path | None, typer.Option(help="Write a report, an HTML file.")]


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


@app.command()
@guarded
def fit(
    data: DataFile,
    target: Target = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The model file; else DATA.kboost here.")
    ] = None,
    report: Report = None,
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
    """Fit a model to a table: columns are understood, prepared, and learnt from."""
    console = Console(quiet=as_json)
    output = output or Path(f"{data.name.split('.')[0]}.kboost")
    _writable(output, report)
    rows = load(data, target, task=task, left_out=drop or ())
    _show.show_data(console, rows, data)
    model, reason = estimator_for(
        rows,
        estimator,
        set_ or (),
        max_seconds=max_seconds,
        validation_fraction=validation_fraction,
        random_state=seed,
    )
    if report is not None:
        _check_reportable(model)
    _show.show_plan(console, rows, model, reason)
    found = learn(rows, model, reason, console, test_size=test_size, seed=seed, live=not as_json)
    kboost.save_model(found.model, output)
    _show.show_result(console, found)
    if report is not None:
        _write_report(found, report, output)
    _finish(console, found, output, report, as_json=as_json)


@app.command()
@guarded
def predict(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A CSV or Parquet file; else printed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a file; probabilities too, where there are classes."""
    import pandas as pd

    fitted = kboost.load_model(model)
    X = _rows_of(fitted, data)
    out: dict[str, Any] = {"prediction": fitted.predict(X)}
    if hasattr(fitted, "predict_proba"):
        probabilities = fitted.predict_proba(X)
        for place, label in enumerate(fitted.classes_):
            out[f"probability of {label}"] = probabilities[:, place]
    table = pd.DataFrame(out)
    if as_json and output is None:
        print(json.dumps({"rows": len(table), **{k: v.tolist() for k, v in table.items()}}))
        return
    if output is None:
        print(table.to_csv(index=False), end="")
        return
    if output.suffix in (".parquet", ".pq"):
        table.to_parquet(output)
    else:
        table.to_csv(output, index=False)
    words = {"rows": len(table), "output": str(output)}
    print(json.dumps(words) if as_json else f"{len(table):,} predictions written to {output}")


@app.command()
@guarded
def inspect(model: ModelFile, as_json: AsJson = False) -> None:
    """Say what is in a model file."""
    fitted = kboost.load_model(model)
    inner = fitted[-1] if hasattr(fitted, "steps") else fitted
    facts = _facts(inner) | {"file": str(model), "bytes": model.stat().st_size}
    if hasattr(fitted, "feature_names_in_"):
        facts["columns"] = [str(name) for name in fitted.feature_names_in_]
    if hasattr(inner, "classes_"):
        facts["classes"] = inner.classes_.tolist()
    if as_json:
        print(json.dumps(facts))
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
    output: Annotated[Path, typer.Option("--output", "-o", help="The report.")] = Path(
        "report.html"
    ),
    as_json: AsJson = False,
) -> None:
    """Write a report on a model, judged by the rows of a file."""
    from kboost.report import write_report
    from kboost.report.scores import is_classifier
    from kboost.tables import rows_for

    _writable(output)
    fitted = kboost.load_model(model)
    task = "classification" if is_classifier(fitted) else "regression"
    rows = load(data, target, task=task)
    X = rows_for(fitted, rows.raw) if rows.is_table else rows.X
    write_report(output, fitted, X, rows.y, target=rows.target, model_path=model)
    size = output.stat().st_size
    words = {"report": str(output), "bytes": size}
    print(json.dumps(words) if as_json else f"{output} written ({_show.size_words(size)})")


@app.command()
@guarded
def suggest(
    data: DataFile, target: Target = None, task: Task = None, as_json: AsJson = False
) -> None:
    """Say which estimator suits a table, and why."""
    rows = load(data, target, task=task)
    estimator, reason = estimator_for(rows, None, ())
    if as_json:
        print(json.dumps({"estimator": repr(estimator), "reason": reason, "task": rows.task}))
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
    test_size: TestSize = 0.25,
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
        print(json.dumps([vars(line) for line in lines]))
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
    seed: Seed = 7,
    as_json: AsJson = False,
) -> None:
    """Make a table that nobody prepared, fit it, predict it, and write a report."""
    from kboost.cli._messy import messy_table

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "deliveries.csv"
    messy_table(seed=seed).to_csv(path, index=False)
    model, page = folder / "deliveries.kboost", folder / "report.html"
    fit(path, "late", output=model, report=page, as_json=as_json)
    if not as_json:
        predict(model, path, output=folder / "predictions.csv")


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
        print(json.dumps(_result(found, output, report)))
    else:
        size = _show.size_words(output.stat().st_size)
        _show.heading(console, "Saved", f"{output} ({size})" + (f", {report}" if report else ""))
        console.print(
            f"  kboost predict {output} NEW.csv --output p.csv", markup=False, soft_wrap=True
        )
        if found.interrupted:
            console.print("  interrupted: the model holds the columns found so far", style="bold")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


def _result(found: Learnt, output: Path, report: Path | None) -> dict[str, Any]:
    rows: Data = found.learn
    return {
        "model": str(output),
        "report": None if report is None else str(report),
        "task": rows.task,
        "target": rows.target,
        "rows": len(rows.y),
        "test_rows": 0 if found.test is None else len(found.test.y),
        "columns": [vars(column) for column in rows.columns],
        "pipeline": _show.pipeline_words(rows),
        "reason": found.reason,
        "scores": {score.name: score.value for score in found.scores},
        "seconds": found.seconds,
        "interrupted": found.interrupted,
        **_facts(found.estimator),
    }


def _facts(model: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        if isinstance(value, list):
            return [plain(v) for v in value]
        return None if isinstance(value, float) and not np.isfinite(value) else value

    names = (
        "n_columns_",
        "columns_per_kernel_",
        "objective_",
        "dual_gap_",
        "stop_reason_",
        "n_iter_",
    )
    facts = {
        name.rstrip("_"): plain(getattr(model, name)) for name in names if hasattr(model, name)
    }
    return {"estimator": " ".join(repr(model).split()), **facts}


def _rows_of(model: Any, path: Path) -> Any:
    """The rows of a file as a fitted model wants them."""
    from kboost.tables import read_table, rows_for

    table = read_table(path, n_features=getattr(model, "n_features_in_", None))
    named = hasattr(model, "steps") and hasattr(model[0], "transformers_")
    if table.frame is not None:
        return rows_for(model, table.frame) if named else table.frame
    if named:
        raise ValueError(f"{path} must be a table with the columns of the model; it is a matrix.")
    return table.X


def _writable(*paths: Path | None) -> None:
    """Complain before the work, not after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"there is no folder {path.parent} to write {path.name} to.")
