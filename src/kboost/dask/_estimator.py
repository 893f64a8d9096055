"""The base of all estimators on a cluster: client, local estimator, blockwise predictions."""

from __future__ import annotations

import inspect
from copy import copy
from typing import Any, Self

import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from dask.delayed import delayed
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from kboost._typing import FloatArray
from kboost._validation import check_weights
from kboost.dask._input import (
    check_length,
    check_not_empty,
    example,
    find_client,
    is_frame,
    partitions,
    row_blocks,
)
from kboost.dask._scores import same_parts, score_on_workers
from kboost.dask._table import PartitionedTable
from kboost.dask._targets import per_row
from kboost.settings import ActiveGaussians, Halfspaces

_LOCAL_KERNELS = ("precomputed", "active", "halfspaces")


def with_client(cls: Any) -> Any:
    """Class decorator: the constructor of the local estimator, with a parameter `client`."""
    local = inspect.signature(cls.local_class.__init__)
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
    signature = local.replace(parameters=[*local.parameters.values(), client])

    def __init__(self: Any, *args: Any, **params: Any) -> None:  # noqa: N807
        given = signature.bind(self, *args, **params)
        given.apply_defaults()
        for name, value in list(given.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # scikit-learn reads it
    cls.__init__ = __init__
    return cls


class OnCluster:
    """Mixin for estimators whose `fit` leaves the rows on the workers."""

    local_class: Any
    client: Any

    def to_local(self) -> Any:
        """Return an equal estimator that does not require Dask.

        Returns
        -------
        estimator
            Fitted if this one is.
        """
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        params.pop("client")
        local = self.local_class(**params)
        vars(local).update({k: v for k, v in vars(self).items() if k not in {*params, "client"}})
        return local

    def predict(self, X: Any) -> Any:
        """Return a lazy collection of the predictions of all rows.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows; the AutoKernel estimators also accept a table in memory.

        Returns
        -------
        dask array, or series for a data frame
            Values or labels, in the partitions of X and with its index; a data frame for several
            targets. Rows in memory give an ndarray.
        """
        return self._blockwise("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of labels, or R squared of numbers.

        Collections with the same partitions are compared on the workers.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows; the AutoKernel estimators also accept a table in memory.
        y : dask array or series, or array-like, of shape (n,)
            Labels or targets.
        sample_weight : dask array or series, or array-like, of shape (n,), optional
            Weights.

        Returns
        -------
        float
            The score.
        """
        arguments = {"X": self.predict(X), "y": y, "sample_weight": sample_weight}
        collections = [each for each in arguments.values() if each is not None]
        if all(map(is_dask_collection, collections)) and same_parts(*collections):
            client = find_client(self.client)
            return score_on_workers(client, *arguments.values(), labels=is_classifier(self))
        predicted, y, weight = (
            per_row(find_client(self.client), name, each) if is_dask_collection(each) else each
            for name, each in arguments.items()
        )
        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, predicted, sample_weight=weight))

    def _warn_of_classes(self, X: Any, y: Any, sample_weight: Any) -> None:
        """No warning: the rows stay on the workers."""

    def _blockwise(self, method: str, X: Any, **options: Any) -> Any:
        check_is_fitted(self, "n_columns_")
        X = row_blocks(X)
        self._check_columns(X)
        local = self.to_local()
        one = self._one_row(local, method, options)
        model = self._carried(local)
        if is_frame(X):
            names = self._names(method)
            empty = _labelled(one, X._meta_nonempty.index[:1], names)[:0]
            return X.map_partitions(_series, model, method, options, empty, names, meta=empty)
        like, narrow = one[:0], one.ndim == 1
        return X.map_blocks(
            _answer,
            model,
            method,
            options,
            like,
            dtype=like.dtype,
            meta=like,
            drop_axis=1 if narrow else None,
            chunks=None if narrow else (X.chunks[0], (like.shape[1],)),
        )

    def _names(self, method: str) -> Any:
        """The names of the columns of a result for a data frame, if it has several."""

    def _check_columns(self, X: Any) -> None:
        """Raise unless the collection has the features of `fit`."""
        validate_data(self, example(X), reset=False, skip_check_array=True)

    def _one_row(self, local: Any, method: str, options: dict[str, Any]) -> Any:
        """The result of the method for some row, with its shape and dtype."""
        nameless = copy(local)
        vars(nameless).pop("feature_names_in_", None)
        return getattr(nameless, method)(np.zeros((1, local.n_features_in_)), **options)

    def _carried(self, local: Any) -> Any:
        """The model for all blocks: scattered to the workers, or in the graph without a client."""
        try:
            client = find_client(self.client)
        except ValueError:
            return delayed(local, pure=False, traverse=False)
        vars(local).pop("centers_", None)  # for display only: the model has its own
        return client.scatter(local, broadcast=True, hash=False)

    def _table(self, X: Any) -> PartitionedTable:
        X = row_blocks(X)
        validate_data(self, example(X), reset=True, skip_check_array=True)
        self._check_kernels()
        return self._partitioned(X)

    def _partitioned(self, X: Any) -> PartitionedTable:
        client = find_client(self.client)
        return PartitionedTable(client, partitions(client, X), type(self).__name__)

    def _check_kernels(self) -> None:
        kernels = self.kernels  # type: ignore[attr-defined]
        is_refused = isinstance(kernels, str) and kernels in _LOCAL_KERNELS
        if is_refused or isinstance(kernels, ActiveGaussians | Halfspaces):
            raise ValueError(
                f"kernels must be evaluated at rows in kboost.dask; got kernels={kernels!r}."
            )

    def _checked(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        y_numeric: bool = False,
        multi_output: bool = False,
        **_: Any,
    ) -> tuple[Any, Any, FloatArray]:
        """Check the input of `fit` on the workers; see `_targets.py` for what the client gets."""
        table = self._table(X)
        check_not_empty(table.shape[0])
        y, weight = self._numbers(
            y, sample_weight, table.shape[0], y_numeric=y_numeric, multi_output=multi_output
        )
        return table, y, weight

    def _numbers(
        self,
        y: Any,
        sample_weight: Any,
        n_rows: int,
        *,
        y_numeric: bool,
        multi_output: bool = False,
        suffix: str = "",
    ) -> tuple[Any, FloatArray]:
        """Targets and weights on the client, checked; names of the arguments have the suffix."""
        client, name = find_client(self.client), f"y{suffix}"
        y = per_row(client, name, y)
        check_length(y, n_rows, name)
        if y_numeric:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name=name)
        y = y if multi_output and y.ndim == 2 else column_or_1d(y, warn=True)
        name = f"sample_weight{suffix}"
        if sample_weight is not None:
            sample_weight = per_row(client, name, sample_weight)
        return y, check_weights(sample_weight, n_rows, name=name)

    @property
    def partial_fit(self) -> Any:
        """Not available on a cluster."""
        raise AttributeError("partial_fit requires a local estimator; call to_local() first.")

    def __sklearn_clone__(self) -> Self:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        client = params.pop("client")  # shared, not copied
        copied = {name: clone(value, safe=False) for name, value in params.items()}
        make: Any = type(self)
        copy_: Self = make(**copied, client=client)
        return copy_

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "client": None}  # a connection cannot be pickled


class LabelsOnCluster(OnCluster):
    """Mixin for classifiers on a cluster: decision values and probabilities, block by block."""

    classes_: Any

    def _names(self, method: str) -> Any:
        return self.classes_

    def decision_function(self, X: Any) -> Any:
        """Return the decision values as a lazy collection.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows; the AutoKernel estimators also accept a table in memory.

        Returns
        -------
        dask array, or series for a data frame
            (n,); for more than two classes (n, n_classes), a data frame with their names.
        """
        return self._blockwise("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class as a lazy collection.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows; the AutoKernel estimators also accept a table in memory.

        Returns
        -------
        dask array, or data frame for a data frame, of shape (n, n_classes)
            Probabilities in the order of `classes_`, which are the names of the columns.
        """
        return self._blockwise("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of each class as a lazy collection.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows; the AutoKernel estimators also accept a table in memory.

        Returns
        -------
        dask array, or data frame for a data frame, of shape (n, n_classes)
            In the order of `classes_`, which are the names of the columns.
        """
        return self._blockwise("predict_log_proba", X)


# On a worker -------------------------------------------------------------------------------------


def _answer(block: Any, model: Any, method: str, options: dict[str, Any], like: Any) -> Any:
    """The result for one block; empty for an empty block."""
    return getattr(model, method)(block, **options) if len(block) else like


def _series(
    part: Any, model: Any, method: str, options: dict[str, Any], empty: Any, names: Any
) -> Any:
    """The result for one partition of a data frame, with its index."""
    if not len(part):
        return empty
    values = getattr(model, method)(part, **options)
    return _labelled(values, part.index, names).astype(
        empty.dtype if values.ndim == 1 else empty.dtypes
    )


def _labelled(values: Any, index: Any, names: Any) -> Any:
    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=names)
