"""Work that is shared out on a cluster: kept values, and workers that are lost with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kboost.dask._workers import Workers
from kboost.local.executor import Executor


def scaled(values, factor):
    return [factor * value for value in values]


def test_values_that_are_kept_are_worked_on_again_and_again(client):
    values = [[1, 2], [3], [4]]
    ask, there = Executor(2).bind(scaled, values), Workers(client).bind(scaled, values)
    for factor in (1, 10):
        assert there(factor) == ask(factor) == [scaled(own, factor) for own in values]


def test_an_answer_comes_even_if_the_worker_that_kept_the_value_dies(client, tmp_path):
    flag = str(tmp_path / "died")

    def fatal(values, factor):
        if factor == 10 and not os.path.exists(flag):
            Path(flag).touch()
            os._exit(1)
        return scaled(values, factor)

    ask = Workers(client).bind(fatal, [[1, 2], [3]])
    assert ask(1) == [[1, 2], [3]]
    assert ask(10) == [[10, 20], [30]]
    assert os.path.exists(flag)
    assert ask(2) == [[2, 4], [6]]


@pytest.mark.parametrize("threads", [{}, {"there": 2}])
def test_without_a_worker_of_its_own_a_value_is_given_to_tasks(client, monkeypatch, threads):
    """No worker is there yet, or their actors would share one thread."""
    monkeypatch.setattr(client, "nthreads", lambda: threads)
    monkeypatch.setattr("kboost.dask._workers._BoundWork", None)  # nobody makes an actor
    ask = Workers(client).bind(scaled, [[1, 2], [3]])
    assert ask(2) == ask(2) == [[2, 4], [6]]


def test_errors_are_those_of_the_work(client):
    with pytest.raises(TypeError, match="can't multiply"):
        Workers(client).bind(scaled, [["a"]])("b")
