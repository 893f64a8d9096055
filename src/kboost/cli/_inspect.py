"""`kboost inspect`: what a model file contains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kboost.cli import _notes, _show
from kboost.cli._console import PlainConsole, say
from kboost.cli._results import as_json as in_json
from kboost.cli._results import model_facts
from kboost.persistence import load_with_notes
from kboost.tables.preparing import preparation_of


def run_inspect(path: Path, *, as_json: bool) -> None:
    """Run the command."""
    fitted, notes = load_with_notes(path)
    inner = fitted[-1] if hasattr(fitted, "steps") else fitted
    facts = model_facts(inner) | {"file": str(path), "bytes": path.stat().st_size}
    if hasattr(fitted, "feature_names_in_"):
        facts["columns"] = [str(name) for name in fitted.feature_names_in_]
    if hasattr(inner, "classes_"):
        facts["classes"] = inner.classes_.tolist()
    own_notes = ("target", "task", "rows", "scores", "scored", "written_by")
    facts |= {name: notes[name] for name in own_notes if name in notes}
    if as_json:
        facts["preparation"] = _preparation(fitted)
        print(in_json(facts))
        return
    console = PlainConsole()
    _show.heading(console, str(path), _show.size_words(facts["bytes"]))
    for line in _origin(notes):
        say(console, line)
    for step in fitted.steps if hasattr(fitted, "steps") else [("model", fitted)]:
        say(console, f"{step[0]}: {' '.join(str(step[1]).split())}")
    for name in ("columns", "classes"):
        if name in facts:
            say(console, f"{name}: {', '.join(map(str, facts[name]))}")
    if columns := _preparation(fitted):
        _show.show_preparation(console, columns)
    _show.heading(console, "Model")
    _show.show_model(console, inner)


def _origin(notes: dict[str, Any]) -> list[str]:
    """Version, target, rows and scores, as far as the file has them."""
    lines = []
    versions = notes.get("written_by")
    if isinstance(versions, dict) and "kboost" in versions:
        lines.append(f"written by kboost {versions['kboost']}")
    target, rows = _notes.text(notes, "target"), notes.get("rows")
    if target is not None:
        lines.append(f"target: {target} ({_notes.text(notes, 'task') or 'task not known'})")
    if isinstance(rows, int):
        lines.append(f"fitted to {_show.counted(rows, 'row')}")
    scores = notes.get("scores")
    if isinstance(scores, dict) and scores:
        where = _notes.text(notes, "scored") or ""
        figures = [
            f"{name} {_show.figure_words(value)}"
            for name, value in scores.items()
            if isinstance(value, int | float)
        ]
        lines.append(f"scores {where}: {', '.join(figures)}")
    return lines


def _preparation(model: Any) -> list[dict[str, Any]]:
    """What becomes of each column of the table."""
    prepare = preparation_of(model)
    if prepare is None or not hasattr(prepare, "feature_names_in_"):
        return []
    names = prepare.get_feature_names_out()
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "missing": column.n_missing,
            "numbers": [str(name) for name in names[column.output]],
            "encoding": column.encoding,
        }
        for column in prepare.columns_
    ]
