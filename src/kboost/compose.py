"""Column generation composed from parts: formulation, oracle, master and stop rule.

The estimators here run the loop of the KernelBoost estimators with parts of your own. The contracts
of the parts are in `kboost.core.protocols`, and `kboost.testing` has tests for them:

    formulation   what the targets and weights of the rows mean for the master
    oracle        proposes columns of the library, from the weights of the last fit
    master        solves for the coefficients of the columns added so far
    stop          is called with the trace after each step; returns a reason to stop, or None
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from kboost._estimator.labels import check_two_classes, encode_labels
from kboost._estimator.parameter_rules import RULES
from kboost._estimator.predictors import KernelClassifierMixin, KernelRegressorMixin
from kboost._rules import Rule, check_params
from kboost._typing import FloatArray
from kboost.core.protocols import Master, Oracle
from kboost.core.stopping import AnyOf, GapBelow, MaxIterations, PriceBelow, StopRule
from kboost.data.merged_rows import merge_rows
from kboost.estimators._kernel_boost import (
    MarginEstimator,
    ValidationInput,
    library_plan,
    prepare,
    run_plan,
)
from kboost.estimators.regressor import merged_targets
from kboost.formulations import hinge, tube
from kboost.masters.lp import LPMaster
from kboost.oracles.scan import ScanOracle
from kboost.plans.bases import KernelColumns
from kboost.plans.margin_plan import MarginPlan
from kboost.plans.training_data import (
    OutputSet,
    TrainingData,
    class_balance,
    one_vs_rest,
    quantile_of,
    regression,
)

__all__ = ["ColumnGenerationClassifier", "ColumnGenerationRegressor"]

_STARTS = Rule(
    "an object (not a class) with a method start, or None",
    lambda v: v is None or (hasattr(v, "start") and not isinstance(v, type)),
)
_CALLABLE = Rule("callable, or None", lambda v: v is None or callable(v))
_STOPS = Rule(
    "callable (not a class), or None",
    lambda v: v is None or (callable(v) and not isinstance(v, type)),
)
_NAMES = ("column_scaling", "max_seconds", "memory_budget", "n_jobs", "verbose")
_RULES = {name: RULES[name] for name in _NAMES} | {
    "formulation": _CALLABLE,
    "oracle": _STARTS,
    "master": _STARTS,
    "stop": _STOPS,
}
_STOP = AnyOf((PriceBelow(1e-4), GapBelow(1e-4), MaxIterations(1000)))


@dataclass(frozen=True)
class ComposedParts:
    """The parts given by the user, whatever the library."""

    given_oracle: Oracle[Any]
    given_master: Master[Any]
    given_stop: StopRule

    def oracle(self, library: Any) -> Oracle[Any]:
        """The oracle."""
        return self.given_oracle

    def master(self, library: Any, *, monitored: bool) -> Master[Any]:
        """The master."""
        return self.given_master

    def stop(self, *, monitored: bool) -> StopRule:
        """The stop rule."""
        return self.given_stop


class _Composed(MarginEstimator):
    """Parameters and `fit` of both estimators."""

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        formulation: Callable[[FloatArray, FloatArray], Any] | None = None,
        oracle: Any = None,
        master: Any = None,
        stop: StopRule | None = None,
        column_scaling: str | None = "floored",
        max_seconds: float | None = None,
        memory_budget: int = 2**30,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.formulation = formulation
        self.oracle = oracle
        self.master = master
        self.stop = stop
        self.column_scaling = column_scaling
        self.max_seconds = max_seconds
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Run column generation with the given parts.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Labels or targets.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        try:
            return self._guarded_fit(
                lambda: run_plan(self, X, y, sample_weight, ValidationInput()),
                X,
                y,
                sample_weight,
            )
        except AttributeError as error:
            if (self.master is None) != (self.formulation is None):
                missing = "master" if self.master is None else "formulation"
                error.add_note(
                    "A master reads the attributes of the rows that the formulation returns; "
                    f"{missing} is the default here, give one that fits."
                )
            raise


class ColumnGenerationClassifier(KernelClassifierMixin, _Composed):
    """Classify with column generation composed from parts.

    More than two classes are fitted one-vs-rest on shared columns.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`kboost.KernelBoostClassifier`.
    formulation : callable or None, default=None
        Called with signs (-1 or 1) and sample weights, both of shape (n,); returns the rows that
        the master solves for. None: ``kboost.formulations.hinge`` with ``C=1.0``.
    oracle : object or None, default=None
        ``oracle.start(problem)`` returns a search with a method ``propose(run)``. None:
        ``kboost.oracles.scan.ScanOracle(columns_per_step=10)``.
    master : object or None, default=None
        ``master.start(problem)`` returns a run with the attribute ``fit`` and the methods
        ``price`` and ``extend``; see ``kboost.core.base_run.BaseRun`` for the others. None:
        ``kboost.masters.lp.LPMaster()``.
    stop : callable or None, default=None
        Called with the trace after each step; returns a ``kboost.core.stopping.StopReason`` or
        None. None: a price or a gap of at most 1e-4, or 1000 steps.
    column_scaling : {"floored", "unit", None}, default="floored"
        What columns are divided by; see KernelBoostClassifier.
    max_seconds : float or None, default=None
        Time limit of the fit.
    memory_budget : int, default=2**30
        Bytes for blocks of kernel values.
    n_jobs : int or None, default=None
        Threads for classes, pricing and prediction.
    verbose : int, default=0
        1 logs every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_columns_, columns_per_kernel_, kernels_, centers_, dual_coef_, intercept_, objective_, \
    dual_gap_, stop_reason_, trace_, n_iter_, n_features_in_, feature_names_in_ : see above
        As for :class:`kboost.KernelBoostClassifier`; `dual_gap_` is None if the master has no
        bound.

    Examples
    --------
    A search that adds one column per step, and a limit on the number of columns:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.compose import ColumnGenerationClassifier
    >>> from kboost.core.stopping import MaxColumns
    >>> from kboost.oracles.scan import ScanOracle
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ColumnGenerationClassifier(oracle=ScanOracle(1), stop=MaxColumns(8))
    >>> model.fit(X, y).n_iter_
    8
    >>> model.score(X, y) > 0.9
    True
    """


class ColumnGenerationRegressor(KernelRegressorMixin, _Composed):
    """Regress with column generation composed from parts.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`kboost.KernelBoostClassifier`.
    formulation : callable or None, default=None
        Called with targets and sample weights, both of shape (n,); returns the rows that the
        master solves for. None: ``kboost.formulations.tube`` with ``C=1.0`` and ``epsilon=0.1``.
    oracle, master, stop, column_scaling, max_seconds, memory_budget, n_jobs, verbose : optional
        As for :class:`ColumnGenerationClassifier`.

    Attributes
    ----------
    n_columns_, columns_per_kernel_, kernels_, centers_, dual_coef_, intercept_, objective_, \
    dual_gap_, stop_reason_, trace_, n_iter_, n_features_in_, feature_names_in_ : see above
        As for :class:`kboost.KernelBoostRegressor`; `dual_gap_` is None if the master has no bound.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.compose import ColumnGenerationRegressor
    >>> from kboost.masters.qp import QPMaster
    >>> X = np.linspace(-3, 3, 80)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = ColumnGenerationRegressor(["rbf"], master=QPMaster()).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """


@prepare.register
def prepare_composed_classifier(
    estimator: ColumnGenerationClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    """The plan and the training data of a composed classifier."""
    check_params(estimator.get_params(deep=False), _RULES)
    X, y, weight = estimator._checked(X, y, sample_weight)
    rows = merge_rows(X, encode_labels(estimator, y), weight)
    check_two_classes(estimator.classes_, rows.codes)
    formulation = estimator.formulation or partial(hinge, C=1.0)
    outputs = one_vs_rest(
        len(estimator.classes_), lambda signs, weight, C: formulation(signs, weight)
    )
    plan = _plan(estimator, outputs, X.shape[0])
    return replace(plan, constant=class_balance), TrainingData(rows)


@prepare.register
def prepare_composed_regressor(
    estimator: ColumnGenerationRegressor,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    """The plan and the training data of a composed regressor."""
    check_params(estimator.get_params(deep=False), _RULES)
    X, y, weight = estimator._checked(X, y, sample_weight, y_numeric=True)
    data, values = merged_targets(X, np.asarray(y), weight, None)
    formulation = estimator.formulation or partial(tube, C=1.0, epsilon=0.1)
    outputs = regression(values, lambda targets, weight, C: formulation(targets, weight))
    return replace(_plan(estimator, outputs, X.shape[0]), constant=quantile_of(values)), data


def _plan(estimator: Any, outputs: OutputSet, n_input_rows: int) -> MarginPlan:
    parts = ComposedParts(
        estimator.oracle or ScanOracle(columns_per_step=10),
        estimator.master or LPMaster(),
        estimator.stop or _STOP,
    )
    library = library_plan(
        estimator,
        KernelColumns(estimator.kernels),
        n_input_rows,
        memory_budget=estimator.memory_budget,
    )
    return MarginPlan(
        outputs=outputs,
        library=library,
        parts=parts,
        C=1.0,
        attributes=lambda fit: {},
        max_seconds=estimator.max_seconds,
        n_jobs=effective_n_jobs(estimator.n_jobs),
    )
