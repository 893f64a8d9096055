"""Rows in the partitions of a cluster: the best mixture of kernels for a collection.

The encoding of a table is learned on a random sample of the rows, except for the means and
frequencies of categories, which are those of all rows. Each partition is prepared where it is. The
search reads the rows that it needs; the members of its winner are fitted on the workers.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_random_state

from kboost._typing import FloatArray, IntArray
from kboost._validation import check_weights
from kboost.auto.learning_rows import row_counts
from kboost.core.deadline import Deadline
from kboost.dask._estimator import LabelsOnCluster, OnCluster, with_client
from kboost.dask._given_rows import GivenRows
from kboost.dask._input import (
    check_length,
    check_not_empty,
    example,
    find_client,
    row_blocks,
)
from kboost.dask._prepared_table import PreparedTable
from kboost.dask._targets import per_row
from kboost.estimators.auto_classifier import AutoKernelClassifier
from kboost.estimators.auto_regressor import AutoKernelRegressor
from kboost.preparation.all_rows import counted_columns, with_all_rows
from kboost.preparation.target import target_columns

SMALL = 20_000  # rows that are computed and fitted on the client
SAMPLE = 100_000  # rows on which the preparation is learned
_ENTRIES = 1 << 24  # values in them


class _Auto(OnCluster):
    """The preparation on a sample, and the search on rows of the workers."""

    preparation_: Any

    def _check_place(self, X: Any) -> None:
        row_blocks(X)

    def _learn(self, X: Any, y: Any, sample_weight: Any, started: float) -> None:
        self._check_given(X, y)  # type: ignore[attr-defined]
        client = find_client(self.client)
        y, weight = _on_client(client, "y", y), _on_client(client, "sample_weight", sample_weight)
        super()._learn(X, y, weight, started)  # type: ignore[misc]

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, task: str, deadline: Deadline
    ) -> tuple[Any, FloatArray]:
        """The rows as numbers, on the workers if they are many, and their weights."""
        client, X = find_client(self.client), row_blocks(X)
        collection = GivenRows(client, X)
        n_rows = len(collection)
        check_not_empty(n_rows)
        check_length(y, n_rows)
        weight = check_weights(sample_weight, n_rows)
        drawn = self._drawn(weight, X.shape[1])
        table = collection.take(drawn)
        rows = self._fit_preparation(  # type: ignore[attr-defined]
            table, y[drawn], weight[drawn], task, deadline
        )
        if n_rows <= SMALL:
            return rows, row_counts(weight)
        # a row is not encoded by its own target, in the sample as outside of it
        if len(drawn) < np.count_nonzero(weight) and counted_columns(self.preparation_):
            target = target_columns(y[drawn], weight[drawn], task)
            parts = self._by_all_rows(collection, y, weight, target)
        else:
            changed = np.flatnonzero((rows != self.preparation_.transform(table)).any(axis=0))
            parts = collection.prepared(self.preparation_, drawn, changed, rows[:, changed])
        return PreparedTable(client, parts, type(self).__name__), row_counts(weight)

    def _by_all_rows(self, rows: GivenRows, y: Any, weight: FloatArray, target: Any) -> list[Any]:
        """The partitions as numbers, with the means and frequencies of levels in all rows."""
        levels = rows.levels(self.preparation_)
        encoder = with_all_rows(self.preparation_, levels, y, weight, target)
        self.preparation_ = encoder.preparation
        return rows.encoded(encoder)

    def _drawn(self, weight: FloatArray, n_columns: int) -> IntArray:
        """The numbers of the rows on which the preparation is learned."""
        if len(weight) <= SMALL:
            return np.arange(len(weight))
        weighted = np.flatnonzero(weight > 0)
        size = max(SMALL, min(SAMPLE, _ENTRIES // max(1, n_columns)))
        rng = check_random_state(self.random_state)  # type: ignore[attr-defined]
        return np.sort(weighted[rng.permutation(len(weighted))[:size]])

    def _blockwise(self, method: str, X: Any, **options: Any) -> Any:
        if is_dask_collection(X):
            return super()._blockwise(method, X, **options)
        return getattr(self.to_local(), method)(X, **options)

    def _check_columns(self, X: Any) -> None:
        self.preparation_._places(example(X))

    def _one_row(self, local: Any, method: str, options: dict[str, Any]) -> Any:
        plain = copy(local)
        plain.preparation_ = FunctionTransformer()
        return getattr(plain, method)(np.zeros((1, local.estimator_.n_features_in_)), **options)


@with_client
class DaskAutoKernelRegressor(_Auto, AutoKernelRegressor):
    """`AutoKernelRegressor` on a Dask cluster.

    `fit` takes dask arrays or data frames of any kinds of columns, in partitions of any size; y and
    sample_weight may also be in memory. Up to 20,000 rows are computed and fitted on the client.
    With more, the preparation of the table is learned on at most 100,000 rows drawn at random,
    except for means and frequencies of categories of many values, which are those of all rows;
    kernels are compared on the rows that the local estimator would take, and all rows are fitted
    on the workers. Up to 50,000 rows (fewer, if there are more than 160 columns) the model is that
    of the local estimator, up to rounding.
    `predict` returns a dask array for a dask array, a series with the index of a data frame, and
    an array for rows in memory.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.AutoKernelRegressor`; `n_jobs` applies on the
        client only.

    See Also
    --------
    kboost.AutoKernelRegressor : The same on one machine, with all parameters and attributes.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kboost.dask import DaskAutoKernelRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:  # doctest: +SKIP
    ...     X = da.random.random((30_000, 3), chunks=(5_000, 3))
    ...     model = DaskAutoKernelRegressor(client=client).fit(X, X.sum(axis=1))
    ...     values = model.predict(X).compute()
    ...     local = model.to_local()
    """

    local_class = AutoKernelRegressor

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Return an interval for each row as a lazy collection.

        Parameters
        ----------
        X : dask array, data frame, or table in memory
            With the columns of `fit`.
        coverage : float, default=0.9
            Share of new targets that the intervals contain, between 0 and 1.

        Returns
        -------
        dask array of shape (n, 2), or data frame for a data frame
            Lower and upper bounds; a data frame has columns "lower" and "upper". Rows in memory
            give an ndarray.
        """
        return self._blockwise("predict_interval", X, coverage=coverage)

    def _names(self, method: str) -> Any:
        return ["lower", "upper"]


@with_client
class DaskAutoKernelClassifier(LabelsOnCluster, _Auto, AutoKernelClassifier):
    """`AutoKernelClassifier` on a Dask cluster.

    See :class:`DaskAutoKernelRegressor` for what is done where. Probabilities are calibrated on
    rows left out.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.AutoKernelClassifier`; `n_jobs` applies on the
        client only.

    See Also
    --------
    kboost.AutoKernelClassifier : The same on one machine, with all parameters and attributes.
    """

    local_class = AutoKernelClassifier


def _on_client(client: Any, name: str, values: Any) -> Any:
    """The values of all rows on the client, where they may be already."""
    return per_row(client, name, values) if is_dask_collection(values) else values
