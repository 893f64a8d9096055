"""Sparse kernel machines on rows in the partitions of a cluster."""

from __future__ import annotations

from kboost.dask._estimator import LabelsOnCluster, OnCluster, with_client
from kboost.dask._location import OnWorkers
from kboost.dask._table import PartitionedTable
from kboost.estimators.sparse_classifier import SparseKernelClassifier
from kboost.estimators.sparse_regressor import SparseKernelRegressor
from kboost.plans.sparse import Location


class _Sparse(OnCluster):
    """The location of the rows, for the sparse kernel machines."""

    def _location(self, X: PartitionedTable, *, lazy: bool) -> Location:
        return OnWorkers(X)


@with_client
class DaskSparseKernelRegressor(_Sparse, SparseKernelRegressor):
    """`SparseKernelRegressor` on a Dask cluster.

    `fit` takes dask arrays or data frames, in partitions of any size, and gives the model of the
    local estimator for the same rows and seed, up to rounding. Features stay on the workers: only
    targets, weights and hashes (a few numbers per row), samples of rows (at most 64 MB), single
    features where cells are cut, and the model come to the client. The work of a lost worker is
    repeated by the others, if the graph of X allows it. `predict` returns a dask array, or a series
    with the index of a data frame.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.SparseKernelRegressor`. ``kernels="precomputed"`` is
        not supported; `n_jobs` applies to predictions of the local estimator only.

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
class DaskSparseKernelClassifier(LabelsOnCluster, _Sparse, SparseKernelClassifier):
    """`SparseKernelClassifier` on a Dask cluster.

    See :class:`DaskSparseKernelRegressor` for the data that leave the workers.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.SparseKernelClassifier`. ``kernels="precomputed"`` is
        not supported; `n_jobs` applies to predictions of the local estimator only.

    See Also
    --------
    kboost.SparseKernelClassifier : The same on one machine, with all parameters and attributes.
    """

    local_class = SparseKernelClassifier
