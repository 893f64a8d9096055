"""Results on disk, the table, and the command."""

import json
import os
import re

import pytest

from benchmarks import __main__ as command
from benchmarks import machine
from benchmarks.bench import Bench, Report, SkipError, must
from benchmarks.earlier import Earlier
from benchmarks.objective import Job
from benchmarks.store import Store, code_version, peers_version
from benchmarks.table import markdown, number, percent, table

HERE = {"cores": 2}


def store(path, **changes):
    return Store(path, **{"machine": HERE, "version": lambda: "a", **changes})


def counted(calls, status="ok"):
    def measure():
        calls.append(1)
        return {"status": status, "fit_seconds": float(len(calls)), "message": "why"}

    return measure


def test_rows_are_written_as_they_come_and_not_measured_again(tmp_path):
    path, calls = tmp_path / "results" / "x.json", []
    first = store(path).row({"solver": "svc"}, counted(calls))
    assert json.loads(path.read_text())["rows"] == [first]
    assert store(path).row({"solver": "svc"}, counted(calls)) == first
    assert len(calls) == 1
    assert not list(path.parent.glob("*.part"))


@pytest.mark.parametrize(
    "change", [{"machine": {"cores": 4}}, {"version": lambda: "b"}, {"fresh": True}]
)
def test_another_machine_or_version_starts_anew(tmp_path, change):
    path, calls = tmp_path / "x.json", []
    store(path).row({"solver": "svc"}, counted(calls))
    store(path, **change).row({"solver": "svc"}, counted(calls))
    assert len(calls) == 2


def test_code_that_changes_under_way_is_refused(tmp_path):
    versions, path = iter("ab"), tmp_path / "x.json"
    with pytest.raises(RuntimeError, match="must not change"):
        store(path, version=lambda: next(versions)).row({"solver": "svc"}, counted([]))
    assert not path.exists()


def test_a_tuple_that_a_file_tells_as_a_list_is_the_same(tmp_path):
    job = {"draw": 1}
    old = {"job": job, "status": "ok", "chosen": [1.0, 0.2], "fit_seconds": 3.0}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"machine": HERE, "code": "old", "rows": [old]}))
    earlier = Earlier(path, HERE)
    assert earlier.confirms({**old, "chosen": (1.0, 0.2), "fit_seconds": 4.0})
    with pytest.raises(RuntimeError, match="must have the result"):
        earlier.confirms({**old, "chosen": (1.0, 0.3)})


def earlier_file(path, draws=40, **changes):
    content = {"machine": HERE, "code": "old", "rows": [figure(draw) for draw in range(draws)]}
    path.write_text(json.dumps({**content, **changes}))
    return path


def figure(draw, **changes):
    return {"job": {"draw": draw}, "status": "ok", "accuracy": 0.5, "fit_seconds": 9.0, **changes}


def asked(results, draws=40, **changes):
    """The rows of so many jobs, and how many were measured."""
    calls, rows = [], []
    for draw in range(draws):
        new = {k: v for k, v in figure(draw, fit_seconds=1.0, **changes).items() if k != "job"}
        rows.append(results.row({"draw": draw}, lambda new=new: calls.append(1) or new))
    return rows, len(calls)


def test_earlier_rows_are_taken_over_and_some_are_measured_again(tmp_path):
    old = Earlier(earlier_file(tmp_path / "old.json"), HERE)
    path = tmp_path / "x.json"
    results = store(path, earlier=old)
    rows, measured = asked(results)
    results.finish({}, {}, rows)
    assert 0 < measured < 20
    assert sum(row.get("code") == "old" for row in rows) == len(rows) - measured
    assert f"{40 - measured} of 40 rows" in old.words(rows)
    assert f"{measured} of its rows were measured again" in old.words(rows)
    assert json.loads(path.read_text())["code"] == "a"
    assert asked(store(path)) == (rows, 0)  # what is in the file is there without the earlier one


def test_an_earlier_row_that_comes_out_otherwise_ends_the_run(tmp_path):
    old = Earlier(earlier_file(tmp_path / "old.json"), HERE)
    with pytest.raises(RuntimeError, match="must have the result of code old"):
        asked(store(tmp_path / "x.json", earlier=old), accuracy=0.6)


def test_an_earlier_row_that_the_clock_ended_or_that_failed_is_not_taken_over(tmp_path):
    some = [figure(0, ended_early=1), figure(1, status="failed", message="why")]
    old = Earlier(earlier_file(tmp_path / "old.json", rows=some), HERE)
    assert asked(store(tmp_path / "x.json", earlier=old), draws=2)[1] == 2


def test_earlier_rows_of_another_machine_are_refused(tmp_path):
    path = earlier_file(tmp_path / "old.json", machine={"cores": 4})
    with pytest.raises(ValueError, match=r"result of this machine; got old\.json"):
        Earlier(path, HERE)


def test_a_peer_is_not_measured_again_for_other_code_of_the_library(tmp_path):
    path, calls = tmp_path / "x.json", []
    first = store(path, version=lambda: "a")
    for job, peers in (({"solver": "ours"}, None), ({"solver": "svc"}, "svc 1")):
        first.row(job, counted(calls), peers)
    then = store(path, version=lambda: "b")
    assert then.at_hand({"solver": "ours"}) is None
    assert then.row({"solver": "svc"}, counted(calls), "svc 1")["peers"] == "svc 1"
    assert len(calls) == 2
    then.row({"solver": "svc"}, counted(calls), "svc 2")
    assert len(calls) == 3


def test_other_settings_are_another_row(tmp_path):
    calls, results = [], store(tmp_path / "x.json")
    results.row({"C": 1.0}, counted(calls))
    results.row({"C": 2.0}, counted(calls))
    assert len(calls) == len(results.rows) == 2


def test_what_failed_is_tried_again(tmp_path):
    path, calls = tmp_path / "x.json", []
    store(path).row({"solver": "svc"}, counted(calls, "failed"))
    store(path).row({"solver": "svc"}, counted(calls))
    assert len(calls) == 2


def test_a_broken_file_is_replaced(tmp_path):
    path, calls = tmp_path / "x.json", []
    path.write_text("{")
    store(path).row({"solver": "svc"}, counted(calls))
    assert json.loads(path.read_text())["code"] == "a"


def test_finish_keeps_the_rows_that_were_used(tmp_path):
    path = tmp_path / "x.json"
    results = store(path)
    results.row({"C": 1.0}, counted([]))
    kept = results.row({"C": 2.0}, counted([]))
    results.finish({"C": 2.0}, {"median": 0.5}, [kept], {"head": ["C"], "lines": [[2.0]]})
    content = json.loads(path.read_text())
    assert set(content) == {"machine", "code", "settings", "rows", "ratios", "shown"}
    assert content["shown"] == {"head": ["C"], "lines": [[2.0]]}
    assert content["rows"] == [kept]
    assert content["ratios"] == {"median": 0.5}


def test_repeats_give_the_row_in_the_middle(tmp_path, monkeypatch):
    times = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(
        "benchmarks.bench.judge", lambda job: {"status": "ok", "fit_seconds": next(times)}
    )
    bench = Bench(store(tmp_path / "x.json"), repeats=3, say=lambda words: None)
    assert bench.run(Job("svc", "friedman"), "svc")["fit_seconds"] == 2.0
    assert len(bench.used) == 3
    times = iter([5.0, 7.0, 6.0])
    turn = bench.run(Job("svc", "friedman", repeat=3), "svc")  # rows of its own
    assert turn["fit_seconds"] == 6.0


@pytest.mark.parametrize(("asked", "told", "used"), [(1, None, 1), (1, 2, 2), (None, None, None)])
def test_an_entry_may_ask_for_threads(tmp_path, monkeypatch, asked, told, used):
    monkeypatch.setattr(
        "benchmarks.bench.judge",
        lambda job: {"status": "ok", "fit_seconds": 1.0, "threads": job.threads},
    )
    bench = Bench(store(tmp_path / "x.json"), threads=told, say=lambda words: None)
    row = bench.run(Job("svc", "friedman", threads=asked), "svc")
    assert row["threads"] == row["job"]["threads"] == used


def test_missing_data_skip_an_entry_and_failures_end_it():
    with pytest.raises(SkipError, match="where"):
        must({"status": "missing data", "message": "where"})
    with pytest.raises(RuntimeError, match="failed: why"):
        must({"status": "failed", "message": "why"})


def test_code_version_follows_the_code(tmp_path):
    for name in ("src/kboost/a.py", "benchmarks/objective.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    before, peers = code_version(tmp_path), peers_version(("numpy",), tmp_path)
    assert code_version(tmp_path) == before
    (tmp_path / "src/kboost/a.py").write_text("x = 2\n")
    assert code_version(tmp_path) != before
    assert peers_version(("numpy",), tmp_path) == peers
    (tmp_path / "benchmarks/objective.py").write_text("x = 2\n")
    assert peers_version(("numpy",), tmp_path) != peers


def test_table_is_aligned():
    text = table(("solver", "s"), [["kboost", 1.5], ["a longer name", None], ["c", 12.25]])
    assert text.splitlines() == [
        "  solver             s",
        "  -------------  -----",
        "  kboost         1.500",
        "  a longer name      –",
        "  c              12.25",
    ]


def test_numbers_are_short():
    assert [number(v) for v in (0.0, 3.2e-14, 0.4567, 12.345, 1234.56, 2e7)] == [
        "0", "3.2e-14", "0.457", "12.35", "1234.6", "2.0e+07",
    ]  # fmt: skip
    assert percent(0.1234) == "12.34 %"
    assert percent(None) is None


def test_machine_says_what_matters_and_names_no_host():
    here = machine.describe()
    assert here["cores"] >= 1
    assert {"numpy", "scipy", "scikit-learn", "highspy"} <= set(here["packages"])
    text = json.dumps(here)
    assert os.uname().nodename not in text
    assert not re.search(r'"/', text)
    assert "cores" in machine.in_one_line(here)


def test_command_lists_and_refuses(capsys):
    assert command.main(["--list"]) == 0
    assert "lp_forest" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["no_such_entry"])
    assert "there are" in capsys.readouterr().err


@pytest.mark.parametrize(("met", "code"), [(True, 0), (False, 1), (None, 0)])
def test_command_runs_an_entry_and_writes_its_file(tmp_path, monkeypatch, capsys, met, code):
    def run(bench):
        bench.other({"entry": "toy"}, counted([]), "toy")
        return Report(("a",), [[1]], {"n": 1}, {"r": 0.5}, "criterion", met)

    monkeypatch.setattr("benchmarks.entries.import_time.run", run)
    assert command.main(["import_time", "--results", str(tmp_path)]) == code
    assert json.loads((tmp_path / "import_time.json").read_text())["ratios"] == {"r": 0.5}
    assert ("NOT MET" in capsys.readouterr().out) == (met is False)


def test_an_entry_without_its_data_is_skipped(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("KBOOST_DATA", raising=False)
    assert command.main(["lp_forest", "--results", str(tmp_path)]) == 0
    assert "skipped: covtype.npz needed" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_table_for_a_page_has_the_cells_of_the_one_printed():
    head, lines = ("name", "error"), [["ours", 0.25], ["theirs", None]]
    words = [line.strip("| ").split(" | ") for line in markdown(head, lines).splitlines()]
    assert words == [["name", "error"], [":--", "--:"], ["ours", "0.250"], ["theirs", "–"]]
