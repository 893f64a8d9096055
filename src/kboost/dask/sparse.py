"""Sparse kernel machines on rows in the partitions of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import Deadline
from kboost.dask._candidates import DistributedCandidates
from kboost.dask._cells import fit_cells
from kboost.dask._estimator import OnCluster, with_client
from kboost.dask._rows import DistributedRows
from kboost.dask._workers import Workers
from kboost.data.indexed_rows import IndexedRows
from kboost.estimators.sparse_classifier import SparseKernelClassifier, is_logistic
from kboost.estimators.sparse_regressor import SparseKernelRegressor
from kboost.kernels.base import Kernel
from kboost.local.cells import CellFit, CellSpec
from kboost.local.choice import LocalChoice, choose_local
from kboost.local.rows import LocalRows


class _Sparse(OnCluster):
    """Where rows are, for the engine of the sparse kernel machines."""

    def _candidates(
        self, kernels: Sequence[Kernel], X: Any, rows: IndexedRows, lazy: bool
    ) -> CandidateColumns:
        return DistributedCandidates(kernels, X, order=rows.order, center_rows=rows.center_rows)

    def _watch(self, X: Any, held: IndexedRows) -> Any:
        watch: Any = super()._watch(DistributedRows(X), held)  # type: ignore[misc]
        return watch

    def _choose_local(
        self, rows: LocalRows, size: int, rng: np.random.Generator, deadline: Deadline
    ) -> tuple[LocalChoice, bool]:
        return choose_local(rows, size, rng, Workers(rows.X.client), deadline)

    def _fit_cells(
        self, spec: CellSpec, rows: LocalRows, rng: np.random.Generator, deadline: Deadline
    ) -> CellFit:
        return fit_cells(spec, rows, rng, deadline)


@with_client
class DaskSparseKernelRegressor(_Sparse, SparseKernelRegressor):
    """`SparseKernelRegressor` on a Dask cluster.

    `fit` takes dask arrays or data frames, in partitions of any size, and gives the model that the
    local estimator gives for the same rows and seed, to rounding. Features stay on the workers:
    what comes to the client are targets, weights and hashes (numbers a row), samples of rows (64 MB
    at most), single features where cells are cut, and the model. What a lost worker had is made
    again by the others, as long as the graph of X says how. `predict` returns a dask array.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.SparseKernelRegressor`. ``kernels="precomputed"`` is
        refused; `n_jobs` is for predictions of the local twin only.

    See Also
    --------
    kboost.SparseKernelRegressor : The same on one machine, with all parameters and attributes.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kboost.dask import DaskSparseKernelRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:  # doctest: +SKIP
    ...     X = da.random.random((1000, 3), chunks=(250, 3))
    ...     model = DaskSparseKernelRegressor(client=client).fit(X, X.sum(axis=1))
    ...     local = model.to_local()
    """

    local_class = SparseKernelRegressor


@with_client
class DaskSparseKernelClassifier(_Sparse, SparseKernelClassifier):
    """`SparseKernelClassifier` on a Dask cluster.

    See :class:`DaskSparseKernelRegressor` for what stays on the workers and what does not.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.SparseKernelClassifier`. ``kernels="precomputed"`` is
        refused; `n_jobs` is for predictions of the local twin only.

    See Also
    --------
    kboost.SparseKernelClassifier : The same on one machine, with all parameters and attributes.
    """

    local_class = SparseKernelClassifier

    def decision_function(self, X: Any) -> Any:
        """Return the model's values, block by block, when they are computed.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows.

        Returns
        -------
        dask array
            (n,), or (n, n_classes) for more than two classes.
        """
        return self._blockwise("decision_function", X)

    @available_if(is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, block by block; only with ``loss="log"``.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows.

        Returns
        -------
        dask array of shape (n, n_classes)
            Probabilities.
        """
        return self._blockwise("predict_proba", X)
