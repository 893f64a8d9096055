"""Ours in cells on a Dask cluster: `n_workers` processes of one thread; the rest as kboost_cells.

The cluster is up and the training rows are on its workers before the clock starts, as they are in
memory for everybody else. Test rows start from the client, and predictions end there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray
from benchmarks.solvers import kboost_cells

CHUNKS = 4  # of the rows


class Solver(kboost_cells.Solver):
    def __init__(self, n_workers: int = 2, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.n_workers = n_workers

    def prepare(self, data: Data) -> None:
        import dask.array as da
        from distributed import Client, LocalCluster, wait

        from kboost.dask import DaskSparseKernelClassifier

        cluster = LocalCluster(
            n_workers=self.n_workers, threads_per_worker=1, dashboard_address=":0"
        )
        client = Client(cluster, direct_to_workers=True)  # they can be reached from here
        client.run(_import)
        size = -(-len(data.X_train) // CHUNKS)
        self.X = da.from_array(data.X_train, chunks=(size, -1)).persist()
        self.y = da.from_array(data.y_train, chunks=size).persist()
        wait([self.X, self.y])
        self.estimator = self.build(DaskSparseKernelClassifier, client=client)

    def fit(self, data: Data) -> Model:
        return Model(self.estimator.fit(self.X, self.y))


class Model(kboost_cells.Model):
    def predict(self, X: FloatArray) -> FloatArray:
        import dask.array as da

        size = -(-len(X) // CHUNKS)
        return np.asarray(self.estimator.predict(da.from_array(X, chunks=(size, -1))).compute())


def _import() -> None:
    import kboost.dask  # noqa: F401
