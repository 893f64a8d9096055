"""README's table of evidence: few rows, and every figure from a stored result."""

import json
import re

import pytest

from benchmarks import evidence
from benchmarks.objective import ROOT


def test_the_table_is_that_of_the_results():
    text = evidence.README.read_text()
    assert text.count(evidence.BEGIN) == text.count(evidence.END) == 1
    shown = text.split(evidence.BEGIN)[1].split(evidence.END)[0].strip()
    assert shown == evidence.block()


def test_there_are_at_most_six_rows_each_linked_to_its_file():
    rows = evidence.block().splitlines()[2:]
    assert len(rows) == len(evidence.ROWS) <= 6
    for row, name in zip(rows, evidence.ROWS, strict=True):
        (link,) = re.findall(r"\]\(([^)]+)\)", row)
        assert link == f"benchmarks/results/{name}.json"
        assert json.loads((ROOT / link).read_text())["code"]


def test_the_table_is_written_between_the_marks(tmp_path, monkeypatch):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{evidence.BEGIN}\nold\n{evidence.END}\nafter\n")
    monkeypatch.setattr(evidence, "README", readme)
    monkeypatch.setattr(evidence, "block", lambda: "| new |")
    evidence.write()
    text = readme.read_text()
    assert text == f"before\n{evidence.BEGIN}\n\n| new |\n\n{evidence.END}\nafter\n"


def spoiled(value, inside=False):
    """A result with other figures, in every other line of its lists."""
    if isinstance(value, dict):
        return {k: v if k == "job" else spoiled(v, inside) for k, v in value.items()}
    if isinstance(value, list):
        return [spoiled(v, True) if inside or i % 2 == 0 else v for i, v in enumerate(value)]
    return 3.0 * value if isinstance(value, float) else value


@pytest.mark.parametrize("name", evidence.ROWS)
def test_a_row_follows_its_result(name, monkeypatch, tmp_path):
    result = json.loads((evidence.RESULTS / f"{name}.json").read_text())
    monkeypatch.setattr(evidence, "ROWS", {name: evidence.ROWS[name]})
    before = evidence.block()
    monkeypatch.setattr(evidence, "RESULTS", tmp_path)
    (tmp_path / f"{name}.json").write_text(json.dumps(spoiled(result)))
    assert evidence.block() != before
