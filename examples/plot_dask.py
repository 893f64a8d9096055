"""
Fitting on a Dask cluster
=========================

The rows stay in the partitions of the cluster. The model equals that of the local estimator for the
same rows and seed, up to rounding.
"""

import warnings

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from kboost import SparseKernelClassifier
from kboost.dask import DaskSparseKernelClassifier
from kboost.kernels import Gaussian

# %%
# A cluster of two workers in this process; in practice, use the address of a scheduler.

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)

# %%
# Two spirals in the plane, in partitions of different sizes.


def rows(n, seed):
    rng = np.random.default_rng(seed)
    turn, side = rng.uniform(0.5, 3.5, n) * np.pi, rng.integers(0, 2, n)
    arms = np.column_stack([np.cos(turn + np.pi * side), np.sin(turn + np.pi * side)])
    return arms * turn[:, None] + rng.normal(0, 0.5, (n, 2)), side


sizes = (2500, 1200, 3000, 1300)
parts = [rows(n, seed) for seed, n in enumerate(sizes)]
X = da.concatenate([da.from_array(part, chunks=-1) for part, _ in parts])
y = da.concatenate([da.from_array(labels, chunks=-1) for _, labels in parts])
print("partitions of", X.chunks[0], "rows")

# %%
# ``fit`` takes dask arrays, and predictions are dask arrays, computed on request.

settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1, "cells": 500}
model = DaskSparseKernelClassifier(client=client, **settings).fit(X, y)
X_new, y_new = rows(20_000, 99)
labels = model.predict(da.from_array(X_new, chunks=5000))
print(type(labels).__name__, f"accuracy {np.mean(labels.compute() == y_new):.4f}")

# %%
# ``to_local`` returns an ordinary estimator. A local fit to the same rows gives the same model.

local = SparseKernelClassifier(**settings).fit(X.compute(), y.compute())
shipped = model.to_local()
apart = np.abs(shipped.decision_function(X_new) - local.decision_function(X_new)).max()
print(f"{type(shipped).__name__} in {shipped.n_cells_} cells; values differ by at most {apart:.0e}")

# %%
# The decision surface, and some of the rows.

line = np.linspace(X_new.min(), X_new.max(), 200)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
figure, axis = plt.subplots(figsize=(5.2, 4.8), layout="constrained")
values = shipped.decision_function(grid).reshape(200, 200)
axis.contourf(line, line, values, [-9, -0.5, 0, 0.5, 9], cmap="RdBu", alpha=0.6)
axis.scatter(*X_new[:1500].T, c=y_new[:1500], cmap="RdBu", s=3)
axis.set(xticks=[], yticks=[], aspect="equal")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    client.close()
    cluster.close()
plt.show()
