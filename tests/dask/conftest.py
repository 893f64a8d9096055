"""One cluster of two processes for all tests here."""

from __future__ import annotations

import multiprocessing
import time

import pytest

dask = pytest.importorskip("dask", reason="kboost[dask] is not installed")
pytest.importorskip("dask.dataframe", reason="kboost[dask] is not installed")
distributed = pytest.importorskip("distributed", reason="kboost[dask] is not installed")


def fast_starts():
    """Settings with which a worker begins as a copy of a process that has imported everything.

    Several tests end a worker; the one in its place would spend seconds on imports.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return {}
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    with dask.config.set(method):
        distributed.utils.get_mp_context()  # names what to import, which is then replaced
    names = ["distributed", "dask.array", "dask.dataframe", "distributed.nanny", "kboost.dask"]
    multiprocessing.get_context("forkserver").set_forkserver_preload(names)
    return method


@pytest.fixture(scope="session")
def cluster():
    # A lost worker is looked for again after that long, and given up if it is away just then: 15
    # seconds by default, at which another test may have ended it anew.
    patience = {"distributed.deploy.lost-worker-timeout": "1 hour"}
    with (
        dask.config.set(patience | fast_starts()),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
        ) as started,
    ):
        yield started


def wait_until_idle(scheduler, timeout=60):
    """Wait until the scheduler has forgotten the client of the test before, and its tasks.

    A message about such a task goes to every client. A client that gets one together with the
    reply to its registration fails in an assertion of distributed.
    """
    end = time.monotonic() + timeout
    while (scheduler.client_comms or scheduler.tasks) and time.monotonic() < end:
        time.sleep(0.01)


@pytest.fixture
def client(cluster):
    wait_until_idle(cluster.scheduler)
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected
