"""One cluster of two processes for all tests here."""

from __future__ import annotations

import pytest

dask = pytest.importorskip("dask", reason="kboost[dask] is not installed")
pytest.importorskip("dask.dataframe", reason="kboost[dask] is not installed")
distributed = pytest.importorskip("distributed", reason="kboost[dask] is not installed")


@pytest.fixture(scope="session")
def cluster():
    # A lost worker is looked for again after that long, and given up if it is away just then: 15
    # seconds by default, at which another test may have ended it anew.
    patience = {"distributed.deploy.lost-worker-timeout": "1 hour"}
    with (
        dask.config.set(patience),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
        ) as started,
    ):
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected
