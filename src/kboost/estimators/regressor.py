"""CG-Boost and sparse regression ensembles: a sparse mixture of kernels inside a tube."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from kboost._estimator.predictors import KernelRegressorMixin
from kboost._rules import NOT_NEGATIVE, UNIT, Rule, check_params, optional
from kboost._typing import FloatArray
from kboost.data.merged_rows import merge_rows
from kboost.estimators._kernel_boost import (
    MARGIN_RULES,
    MarginEstimator,
    ValidationInput,
    is_monitored,
    library_plan,
    margin_parts,
    prepare,
    run_plan,
    solver_settings,
    validation_fraction,
)
from kboost.formulations import MarginRows, nu_tube, pinball, tube
from kboost.plans.bases import ActiveColumns, HalfspaceColumns, KernelColumns
from kboost.plans.margin_plan import MarginFit, MarginPlan
from kboost.plans.training_data import TrainingData, check_price, quantile_of, regression
from kboost.settings import ActiveGaussians, Barrier, ColumnGeneration, Halfspaces, Quantile

_SOLVER = Rule(
    "'cg', 'barrier', a ColumnGeneration or a Barrier",
    lambda v: (
        (isinstance(v, str) and v in ("cg", "barrier")) or isinstance(v, ColumnGeneration | Barrier)
    ),
)
_EPSILON = Rule(
    "zero or positive, a Quantile", lambda v: isinstance(v, Quantile) or NOT_NEGATIVE.holds(v)
)
_RULES = MARGIN_RULES | {
    "epsilon": optional(_EPSILON),
    "nu": optional(UNIT),
    "solver": _SOLVER,
}
_NU = 0.5
_LARGEST = 1e100  # target; squares, and sums of them, stay finite
_COLUMN_ATTRIBUTES = ("centers_", "widths_", "directions_", "cuts_", "selected_features_")


class KernelBoostRegressor(KernelRegressorMixin, MarginEstimator):
    """Regress with a sparse mixture of kernels, grown by column generation (CG-Boost, SRE).

    Every pair of a kernel and a training point is a candidate column ``k(., x_j)``. Column
    generation finds the few columns that the problem

        minimise  sum_j |coef_j| + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)

    needs, and certifies the distance to the optimum over all candidates. With `nu` the half-width
    epsilon of the tube is a variable with the cost ``C nu sum_i w_i``: about that fraction of the
    rows ends outside the tube or on its border. With ``epsilon=Quantile(0.9)``, from
    :mod:`kboost.settings`, the errors above and below have different costs, and the function is
    that quantile of the targets.

    Parameters
    ----------
    kernels : "auto", "precomputed", "active", "halfspaces", list or settings, default="auto"
        The library; see :class:`KernelBoostClassifier`. Two libraries are infinite: "active" or
        :class:`kboost.settings.ActiveGaussians` optimises the centres and widths of Gaussians, and
        "halfspaces" or :class:`kboost.settings.Halfspaces` has columns ``[w.x > cut]``. They
        require ``penalty="l1"``.
    penalty : {"l1", "l2"}, default="l1"
        Norm of the coefficients that is penalised. With "l2" (half the squared norm) the optimum
        is dense, so `tol` and `max_columns` determine the size of the model.
    C : float or "auto", default="auto"
        Cost of errors outside the tube per row, as in scikit-learn's SVMs. "auto" follows a path of
        rising C and takes the value with the lowest error on held-out rows: the mean square, or
        the pinball loss of a quantile.
    epsilon : float, Quantile or None, default=None
        Half-width of the tube. None: it is found from `nu`. :class:`kboost.settings.Quantile`:
        quantile regression, without a tube.
    nu : float or None, default=None
        Upper bound of the fraction of rows outside the tube, in (0, 1]; 0.5 if neither it nor
        `epsilon` is given.
    nonnegative : bool, default=False
        Whether coefficients must be nonnegative.
    intercept : {"free", "penalized", "none"}, default="free"
        Whether the intercept is free, penalised like a coefficient, or absent.
    column_scaling : {"floored", "unit", None}, default="floored"
        What columns are divided by before they are penalised: their root mean square ("unit"),
        the same but at least 0.3 of the largest absolute value ("floored"), or nothing.
        `dual_coef_` always belongs to the unscaled columns.
    max_columns : int or None, default=None
        Most columns that are generated.
    max_iter : int, default=1000
        Most times that columns are added.
    max_seconds : float or None, default=None
        Time limit of the fit, half of it for the choice of C. With many rows the library then has
        as many of the centres as there is time for; without time for a column the model is a
        constant.
    tol : float, default=1e-4
        The fit stops when no column has a price above `tol`, or the relative gap is at most `tol`.
    solver : "cg", "barrier" or settings, default="cg"
        :class:`kboost.settings.ColumnGeneration` solves each problem exactly;
        :class:`kboost.settings.Barrier` is the barrier method of SRE. Both hold the columns per
        step, early stopping, and memory.
    random_state : int, RandomState instance or None, default=0
        Seed for the choice of held-out rows.
    n_jobs : int or None, default=None
        Threads for pricing and prediction. Predictions do not depend on it.
    verbose : int, default=0
        1 logs every step.

    Attributes
    ----------
    epsilon_ : float
        Half-width of the tube; 0 for a quantile.
    C_ : float
        The C used.
    tuning_ : Tuning or None
        With ``C="auto"``: the values of C tried, their errors, and the index of the best.
    n_columns_ : int
        Columns in the model.
    columns_per_kernel_ : dict of str to int
        Columns of each kernel in the library.
    kernels_ : list of Kernel
        The library with its fitted widths; with active Gaussians, those to start from.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        Centre of each column (its row number, for precomputed kernels); None for halfspaces.
    widths_ : ndarray of shape (n_columns_,) or None
        Width of each active Gaussian.
    directions_, cuts_ : ndarray of shape (n_columns_, n_features_in_) and (n_columns_,) or None
        Each halfspace is 1 where ``directions_ @ z > cuts_`` and 0 elsewhere, with z the
        standardised features (for CSR, scaled only).
    selected_features_ : ndarray of int or None
        Features that the halfspaces use.
    dual_coef_ : ndarray of shape (n_columns_,)
        Coefficients of the columns, in the order of `kernels_`.
    intercept_ : float
        The intercept.
    objective_ : float
        Objective value.
    dual_gap_ : float
        Certified relative distance to the optimum over the whole library; with an infinite
        library, over the columns that the search found.
    stop_reason_ : StopReason
        Why the fit ended: ``.rule`` is the rule, ``str()`` a sentence.
    trace_ : Trace
        A record of each step.
    n_iter_ : int
        Number of times columns were added, at least 1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X has names.

    References
    ----------
    Bi, Zhang, Bennett: Column-generation boosting methods for mixture of kernels, KDD 2004.
    Raetsch, Demiriz, Bennett: Sparse regression ensembles in infinite and finite hypothesis
    spaces, Machine Learning 48, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost import KernelBoostRegressor
    >>> X = np.linspace(-6, 6, 120)[:, None]
    >>> y = np.sinc(X[:, 0])
    >>> model = KernelBoostRegressor(C=10.0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        penalty: str = "l1",
        C: float | str = "auto",
        epsilon: float | None = None,
        nu: float | None = None,
        nonnegative: bool = False,
        intercept: str = "free",
        column_scaling: str | None = "floored",
        max_columns: int | None = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        solver: Any = "cg",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.penalty = penalty
        self.C = C
        self.epsilon = epsilon
        self.nu = nu
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.column_scaling = column_scaling
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> KernelBoostRegressor:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.
        X_val : array-like or CSR matrix of shape (n_val, n_features), optional
            Validation rows for early stopping: the fit stops when their error no longer falls and
            keeps the step with the lowest error (TR3). With ``C="auto"`` they also choose C.
        y_val : array-like of shape (n_val,), optional
            Targets of the validation rows.
        sample_weight_val : array-like of shape (n_val,), optional
            Weights of the validation rows in the error.

        Returns
        -------
        KernelBoostRegressor
            The fitted estimator. After Ctrl-C it holds the columns found so far and
            KeyboardInterrupt is raised again; before the first step it stays unchanged.
        """
        validation = ValidationInput(X_val, y_val, sample_weight_val)
        return self._guarded_fit(
            lambda: run_plan(self, X, y, sample_weight, validation),
            X,
            y,
            sample_weight,
            validation,
        )


@prepare.register
def prepare_regressor(
    estimator: KernelBoostRegressor,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    """The plan and the training data of a regressor."""
    check_params(estimator.get_params(deep=False), _RULES)
    _check_combination(estimator)
    fraction = validation_fraction(estimator, validation)
    X, y, weight = estimator._checked(X, y, sample_weight, y_numeric=True)
    _check_size(estimator, y)
    checked = estimator._checked_validation(validation, y_numeric=True)
    data, values = merged_targets(X, y, weight, checked)
    # a free intercept takes up what the targets have in common, and the solvers keep their digits
    shift = _middle(values[data.rows.codes]) if estimator.intercept == "free" else 0.0
    epsilon = estimator.epsilon
    quantile = epsilon.quantile if isinstance(epsilon, Quantile) else None

    def attributes(fit: MarginFit) -> dict[str, Any]:
        given = epsilon if quantile is None else 0.0
        width = fit.results[0].fit.margin_width if given is None else float(given)
        columns = dict.fromkeys(_COLUMN_ATTRIBUTES)
        return {**columns, "C_": fit.C, "tuning_": fit.tuning, "epsilon_": width}

    base = regressor_base(estimator.kernels)
    parts = replace(margin_parts(estimator, base), rough_path=estimator.penalty == "l1")
    plan = MarginPlan(
        outputs=regression(values - shift, _formulation(epsilon, estimator.nu or _NU), quantile),
        library=library_plan(
            estimator,
            base,
            X.shape[0],
            memory_budget=solver_settings(estimator.solver).memory_budget,
            copies=parts.solver(monitored=is_monitored(estimator, validation)),
        ),
        parts=parts,
        C=parts if isinstance(estimator.C, str) else float(estimator.C),
        attributes=attributes,
        validation_fraction=fraction,
        constant=None
        if estimator.intercept == "none"
        else quantile_of(values - shift, quantile or 0.5),
        shift=shift,
        max_seconds=estimator.max_seconds,
        random_state=estimator.random_state,
        n_jobs=effective_n_jobs(estimator.n_jobs),
    )
    return plan, data


def _formulation(epsilon: Any, nu: float) -> Callable[[FloatArray, FloatArray, float], MarginRows]:
    """The rows of the problem, made from targets, weights and C."""
    if isinstance(epsilon, Quantile):
        return partial(pinball, quantile=epsilon.quantile)
    return partial(nu_tube, nu=nu) if epsilon is None else partial(tube, epsilon=epsilon)


def _check_size(estimator: KernelBoostRegressor, y: Any) -> None:
    """Raise for targets whose squares would overflow, or all vanish.

    With the 2-norm, targets y / s and the cost s C have the solution of y and C, divided by s.
    """
    largest = float(np.abs(y).max(initial=0.0))
    if largest and not 1 / _LARGEST <= largest <= _LARGEST:
        raise ValueError(
            f"y must be between {1 / _LARGEST:g} and {_LARGEST:g} at its largest, or zero; "
            f"got {largest:g}; scale it."
        )
    if largest and estimator.penalty == "l2" and not isinstance(estimator.C, str):
        check_price(float(estimator.C) / largest, "C over the largest size of y")


def regressor_base(kernels: Any) -> KernelColumns:
    """The base learners that `kernels` stands for."""
    if isinstance(kernels, str) and kernels in ("active", "halfspaces"):
        kernels = ActiveGaussians() if kernels == "active" else Halfspaces()
    if isinstance(kernels, ActiveGaussians):
        return ActiveColumns(kernels.kernels, kernels.width_bounds)
    if isinstance(kernels, Halfspaces):
        return HalfspaceColumns(sparsity=kernels.sparsity)
    return KernelColumns(kernels)


def merged_targets(
    X: Any, y: Any, weight: FloatArray, validation: tuple[Any, Any, FloatArray] | None
) -> tuple[TrainingData, FloatArray]:
    """Training and validation rows whose codes index the distinct targets, and these."""
    targets = y if validation is None else np.concatenate([y, validation[1]])
    values, codes = np.unique(np.asarray(targets, dtype=np.float64), return_inverse=True)
    rows, held_out = merge_rows(X, codes[: len(y)], weight), None
    if validation is not None:
        held_out = merge_rows(validation[0], codes[len(y) :], validation[2])
    return TrainingData(rows, held_out), values


def _check_combination(estimator: Any) -> None:
    """Raise for parameters that contradict each other."""
    if estimator.epsilon is not None and estimator.nu is not None:
        raise ValueError(
            "epsilon must be None with nu, which finds it; "
            f"got epsilon={estimator.epsilon!r} and nu={estimator.nu!r}."
        )
    solver, infinite = (
        estimator.solver,
        type(regressor_base(estimator.kernels)) is not KernelColumns,
    )
    settings = solver_settings(solver)
    if estimator.penalty != "l1" and (infinite or isinstance(settings, Barrier)):
        conflicting = (
            f"kernels={estimator.kernels!r}" if infinite else f"solver={estimator.solver!r}"
        )
        raise ValueError(
            f"penalty must be 'l1' with {conflicting}; got penalty={estimator.penalty!r}."
        )
    if infinite and isinstance(settings, ColumnGeneration):
        for name, default in (("pricing", "scan"), ("stop_at_errors", False)):
            if (value := getattr(settings, name)) != default:
                raise ValueError(
                    f"{name} must be {default!r} with kernels={estimator.kernels!r}; "
                    f"got {name}={value!r}."
                )


def _middle(values: FloatArray) -> float:
    """Half way between the extremes; independent of weights and repetitions."""
    return float(values.min() / 2 + values.max() / 2)
