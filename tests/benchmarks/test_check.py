"""The check of stored results: what it repeats, and what it calls worse."""

from __future__ import annotations

import json

import pytest

from benchmarks import check

ROW = {"status": "ok", "fit_cpu_seconds": 1.0, "test_error": 0.2, "objective": 4.0}


def row(solver="kboost", seconds=1.0, seed=0, **found):
    job = {"solver": solver, "dataset": "forest", "dataset_parameters": {"seed": seed}}
    return {**ROW, "job": job, "fit_cpu_seconds": seconds, **found}


def test_the_cheapest_fits_are_repeated_beside_the_fastest_peer():
    rows = [row(seconds=9.0), row(seconds=2.0, seed=1), row("svc", 5.0, 1), row("full_lp", 3.0, 1)]
    rows += [row("svc", 0.9, 1)]  # too short to compare
    first, second = check.chosen("entry", rows)
    assert (first.row, first.peer) == (rows[1], rows[3])
    assert (second.row, second.peer) == (rows[0], None)


def test_an_entry_takes_no_more_than_its_time():
    assert [r.row["fit_cpu_seconds"] for r in check.chosen("e", [row(seconds=50.0)])] == []
    assert len(check.chosen("e", [row(seed=k) for k in range(9)])) == check.MOST_JOBS


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({}, []),
        ({"test_error": 0.21}, []),
        ({"test_error": 0.22}, ["test_error 0.2 -> 0.22"]),
        ({"test_error": float("nan")}, ["test_error 0.2 -> nan"]),
        ({"test_error": None}, ["test_error 0.2 -> none"]),
        ({"objective": 4.0003}, []),
        ({"objective": 4.001}, ["objective 4 -> 4.001"]),
        ({"fit_cpu_seconds": 99.0}, []),  # seconds alone are never compared
        ({"status": "failed", "message": "no memory"}, ["failed: no memory"]),
    ],
)
def test_worse(now, words):
    assert list(check.worse(row(), row() | now)) == words


def test_a_ratio_to_the_peer_may_double_but_not_more():
    old = row(seconds=1.0), row("svc", 10.0)
    assert not list(check.slower(old, (row(seconds=4.0), row("svc", 20.0))))
    assert list(check.slower(old, (row(seconds=5.0), row("svc", 20.0)))) == [
        "ratio to the peer 0.1 -> 0.25"
    ]


def test_what_got_worse_is_named(capsys):
    repeats = [check.Repeat("entry", row(seed=k), row("svc", seed=k)) for k in (0, 1)]

    def run(job):
        bad = job["solver"] == "kboost" and job["dataset_parameters"]["seed"] == 1
        return ROW | ({"test_error": 0.5} if bad else {})

    (words,) = check.check(repeats, run)
    assert words == "entry, forest, {'seed': 1}: test_error 0.2 -> 0.5"
    assert "{'seed': 0}: as good" in capsys.readouterr().out


def test_results_of_other_code_are_listed(tmp_path):
    for name, code in (("old", "abc"), ("new", "def")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"code": code}))
    assert check.stale(tmp_path, lambda: "def") == ["old"]


@pytest.mark.parametrize("entry", check.ENTRIES)
def test_every_entry_has_something_to_repeat(entry):
    assert check.chosen(entry, check.stored(entry))
