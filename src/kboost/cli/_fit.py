"""`kboost fit`: read a table, fit and score models, save one, and write a report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import kboost
from kboost._optional import require
from kboost.cli import _show
from kboost.cli._checks import notes_on
from kboost.cli._console import PlainConsole
from kboost.cli._data import DataOptions, load, load_test
from kboost.cli._files import check_writable
from kboost.cli._guard import INTERRUPTED
from kboost.cli._holdout import Holdout
from kboost.cli._learn import FitResult, estimator_for, learn, with_budget
from kboost.cli._live import clock
from kboost.cli._notes import notes_of
from kboost.cli._results import as_json as in_json
from kboost.cli._results import fit_facts

AFTER_ALL = "The saved model is fitted to all rows, including these."


@dataclass(frozen=True)
class FitOptions:
    """The options of the command."""

    output: Path | None = None
    report: Path | None = None
    estimator: str | None = None
    params: Sequence[str] = ()
    max_seconds: float | None = None
    validation_fraction: float | None = None
    test_size: float = 0.2
    cv: int | None = None
    test: Path | None = None
    seed: int = 0
    as_json: bool = False


def run_fit(path: Path, target: str | None, data_options: DataOptions, options: FitOptions) -> None:
    """Run the command."""
    console = PlainConsole(quiet=options.as_json)
    output = options.output or Path(f"{path.name.split('.')[0]}.kboost")
    check_writable(output, options.report, inputs=(path, options.test))
    data = load(path, target, data_options)
    test = None if options.test is None else load_test(options.test, data, data_options.na)
    holdout = Holdout(options.test_size, options.seed, options.cv, test, str(options.test))
    remarks = notes_on(data)
    _show.show_data(console, data, path, remarks)
    model, reason = estimator_for(
        data,
        options.estimator,
        options.params,
        max_seconds=options.max_seconds,
        validation_fraction=options.validation_fraction,
        early_stopping=options.validation_fraction,
        random_state=options.seed,
    )
    model = with_budget(model, len(data.y), options.params)
    if options.report is not None:
        _check_reportable(model)
    _show.show_plan(console, data, model, reason, holdout.plan)
    result = learn(data, model, reason, console, holdout=holdout, live=not options.as_json)
    kboost.save_model(result.model, output, notes=notes_of(result, data_options.na))
    try:
        _show.show_result(console, result)
        if options.report is not None:
            n = len(result.scored[0].test.y if result.scored else result.data.y)
            with clock(console, f"writing the report on {n:,} rows"):
                _write_report(result, options.report, output, data_options.na)
        _finish(console, result, output, options, remarks)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; the model is saved to {output}.") from None


def _check_reportable(model: Any) -> None:
    """Raise before the fit if there is no report for the model."""
    from kboost.report import check_reportable

    require("matplotlib", extra="plots", what="--report")
    check_reportable(model)


def _write_report(
    result: FitResult, report: Path, model_path: Path, na: Sequence[str] | None
) -> None:
    """A report on the first model that was scored, else on the saved one."""
    from kboost.report import write_report

    model, learned, scored = result.model, result.data, result.data
    if result.scored:
        first = result.scored[0]
        model, learned, scored = first.model, first.learn, first.test
    write_report(
        report,
        model,
        scored.X,
        scored.y,
        X_learn=learned.X,
        y_learn=learned.y,
        seen=not result.scored,
        target=learned.target,
        model_path=model_path,
        na=na,
        seconds=result.seconds,
        left_out=[(c.name, c.note) for c in learned.columns if c.kind == "left out"],
        reason=AFTER_ALL if result.all_rows else "",
    )


def _finish(
    console: PlainConsole, result: FitResult, output: Path, options: FitOptions, remarks: list[str]
) -> None:
    """Print where the files are, and exit with a code."""
    report = options.report
    if options.as_json:
        print(in_json(fit_facts(result, output, report, remarks)))
    else:
        size = _show.size_words(output.stat().st_size)
        _show.heading(console, "Saved", f"{output} ({size})" + (f", {report}" if report else ""))
        console.print(
            f"  kboost predict {shlex.quote(str(output))} NEW.csv --output p.csv", soft_wrap=True
        )
        _show.show_warnings(console, result.data)
    if result.interrupted:
        if not options.as_json:
            print("interrupted; the best model so far is saved.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
