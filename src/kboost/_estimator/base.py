"""The base of every estimator: a guarded fit, the fitted attributes of a model, prediction, tags.

`fit` of an estimator turns its parameters into a plan, lets one function run it, and shows what
came back as fitted attributes. What happens around that is here: callbacks, progress, the old
state after an error, Ctrl-C raised again once the model is kept, and one warning for a limit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Self

from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.callbacks import CallbackSupportMixin, fit_task, with_callbacks
from kboost._estimator.explanation import ExplainMixin
from kboost._estimator.fingerprint import fingerprint
from kboost._estimator.pickling import PackedPickleMixin
from kboost._estimator.predictor import CompiledSum, Decision, Predictor
from kboost._estimator.progress import show_progress
from kboost._estimator.settled import settled
from kboost._estimator.shared_centers import share_centers, shares_centers
from kboost._rules import check_params, one_of
from kboost._typing import FloatArray
from kboost._validation import check_table, plain_rows, unchanged_on_error
from kboost.columns.float32 import to_float32
from kboost.core.checkpoint import whole_fit
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED, StopReason
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names
from kboost.solvers.threads import one_blas_thread

_REPEATED = ("centers_", "columns_per_kernel_", "dual_coef_")  # follow from model and kernels


class KernelEstimator(PackedPickleMixin, ExplainMixin, CallbackSupportMixin, BaseEstimator):
    """An estimator whose fitted model is a sum of kernel columns."""

    _limits: frozenset[str] = frozenset({"max_iter", "max_seconds", "precision", "solver"})
    _predict_dtype = "float64"
    n_features_in_: int

    # Fitting -----------------------------------------------------------------------------------

    @with_callbacks
    def _guarded_fit(
        self,
        learn: Callable[[], None],
        X: Any,
        y: Any,
        sample_weight: Any,
        validation: Any = None,
    ) -> Self:
        """Call `learn`, which sets the fitted attributes, or leave the estimator as it was.

        After Ctrl-C the model found so far is kept and KeyboardInterrupt raised again.
        """
        with settled(self):
            with fit_task(self, X, y, sample_weight):
                saved = whole_fit(partial(fingerprint, self, X, y, sample_weight, validation))
                progress = show_progress(getattr(self, "verbose", 0))
                with saved, unchanged_on_error(self), progress:
                    learn()
                if any(reason.rule == INTERRUPTED.rule for reason in self._reasons()):
                    raise KeyboardInterrupt
            self._warn_of_limits()
            self._warn_of_classes(X, y, sample_weight)
        return self

    def _reasons(self) -> Sequence[StopReason]:
        """Why each output stopped."""
        reason: Any = getattr(self, "stop_reason_", [])
        return [reason] if isinstance(reason, StopReason) else reason

    def _warn_of_limits(self) -> None:
        """One warning if a limit ended the fit before the optimum."""
        for reason in self._reasons():
            if reason.rule in self._limits:
                message = f"{type(self).__name__} did not converge: {reason}"
                warnings.warn(message, ConvergenceWarning, stacklevel=5)
                return

    def _warn_of_classes(self, X: Any, y: Any, sample_weight: Any) -> None:
        """One warning if a classifier leaves out a class; others have none."""

    # Fitted attributes -------------------------------------------------------------------------

    def _set_model(self, model: AdditiveModel, kernels: Sequence[Kernel], no_centers: Any) -> None:
        """Set the attributes that describe the columns; parts in the order of the kernels."""
        number = {kernel: p for p, kernel in enumerate(kernels)}
        parts: list[Any] = sorted(model.parts, key=lambda part: number[part.kernel])
        self._model, self.centers_ = share_centers(AdditiveModel(tuple(parts), model.bias))
        if self.centers_ is None:
            self.centers_ = no_centers
        self.kernels_ = list(kernels)
        self._set_counts()
        self._set_coefficients()

    def _set_counts(self) -> None:
        """The number of columns of each kernel."""
        number = {kernel: p for p, kernel in enumerate(self.kernels_)}
        counts = [0] * len(number)
        for part in self._model.parts:
            counts[number[part.kernel]] += len(part.coef)
        names = unique_names([repr(kernel) for kernel in self.kernels_])
        self.columns_per_kernel_ = dict(zip(names, counts, strict=True))

    def _set_coefficients(self) -> None:
        """Coefficients of the model: flat for one output, else one row per output."""
        model: AdditiveModel = self._model
        single = len(model.bias) == 1
        self.n_columns_ = model.n_columns
        self.dual_coef_ = model.coef[:, 0] if single else model.coef.T
        self.intercept_ = float(model.bias[0]) if single else model.bias

    # Storage -----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """The attributes; None for those that the model repeats."""
        state: dict[str, Any] = dict(super().__getstate__())
        if shares_centers(state.get("_model"), state.get("centers_")):
            state.update(dict.fromkeys(_REPEATED))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if all(state.get(name, self) is None for name in _REPEATED):
            self._model, self.centers_ = share_centers(self._model)
            self._set_counts()
            self._set_coefficients()

    # Prediction --------------------------------------------------------------------------------

    def set_predict_dtype(self, dtype: str) -> Self:
        """Choose the arithmetic of predictions.

        Parameters
        ----------
        dtype : {"float64", "float32"}
            "float32" is faster and takes half the memory; values stay within 1e-5 of
            ``sum_j |coef_j k(., c_j)|``.

        Returns
        -------
        self
            The estimator.
        """
        check_params({"dtype": dtype}, {"dtype": one_of("float64", "float32")})
        self._predict_dtype = dtype
        return self

    def compile(self, n_jobs: int | None = None) -> Predictor:
        """Prepare the model for fast predictions, one row at a time or in large batches.

        Parameters
        ----------
        n_jobs : int or None, default=None
            Threads of large batches; None: `n_jobs` of the estimator, or all cores if that is None.

        Returns
        -------
        Predictor
            An object with the methods `predict`, `predict_proba`, ... of the estimator. Later
            fits do not change it.
        """
        check_is_fitted(self, "n_columns_")
        return Predictor(self, n_jobs)

    def _compiled(self, n_jobs: int) -> Decision:
        """`_decision` for the predictor of the fitted model."""
        values = CompiledSum(self._model, self._predict_dtype, n_jobs)
        return lambda X: values(self._quickly_checked(X))

    def _quickly_checked(self, X: Any) -> Any:
        """Rows in float64; input other than an array of finite numbers is checked in full."""
        rows = plain_rows(X, self.n_features_in_)
        return check_table(self, X, reset=False) if rows is None else rows

    def _decision(self, X: Any) -> FloatArray:
        """The values of the model, (n, n_outputs)."""
        check_is_fitted(self, "n_columns_")
        return self._values_at(check_table(self, X, reset=False))

    def _values_at(self, rows: Any) -> FloatArray:
        """The values of the model at checked rows."""
        model: AdditiveModel = self._model
        if self._predict_dtype == "float32":
            model = AdditiveModel(tuple(map(to_float32, model.parts)), model.bias)
        several = len(model.chunks(*rows.shape)) > 1
        with one_blas_thread() if several else nullcontext():
            return model.decision(rows, effective_n_jobs(getattr(self, "n_jobs", None)))

    # scikit-learn ------------------------------------------------------------------------------

    @property
    def _is_precomputed(self) -> bool:
        kernels = getattr(self, "kernels", None)
        return isinstance(kernels, str) and kernels == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def flat(values: FloatArray) -> FloatArray:
    """Values (n, 1) as (n,); several outputs stay (n, n_outputs)."""
    return values[:, 0] if values.shape[1] == 1 else values


def scalar_or_list(values: Sequence[Any]) -> Any:
    """The value of a single output, or the list of all."""
    return values[0] if len(values) == 1 else list(values)
