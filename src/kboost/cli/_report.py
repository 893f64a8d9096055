"""`kboost report`: a report on a model file, with scores on the rows of another file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kboost.cli import _notes, _show
from kboost.cli._console import PlainConsole, printable
from kboost.cli._data import DataOptions, labels_like, load
from kboost.cli._files import check_writable, rows_for_model
from kboost.cli._live import clock
from kboost.cli._results import as_json as in_json
from kboost.persistence import load_with_notes
from kboost.plotting._fitted import unwrap
from kboost.report import check_reportable, write_report
from kboost.report.scores import is_classifier
from kboost.tables import Table

SEEN = 0.05  # share of rows of the fit that is reported
MOSTLY_SEEN = 0.5  # share from which the report treats the rows as those of the fit


def run_report(
    model: Path,
    data: Path,
    target: str | None,
    output: Path,
    na: Sequence[str] | None,
    *,
    as_json: bool,
) -> None:
    """Run the command; the target is that of the fit, unless it is given."""
    check_writable(output, inputs=(model, data))
    fitted, notes = load_with_notes(model)
    check_reportable(unwrap(fitted))
    task = "classification" if is_classifier(fitted) else "regression"
    n_features = getattr(fitted, "n_features_in_", None)
    target = target or _notes.text(notes, "target")
    na = _notes.na_words(notes) if na is None else na
    rows = load(data, target, DataOptions(task=task, na=na), n_features=n_features, distinct=False)
    X = rows_for_model(fitted, Table(rows.raw, rows.X), data)
    seen = _notes.share_of_training_rows(notes, X)
    warnings = []
    if seen >= SEEN:
        warnings.append(
            f"the model was fitted to about {seen:.0%} of these rows; scores on them are too good, "
            "those of kboost fit are of rows left out"
        )
    y = labels_like(rows.y, fitted.classes_, data) if task == "classification" else rows.y
    with clock(PlainConsole(quiet=as_json, stderr=True), f"writing the report on {len(y):,} rows"):
        write_report(
            output,
            fitted,
            X,
            y,
            target=rows.target,
            model_path=model,
            na=na,
            seen=seen >= MOSTLY_SEEN,
        )
    size = output.stat().st_size
    if as_json:
        print(in_json({"report": str(output), "bytes": size, "warnings": warnings}))
        return
    for words in warnings:
        print(f"warning: {printable(words)}", file=sys.stderr)
    print(f"{output} written ({_show.size_words(size)})")
