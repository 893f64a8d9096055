"""Kernel boosting whose pricing is shared by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kboost._typing import FloatArray
from kboost.dask._estimator import OnCluster, with_client
from kboost.dask._library import DistributedLibrary
from kboost.dask._rows import DistributedRows
from kboost.data.merged_rows import MergedRows
from kboost.estimators.classifier import KernelBoostClassifier
from kboost.estimators.regressor import KernelBoostRegressor
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel


class _Boost(OnCluster):
    """Where rows and library are, for the engine of kernel boosting."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Grow the mixture; the workers price the library.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Training rows.
        y : dask array or series of shape (n,)
            Targets or labels.
        sample_weight : dask array or series of shape (n,), optional
            Weights; a row of weight two equals the row given twice.
        X_val, y_val, sample_weight_val : None
            Not on a cluster; `validation_fraction` holds rows out there.

        Returns
        -------
        self
            The fitted estimator.
        """
        val = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        for name, given in val.items():
            if given is not None:
                raise ValueError(
                    f"{name} must be None in kboost.dask; use validation_fraction, or fit "
                    f"to_local(); got {type(given).__name__}."
                )
        return self._fit(X, y, sample_weight, **val)  # type: ignore[attr-defined]

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Any, Any, FloatArray]:
        base = getattr(self, "base", "kernels")
        if base != "kernels":
            raise ValueError(f"base must be 'kernels' in kboost.dask; got base={base!r}.")
        table, y, weight = super()._checked(X, y, sample_weight, **options)
        return DistributedRows(table), y, weight

    def _lined_up(
        self, rows: MergedRows, resolve: Callable[[Any], Sequence[Kernel]], options: dict[str, Any]
    ) -> Any:
        kernels = rows.X.together(
            _resolved,
            self._library(),  # type: ignore[attr-defined]
            rows.weight,
            getattr(self, "feature_names_in_", None),
        ).result()
        kept = {k: v for k, v in options.items() if k not in ("measured_on", "n_jobs")}
        return DistributedLibrary(kernels, rows.X, **kept)


def _resolved(rows: FloatArray, kernels: Any, weight: FloatArray, names: Any) -> tuple[Kernel, ...]:
    """On a worker: the kernels, from all rows as it is done locally."""
    return as_kernels(kernels, rows, sample_weight=weight, feature_names=names)


@with_client
class DaskKernelBoostRegressor(_Boost, KernelBoostRegressor):
    """`KernelBoostRegressor` on a Dask cluster: the workers share the pricing of the library.

    `fit` gives the model that the local estimator gives for the same rows and seed, to rounding.
    Every worker gets the centres, and keeps the kernel values of its own rows within the memory
    budget; the master works on the client, on the columns that were chosen.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.KernelBoostRegressor`; ``kernels="precomputed"`` and
        bases other than "kernels" are refused.

    See Also
    --------
    kboost.KernelBoostRegressor : The same on one machine, with all parameters and attributes.
    """

    local_class = KernelBoostRegressor


@with_client
class DaskKernelBoostClassifier(_Boost, KernelBoostClassifier):
    """`KernelBoostClassifier` on a Dask cluster: the workers share the pricing of the library.

    See :class:`DaskKernelBoostRegressor` for what is where.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the client that is running.
    **others
        All parameters of :class:`kboost.KernelBoostClassifier`; ``kernels="precomputed"`` is
        refused.

    See Also
    --------
    kboost.KernelBoostClassifier : The same on one machine, with all parameters and attributes.
    """

    local_class = KernelBoostClassifier

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

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, block by block, when they are computed.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows.

        Returns
        -------
        dask array of shape (n, n_classes)
            In the order of `classes_`.
        """
        return self._blockwise("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities, block by block, when they are computed.

        Parameters
        ----------
        X : dask array or data frame of shape (n, n_features)
            Rows.

        Returns
        -------
        dask array of shape (n, n_classes)
            In the order of `classes_`.
        """
        return self._blockwise("predict_log_proba", X)
