"""README's table of evidence: few rows, and every figure from a stored result."""

import json
import re

import pytest

from benchmarks import evidence, peer_pages
from benchmarks.objective import ROOT
from benchmarks.tabular.competitors import OURS, PEERS


def test_the_table_is_that_of_the_results():
    text = evidence.README.read_text()
    assert text.count(evidence.BEGIN) == text.count(evidence.END) == 1
    shown = text.split(evidence.BEGIN)[1].split(evidence.END)[0].strip()
    assert shown == evidence.block()
    lost = text.split(evidence.LOST)[1].split(evidence.LOST_END)[0].strip()
    assert lost == evidence.losses()


def test_there_are_at_most_six_rows_each_linked_to_its_file():
    rows = evidence.block().splitlines()[2:]
    assert len(rows) == len(evidence.ROWS) <= 6
    for row, name in zip(rows, evidence.ROWS, strict=True):
        (link,) = re.findall(r"\]\(([^)]+)\)", row)
        assert link == f"benchmarks/results/{name}.json"
        assert json.loads((ROOT / link).read_text())["code"]


def test_the_table_is_written_between_the_marks(tmp_path, monkeypatch):
    readme = tmp_path / "README.md"
    parts = [evidence.BEGIN, "old", evidence.END, evidence.LOST, "old", evidence.LOST_END]
    readme.write_text("\n".join(["before", *parts, "after\n"]))
    monkeypatch.setattr(evidence, "README", readme)
    monkeypatch.setattr(evidence, "block", lambda: "| new |")
    monkeypatch.setattr(evidence, "losses", lambda: "- none")
    evidence.write()
    text = readme.read_text()
    table = f"{evidence.BEGIN}\n\n| new |\n\n{evidence.END}"
    assert text == f"before\n{table}\n{evidence.LOST}\n\n- none\n\n{evidence.LOST_END}\nafter\n"


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


def test_a_lost_table_is_one_where_a_peer_is_better_beyond_a_tie():
    def row(table, name, error):
        return {"job": {"table": table, "competitor": name}, "task": "regression", "error": error}

    rows = [
        row(table, name, ours if name == OURS else 0.1)
        for table, ours in (("lost", 0.102), ("tied", 0.1005), ("won", 0.09))
        for name in (OURS, *PEERS)
    ]
    result = {"rows": rows}
    assert peer_pages.lost_tables(peer_pages.found_in(result)) == ["lost"]
    assert "| lost | NMSE | 10.20 % | 10.00 % |" in peer_pages.losses(result)


def test_the_critical_difference_is_the_published_one():
    # Demsar 2006: q = 2.569 for four classifiers, and 14 data sets
    assert peer_pages.critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
