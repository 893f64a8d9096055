"""CG-Boost and sparse regression ensembles: a sparse mixture of kernels inside a tube."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.base import RegressorMixin

from kboost._estimator.parameter_rules import RULES
from kboost._rules import (
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    UNIT,
    Rule,
    check_params,
    one_of,
    optional,
)
from kboost._typing import FloatArray
from kboost._validation import check_validation
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import GenerationResult
from kboost.core.protocols import EdgePricer, Master, PathMaster, PathOracle
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.estimators._kernel_boost import PATH_TOL, KernelBoostBase
from kboost.formulations import MarginRows, nu_tube, tube
from kboost.masters.barrier import BarrierMaster
from kboost.masters.lp import LPMaster
from kboost.plans.bases import BASES, Resolve
from kboost.plans.training_data import Task, TrainingData
from kboost.solvers.margin_lp import Intercept

_BOUNDS = Rule(
    "two positive widths from 1e-100 to 1e100, the lower one first, or None",
    lambda v: (
        v is None
        or (
            isinstance(v, tuple | list)
            and len(v) == 2
            and all(map(POSITIVE.holds, v))
            and 1e-100 <= v[0] < v[1] <= 1e100  # their squares must be numbers
        )
    ),
)
_RULES = RULES | {
    "solver": one_of("cg", "barrier"),
    "base": one_of("kernels", "active", "halfspaces"),
    "width_bounds": _BOUNDS,
    "halfspace_sparsity": FRACTION,
    "epsilon": optional(NOT_NEGATIVE),
    "nu": optional(UNIT),
}
_NU = 0.5
_DEFAULTS = {"width_bounds": None, "halfspace_sparsity": 0.7}
# Active columns crowd around the peaks they were climbing to, and hardly differ in their edges.
_CROWDED = {
    "inactive_edge": 0.97,
    "inactive_coef": 1e-2,
    "gap_fraction": 0.5,
    "resume_gap": 1.0,
    "inactive_gap_factor": 2.0,
    "crossover_gap": 1e-5,
    "patience": 30,
}


class KernelBoostRegressor(RegressorMixin, KernelBoostBase):
    """Regress with a sparse mixture of kernels, grown column by column.

    Every pair of a kernel and a training point is a candidate column ``k(., x_j)``. Column
    generation picks the few that the problem

        minimise  sum_j |coef_j| + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)

    needs. With `nu` the half-width epsilon of the tube is found too, at a price of
    ``C nu sum_i w_i``: about that fraction of the rows ends outside the tube or on its border.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`KernelBoostClassifier`.
    solver : {"cg", "barrier"}, default="cg"
        Who sets the coefficients: linear programs solved exactly, or a barrier method that comes
        from the inside and ends at a vertex too.
    base : {"kernels", "active", "halfspaces"}, default="kernels"
        What the columns are: kernels at training points; Gaussians whose centres and widths are
        moved to where they help most, starting from `kernels` (Gaussians only; five widths by
        default); or halfspaces ``[w.x > cut]`` with few features each (for few rows of many
        features). The last two libraries are infinite: `dual_gap_` is relative to their search.
    penalty : {"l1", "l2"}, default="l1"
        The norm of the coefficients that is penalised. With "l2" the optimum is dense, and `tol`
        and `max_columns` are parameters of the model.
    C : float or "auto", default="auto"
        Price of a unit of error outside the tube, a row, as in scikit-learn's SVMs. "auto"
        follows a path of rising C on held-out rows and takes the value of the lowest error.
    epsilon : float or None, default=None
        Half-width of the tube. None: it is found from `nu`.
    nu : float or None, default=None
        Bound of the fraction of rows outside the tube, in (0, 1]; 0.5 when neither it nor
        `epsilon` is given.
    width_bounds : tuple of two floats or None, default=None
        With ``base="active"``: the interval of the widths (standard deviations of the Gaussians,
        on standardised features if `kernels` is "auto"); a little beyond those to start from by
        default.
    halfspace_sparsity : float, default=0.7
        With ``base="halfspaces"``: nearer 1 halfspaces look at fewer features, in (0, 1).
    nonnegative : bool, default=False
        Whether coefficients must not be negative.
    intercept : {"free", "penalized", "none"}, default="free"
        The offset: outside the penalty, inside it, or absent.
    column_scaling : {"unit", None}, default="unit"
        Whether columns are scaled to unit root mean square before they are penalised.
    columns_per_step : int or "auto", default="auto"
        How many columns are added, at most, before the coefficients are solved for again. With
        ``base="halfspaces"`` it is one, or without a free offset a pair, whatever more is allowed.
    max_columns : int or None, default=None
        How many columns may be generated.
    max_iter : int, default=1000
        How many times columns may be added.
    max_seconds : float or None, default=None
        Time limit of the fit.
    tol : float, default=1e-4
        Stop when no column has a price above it, or the relative gap is not above it.
    validation_fraction : float or None, default=None
        PathFit of the rows to hold out; the fit stops when their squared error no longer falls, and
        the step of the lowest error is kept.
    n_iter_no_change : int, default=5
        How many steps without a lower held-out error are waited for.
    memory_budget : int, default=2**30
        Bytes that blocks of kernel values may take, in all.
    random_state : int, RandomState instance or None, default=0
        Draws the rows that are held out.
    pricing : {"scan", "stratified"}, default="scan"
        How columns are searched; see :class:`KernelBoostClassifier`.
    stop_at_errors : bool, default=False
        Whether to stop when no column centred at a point outside the tube is worth its price.
    predict_dtype : {"float64", "float32"}, default="float64"
        Arithmetic of the kernels at prediction. "float32" is faster and takes half the memory; the
        values stay within 1e-5 of ``sum_j |coef_j k(., c_j)|``. It may be set after `fit`.
        Halfspaces stay in float64, as rounding would change sides.
    n_jobs : int or None, default=None
        Threads of the scans, and of predictions for many rows.
    verbose : int, default=0
        1 shows every step.

    Attributes
    ----------
    epsilon_ : float
        The half-width of the tube.
    C_ : float
        The price of errors used.
    tuning_ : Tuning or None
        With ``C="auto"``: the values of C tried, their errors, and the place of the best.
    n_columns_ : int
        Columns in the model.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel of the library.
    kernels_ : list of Kernel
        The library, with the widths found; those to start from, with ``base="active"``.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        The centre of each column (its row number, for precomputed kernels); None for halfspaces.
    widths_ : ndarray of shape (n_columns_,) or None
        With ``base="active"``: the width of each column.
    directions_, cuts_ : ndarray of shape (n_columns_, n_features_in_) and (n_columns_,) or None
        With ``base="halfspaces"``: each column is 1 where ``directions_ @ z > cuts_``, z the
        standardised features (scaled only, for CSR), and 0 elsewhere.
    selected_features_ : ndarray of int or None
        With ``base="halfspaces"``: the features that the model looks at.
    coef_ : ndarray of shape (n_columns_,)
        Coefficients of the columns, kernel after kernel in the order of `kernels_`.
    intercept_ : float
        The offset.
    objective_ : float
        The objective of the problem solved.
    dual_gap_ : float
        Proven relative distance to the optimum over the whole library; with an infinite one
        (`base`), over what its search found.
    stop_reason_ : str
        Why the fit ended.
    trace_ : Trace
        What happened at each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

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
        solver: str = "cg",
        base: str = "kernels",
        penalty: str = "l1",
        C: float | str = "auto",
        epsilon: float | None = None,
        nu: float | None = None,
        width_bounds: tuple[float, float] | None = None,
        halfspace_sparsity: float = 0.7,
        nonnegative: bool = False,
        intercept: str = "free",
        column_scaling: str | None = "unit",
        columns_per_step: int | str = "auto",
        max_columns: int | None = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 5,
        memory_budget: int = 2**30,
        random_state: Any = 0,
        pricing: str = "scan",
        stop_at_errors: bool = False,
        predict_dtype: str = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.solver = solver
        self.base = base
        self.penalty = penalty
        self.C = C
        self.epsilon = epsilon
        self.nu = nu
        self.width_bounds = width_bounds
        self.halfspace_sparsity = halfspace_sparsity
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.column_scaling = column_scaling
        self.columns_per_step = columns_per_step
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.pricing = pricing
        self.stop_at_errors = stop_at_errors
        self.predict_dtype = predict_dtype
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
        """Grow the mixture.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.
        X_val : array-like or CSR matrix of shape (n_val, n_features), optional
            Rows of your own to judge by, in place of `validation_fraction`: the fit stops when
            their error no longer falls and keeps the step of the lowest one (TR3). With
            ``C="auto"`` they also judge the values of C.
        y_val : array-like of shape (n_val,), optional
            Their targets.
        sample_weight_val : array-like of shape (n_val,), optional
            Their weights in the error.

        Returns
        -------
        KernelBoostRegressor
            The fitted estimator. After Ctrl-C it holds the columns found so far and the
            interrupt is raised again; before the first step it stays as it was.
        """
        return self._fit(
            X, y, sample_weight, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val
        )

    def predict(self, X: Any) -> FloatArray:
        """Return the value of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return self._decision(X)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> TrainingData:
        check_params(self.get_params(deep=False), _RULES)
        self._check_combination()
        X, y, weight = self._checked(X, y, sample_weight, y_numeric=True)
        checked = check_validation(self, **validation, y_numeric=True)
        targets = y if checked is None else np.concatenate([y, checked[1]])
        values, codes = np.unique(np.asarray(targets, dtype=np.float64), return_inverse=True)
        rows, held = merge_rows(X, codes[: len(y)], weight), None
        if checked is not None:
            held = merge_rows(checked[0], codes[len(y) :], checked[2])
        # a free offset takes up what the targets have in common; solvers keep their digits
        self._shift = _middle(values[rows.codes]) if self.intercept == "free" else 0.0
        values = values - self._shift

        def error(held: MergedRows) -> Callable[[FloatArray], float]:
            targets, share = values[held.codes], held.weight / held.weight.sum()
            return lambda decision: float(share @ (targets - decision) ** 2)

        def formulate(rows: MergedRows, C: float) -> MarginRows:
            if self.epsilon is not None:
                return tube(values[rows.codes], rows.weight, C, self.epsilon)
            return nu_tube(values[rows.codes], rows.weight, C, self.nu or _NU)

        return TrainingData(rows, [Task(formulate, error)], X.shape[0], held)

    def _check_combination(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.epsilon is not None and self.nu is not None:
            raise ValueError(
                "epsilon and nu must not both be given, one fixes what the other finds; "
                f"got epsilon={self.epsilon!r} and nu={self.nu!r}."
            )
        special = {"solver": "cg", "base": "kernels"}
        chosen = [name for name, plain in special.items() if getattr(self, name) != plain]
        for name in chosen:
            given = f"{name}={getattr(self, name)!r}"
            for other, plain in (("penalty", "l1"), ("pricing", "scan"), ("stop_at_errors", False)):
                if (value := getattr(self, other)) != plain:
                    raise ValueError(
                        f"{other} must be {plain!r} with {given}; got {other}={value!r}."
                    )
        for name, base in (("width_bounds", "active"), ("halfspace_sparsity", "halfspaces")):
            if self.base != base and getattr(self, name) != _DEFAULTS[name]:
                raise ValueError(
                    f"{name} must be {_DEFAULTS[name]!r} with base={self.base!r}, it is about "
                    f"base={base!r}; got {name}={getattr(self, name)!r}."
                )
        if self.base == "halfspaces" and not (
            isinstance(self.kernels, str) and self.kernels == "auto"
        ):
            raise ValueError(
                "kernels must be 'auto' with base='halfspaces', which has no kernels; "
                f"got kernels={self.kernels!r}."
            )
        if self.base == "active" and isinstance(self.kernels, str) and self.kernels != "auto":
            raise ValueError(
                "kernels must be 'auto' or a list of Gaussians with base='active', which moves "
                f"their centres and widths; got kernels={self.kernels!r}."
            )

    def _lined_up(self, rows: MergedRows, resolve: Resolve, options: dict[str, Any]) -> Any:
        if self.base in BASES:
            return BASES[self.base].library(self, rows, resolve, options)
        return super()._lined_up(rows, resolve, options)

    def _oracle(self, per_step: int) -> PathOracle:
        if self.base in BASES:
            return BASES[self.base].oracle(self, per_step, self.tol)
        return super()._oracle(per_step)

    def _tuning_oracle(self, per_step: int) -> PathOracle:
        """The kernels that active ones start from are good enough to find C by."""
        if self.base == "halfspaces":
            return BASES[self.base].oracle(self, per_step, PATH_TOL)
        return super()._tuning_oracle(per_step)

    def _master(self, library: KernelLibrary, *, watched: bool = False) -> Master[EdgePricer]:
        if self.solver == "barrier":
            intercept = cast(Intercept, self.intercept)
            return BarrierMaster(self.nonnegative, intercept, tol=self.tol, basic=watched)
        return super()._master(library, watched=watched)

    def _path_master(self, library: KernelLibrary, **options: Any) -> PathMaster:
        if self.base == "halfspaces":  # a column or two a step: each step counts
            return LPMaster(self.nonnegative, cast(Intercept, self.intercept))
        if self.base == "active":
            options = {**_CROWDED, **options}
        return super()._path_master(library, **options)

    def _show(self, library: KernelLibrary, parts: Sequence[Any]) -> tuple[Any, ...]:
        for name in ("centers_", "widths_", "directions_", "cuts_", "selected_features_"):
            setattr(self, name, None)
        if self.base not in BASES:
            return super()._show(library, parts)
        self.kernels_ = list(getattr(library, "kernels", ()))
        for name, value in BASES[self.base].show(parts, self.n_features_in_).items():
            setattr(self, name, value)
        return tuple(parts)

    def _keep(self, library: KernelLibrary, grown: Sequence[GenerationResult]) -> None:
        (found,) = grown
        fit, shift = found.fit, self._shift
        fit = replace(fit, bias=fit.bias + shift, decision=fit.decision + shift)
        super()._keep(library, [replace(found, fit=fit)])
        self.epsilon_ = fit.margin_width if self.epsilon is None else float(self.epsilon)


def _middle(values: FloatArray) -> float:
    """Half way between the ends; weights and repetitions do not matter."""
    return float(values.min() / 2 + values.max() / 2)
