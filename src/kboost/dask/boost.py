"""Kernel boosting whose pricing is shared by the workers of a cluster."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from kboost._typing import FloatArray
from kboost._validation import has_validation
from kboost.core.deadline import Deadline
from kboost.dask._estimator import LabelsOnCluster, OnCluster, with_client
from kboost.dask._input import check_not_empty, row_blocks
from kboost.dask._library import DistributedLibrary
from kboost.dask._rows import DistributedRows
from kboost.data.merged_rows import MergedRows
from kboost.estimators._kernel_boost import ValidationInput, prepare, run_plan
from kboost.estimators.classifier import KernelBoostClassifier, prepare_classifier
from kboost.estimators.regressor import KernelBoostRegressor, prepare_regressor
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel
from kboost.plans.library import LibraryPlan
from kboost.plans.margin_plan import MarginPlan
from kboost.plans.training_data import TrainingData


class TableLibrary(LibraryPlan):
    """A library whose columns are computed where the rows are."""

    @classmethod
    def like(cls, plan: LibraryPlan) -> TableLibrary:
        """The same library on a cluster."""
        return cls(**{field.name: getattr(plan, field.name) for field in fields(plan)})

    def build(self, rows: MergedRows, deadline: Deadline, *, among: float = 1) -> Any:
        """The library of rows on the workers."""
        kernels = rows.X.together(
            _resolved, self.base.kernels, rows.weight, self.feature_names
        ).result()
        options = self.library_options(rows, deadline, among)
        del options["measured_on"], options["n_jobs"]  # of local rows only
        return DistributedLibrary(kernels, rows.X, **options)


class _Boost(OnCluster):
    """Kernel boosting with rows and library on a cluster."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Fit the mixture; the workers price the library.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Training rows.
        y : dask array or series of shape (n,)
            Targets or labels.
        sample_weight : dask array or series of shape (n,), optional
            Weights; a row of weight two equals the row given twice.
        X_val, y_val : dask array or data frame, optional
            Validation rows for early stopping, which also choose C with ``C="auto"``; they stay on
            the workers as those of X.
        sample_weight_val : dask array or series of shape (n_val,), optional
            Weights of the validation rows in the error.

        Returns
        -------
        self
            The fitted estimator.
        """
        validation = ValidationInput(X_val, y_val, sample_weight_val)
        return self._guarded_fit(  # type: ignore[attr-defined]
            lambda: run_plan(self, X, y, sample_weight, validation),
            X,
            y,
            sample_weight,
            validation,
        )

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Any, Any, FloatArray]:
        table, y, weight = super()._checked(X, y, sample_weight, **options)
        return DistributedRows(table), y, weight

    def _checked_validation(
        self, validation: ValidationInput, *, y_numeric: bool = False
    ) -> tuple[Any, Any, FloatArray] | None:
        given = validation.X_val, validation.y_val, validation.sample_weight_val
        if not has_validation(*given):
            return None
        X = row_blocks(validation.X_val, "X_val")
        self._check_columns(X)
        table = self._partitioned(X)
        check_not_empty(table.shape[0], "X_val")
        y, weight = self._numbers(*given[1:], table.shape[0], y_numeric=y_numeric, suffix="_val")
        return DistributedRows(table), y, weight


def _resolved(rows: FloatArray, kernels: Any, weight: FloatArray, names: Any) -> tuple[Kernel, ...]:
    """The kernels from all rows, as on one machine; runs on a worker."""
    return as_kernels(kernels, rows, sample_weight=weight, feature_names=names)


@with_client
class DaskKernelBoostRegressor(_Boost, KernelBoostRegressor):
    """`KernelBoostRegressor` on a Dask cluster: the workers share the pricing of the library.

    `fit` gives the model that the local estimator gives for the same rows and seed, to rounding;
    with 10,000 rows or more, where the local one starts from a sample, both are optimal to `tol`.
    Every worker gets the centres and keeps the kernel values of its rows within the memory budget;
    the master solves on the client with the chosen columns.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; the running client by default.
    **others
        All parameters of :class:`kboost.KernelBoostRegressor`, except that `kernels` must not be
        "precomputed", "active" or "halfspaces".

    See Also
    --------
    kboost.KernelBoostRegressor : The same on one machine, with all parameters and attributes.
    """

    local_class = KernelBoostRegressor


@with_client
class DaskKernelBoostClassifier(LabelsOnCluster, _Boost, KernelBoostClassifier):
    """`KernelBoostClassifier` on a Dask cluster: the workers share the pricing of the library.

    See :class:`DaskKernelBoostRegressor` for where the data are.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; the running client by default.
    **others
        All parameters of :class:`kboost.KernelBoostClassifier`, except that `kernels` must not be
        "precomputed".

    See Also
    --------
    kboost.KernelBoostClassifier : The same on one machine, with all parameters and attributes.
    """

    local_class = KernelBoostClassifier


@prepare.register
def _prepare_regressor(
    estimator: DaskKernelBoostRegressor,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    plan, data = prepare_regressor(estimator, X, y, sample_weight, validation)
    return replace(plan, library=TableLibrary.like(plan.library)), data


@prepare.register
def _prepare_classifier(
    estimator: DaskKernelBoostClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    plan, data = prepare_classifier(estimator, X, y, sample_weight, validation)
    return replace(plan, library=TableLibrary.like(plan.library)), data
