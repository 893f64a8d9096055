"""Dask: a worker, or the scheduler, is lost in some phase of the fit.

A phase is a part of the time that an undisturbed fit on the same cluster takes.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from benchmarks.faults.kind import Begin, Kind
from benchmarks.faults.outcome import LOSS, Outcome, same, sentence, usable
from benchmarks.faults.subjects import DASK, Subject
from kboost.core.deadline import now

_TIMES = 10  # as many rows as in other tries
_SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.comm.timeouts.connect": "3s",
    "distributed.worker.multiprocessing-method": "forkserver",
}


def _lost(lose: Callable[[Any, Any], None]) -> Kind:
    def lost(subject: Subject, draw: Random, begin: Begin) -> Outcome:
        import dask
        import distributed

        with (
            dask.config.set(_SETTINGS),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            client.wait_for_workers(2, timeout=60)
            begin()
            started = now()
            subject.fit(subject.make(client=client), _data(subject))
            moment = draw.random() * (now() - started)
            timer = threading.Timer(moment, lose, (cluster, client))
            timer.start()
            outcome = _fitted(subject, client)
            timer.cancel()
            return outcome

    return Kind(lost, limit=60.0, among=DASK)


def _data(subject: Subject) -> tuple[Any, Any]:
    import dask.array

    rows, y = subject.data(_TIMES)
    chunk = len(rows) // 4
    return dask.array.from_array(rows, (chunk, -1)), dask.array.from_array(np.asarray(y), chunk)


def _fitted(subject: Subject, client: Any) -> Outcome:
    model = subject.make(client=client)
    before = dict(vars(model))
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            subject.fit(model, _data(subject))
    except Exception as error:
        if not same(vars(model), before):
            return Outcome(LOSS, f"half a state after {error!r}"[:400])
        words = str(error)
        lost = "cancel" in words.lower() or "Killed" in type(error).__name__
        return Outcome("sentence", repr(error)[:400]) if lost else sentence(error)
    return usable(model.to_local())


def _kill_worker(cluster: Any, client: Any) -> None:
    worker = next(iter(cluster.workers.values()))
    os.kill(worker.process.pid, signal.SIGKILL)


def _close_scheduler(cluster: Any, client: Any) -> None:
    cluster.loop.add_callback(cluster.scheduler.close)


KINDS = {
    "Dask worker killed": _lost(_kill_worker),
    "Dask scheduler lost": _lost(_close_scheduler),
}
