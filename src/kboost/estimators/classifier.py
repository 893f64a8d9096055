"""CG-Boost for classification: a sparse mixture of kernels by column generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from kboost._estimator.parameter_rules import RULES
from kboost._rules import UNIT, check_params, optional
from kboost._typing import BoolArray, FloatArray
from kboost._validation import check_validation
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import GenerationResult
from kboost.core.deadline import Deadline
from kboost.core.protocols import EdgePricer, Master
from kboost.core.stopping import INTERRUPTED
from kboost.data.class_weight import apply_class_factors, class_factors
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.estimators._kernel_boost import KernelBoostBase
from kboost.formulations import MarginRows, hinge, nu_margin
from kboost.masters.margin import MarginPenalty
from kboost.masters.nu_lp import NuLPMaster
from kboost.plans.training_data import Task, TrainingData
from kboost.selection.calibration import Output, calibrate
from kboost.selection.left_out import Norm
from kboost.solvers.margin_lp import Intercept


class KernelBoostClassifier(ClassifierMixin, KernelBoostBase):
    """Classify with a sparse mixture of kernels, grown column by column.

    Every pair of a kernel and a training point is a candidate column ``k(., x_j)``. Column
    generation picks the few that the problem

        minimise  sum_j |coef_j| + C sum_i w_i max(0, 1 - y_i f(x_i))

    needs, and says how far from its optimum, over all candidates, it stopped. More than two
    classes are fitted one against the rest on shared columns.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library. "auto" chooses one from the data (:func:`kboost.kernels.default_kernels`).
        Names are scikit-learn's. With "precomputed", X is ``[K_1 ... K_P]`` side by side, (n, P n),
        or one behind the other, (n, n, P), as ``np.dstack`` puts them: scikit-learn's
        cross-validation and searches need the second form, where rows and columns can be cut.
    penalty : {"l1", "l2"}, default="l1"
        The norm of the coefficients that is penalised. With "l2" (half the squared norm) the
        optimum is dense, and `tol` and `max_columns` are parameters of the model.
    C : float or "auto", default="auto"
        Price of a unit of margin error, a row, as in scikit-learn's SVMs. "auto" follows a path
        of rising C on held-out rows and takes the value of the lowest error.
    nu : float or None, default=None
        In place of C: bound of the weighted share of rows inside the margin, in (0, 1].
    nonnegative : bool, default=False
        Whether coefficients must not be negative.
    intercept : {"free", "penalized", "none"}, default="free"
        The offset: outside the penalty, inside it, or absent.
    column_scaling : {"unit", None}, default="unit"
        Whether columns are scaled to unit root mean square before they are penalised. The scale
        is folded back: `coef_` belongs to unscaled columns.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them weigh the same in all.
    columns_per_step : int or "auto", default="auto"
        How many columns are added before the coefficients are solved for again.
    max_columns : int or None, default=None
        How many columns may be generated (for each class, if there are more than two).
    max_iter : int, default=1000
        How many times columns may be added.
    max_seconds : float or None, default=None
        Time limit of the fit.
    tol : float, default=1e-4
        Stop when no column has a price above it, or the relative gap is not above it.
    validation_fraction : float or None, default=None
        PathFit of the rows to hold out; the fit stops when their error no longer falls, and the
        step of the lowest error is kept.
    n_iter_no_change : int, default=5
        How many steps without a lower held-out error are waited for.
    memory_budget : int, default=2**30
        Bytes that blocks of kernel values may take, in all.
    random_state : int, RandomState instance or None, default=0
        Draws the rows that are held out.
    pricing : {"scan", "stratified"}, default="scan"
        How columns are searched: all of them at every step, or kernel by kernel in the order
        given, first at the points in error (Algorithm 5.1 of the paper).
    stop_at_errors : bool, default=False
        Whether to stop when no column centred at a point in error is worth its price.
    predict_dtype : {"float64", "float32"}, default="float64"
        Arithmetic of the kernels at prediction. "float32" is faster and takes half the memory; the
        values stay within 1e-5 of ``sum_j |coef_j k(., c_j)|``. It may be set after `fit`.
    n_jobs : int or None, default=None
        Threads over the classes, where there are more than two, of the scans, and of predictions
        for many rows. They change no prediction, not even its last bit.
    verbose : int, default=0
        1 shows every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    C_ : float
        The price of errors used.
    calibration_ : Calibration
        Behind `predict_proba`: the slope, the number of rows it was fitted to, and whether these
        were held out (otherwise there was no time for that, or there were too few).
    tuning_ : Tuning or None
        With ``C="auto"``: the values of C tried, their errors, and the place of the best.
    n_columns_ : int
        Columns in the model.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel of the library.
    kernels_ : list of Kernel
        The library, with the widths found.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        The centre of each column (its row number, for precomputed kernels).
    coef_ : ndarray of shape (n_columns_,) or (n_classes, n_columns_)
        Coefficients of the columns, kernel after kernel in the order of `kernels_`.
    intercept_ : float or ndarray of shape (n_classes,)
        The offset.
    objective_ : float or ndarray of shape (n_classes,)
        The objective of the problem solved.
    dual_gap_ : float or ndarray of shape (n_classes,)
        Proven relative distance to the optimum over the whole library.
    stop_reason_ : str or list of str
        Why the fit ended.
    trace_ : Trace or list of Trace
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

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost import KernelBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelBoostClassifier().fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        penalty: str = "l1",
        C: float | str = "auto",
        nu: float | None = None,
        nonnegative: bool = False,
        intercept: str = "free",
        column_scaling: str | None = "unit",
        class_weight: Any = None,
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
        self.penalty = penalty
        self.C = C
        self.nu = nu
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.column_scaling = column_scaling
        self.class_weight = class_weight
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
    ) -> KernelBoostClassifier:
        """Grow the mixture.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Labels, two or more classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.
        X_val : array-like or CSR matrix of shape (n_val, n_features), optional
            Rows of your own to judge by, in place of `validation_fraction`: the fit stops when
            their error no longer falls and keeps the step of the lowest one (TR3). With
            ``C="auto"`` they also judge the values of C.
        y_val : array-like of shape (n_val,), optional
            Their labels, of the classes in y.
        sample_weight_val : array-like of shape (n_val,), optional
            Their weights in the error.

        Returns
        -------
        KernelBoostClassifier
            The fitted estimator. After Ctrl-C it holds the columns found so far and the
            interrupt is raised again; before the first step it stays as it was.
        """
        return self._fit(
            X, y, sample_weight, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val
        )

    def decision_function(self, X: Any) -> FloatArray:
        """Return the model's values: (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray
            Positive for the second class, or largest for the class predicted.
        """
        return self._decision(X)

    def predict(self, X: Any) -> Any:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.
        """
        return self._labels(self._decision(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; the largest is that of the class predicted.

        They are a logistic function of the decision values, without an offset and with one slope
        for all classes (`calibration_`), fitted to rows that were left out. With `class_weight`
        they are those of the classes as weighted.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities in the order of `classes_`.
        """
        decision = self._decision(X)
        return self.calibration_.probabilities(decision)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms in the order of `classes_`; finite, also where `predict_proba` gives 0.
        """
        decision = self._decision(X)
        return self.calibration_.log_probabilities(decision)

    def _labels(self, decision: FloatArray) -> Any:
        """The label of each row from its values, (n,) or (n, n_classes)."""
        several = decision.ndim == 2
        codes = decision.argmax(axis=1) if several else (decision > 0).astype(np.intp)
        return self.classes_[codes]

    def _prepare(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> TrainingData:
        check_params(self.get_params(deep=False), RULES | {"nu": optional(UNIT)})
        self._check_combination()
        X, y, weight = self._checked(X, y, sample_weight)
        return self._training_data(X, y, weight, np.ones(X.shape[0], dtype=bool), **validation)

    def _training_data(
        self, X: Any, y: Any, weight: FloatArray, labelled: BoolArray, **validation: Any
    ) -> TrainingData:
        """What the labelled rows teach."""
        check_classification_targets(y[labelled])
        self.classes_, found = np.unique(y[labelled], return_inverse=True)
        codes = np.zeros(len(y), dtype=np.intp)
        codes[labelled] = found
        factors = class_factors(self.class_weight, self.classes_, found, weight[labelled])
        kept = np.zeros(len(y))
        kept[labelled] = apply_class_factors(
            factors, found, weight[labelled], named=self.class_weight
        )
        rows = merge_rows(X, codes, kept)
        if len(np.unique(rows.codes)) < 2:
            raise ValueError(
                "y must have at least two classes with a positive weight; got one class, "
                f"{self.classes_[rows.codes[0]]}."
            )
        targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        tasks = [self._one_against_rest(k) for k in targets]
        return TrainingData(rows, tasks, X.shape[0], self._held_rows(factors, **validation))

    def _held_rows(self, factors: FloatArray, **validation: Any) -> MergedRows | None:
        """The user's own rows to judge by."""
        if (checked := check_validation(self, **validation)) is None:
            return None
        X, y, weight = checked
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in y.tolist() if label not in place]
        if unknown:
            raise ValueError(
                f"y_val must hold classes of y; got {unknown[0]!r}, y has {list(place)}."
            )
        codes = np.array([place[label] for label in y.tolist()], dtype=np.intp)
        weight = weight * factors[codes]
        if not weight.any():
            raise ValueError("X_val must have rows of a class with a positive weight; got none.")
        return merge_rows(X, codes, weight)

    def _check_combination(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.nu is None:
            return
        if self.C != "auto":
            raise ValueError(
                "C must be 'auto' with nu, which takes its place; "
                f"got C={self.C!r}, nu={self.nu!r}."
            )
        if self.penalty == "l1" and self.intercept == "penalized":
            raise ValueError(
                "intercept must be 'free' or 'none' with nu and penalty='l1', where the norm is "
                "bounded and not penalised; got intercept='penalized'."
            )

    def _check_nu(self, signs: FloatArray, weight: FloatArray) -> None:
        lighter = min(weight[signs > 0].sum(), weight[signs < 0].sum()) / weight.sum()
        if self.intercept == "free" and self.nu > 2 * lighter:
            raise ValueError(
                f"nu must be at most twice the share of the smaller class, {2 * lighter:.3g}, with "
                f"a free intercept; got nu={self.nu!r}."
            )

    def _choose_c(self, data: TrainingData) -> float:
        if self.nu is None:
            return super()._choose_c(data)
        self.tuning_, self.C_ = None, 1.0  # nu takes its place
        return self.C_

    def _master(self, library: KernelLibrary, *, watched: bool = False) -> Master[EdgePricer]:
        if self.nonnegative and self.intercept == "none" and library.is_nonnegative:
            raise ValueError(
                "nonnegative must be False, or intercept not 'none', where all kernels are "
                "positive: the model could predict one class only; got nonnegative=True and "
                "intercept='none'."
            )
        if self.nu is None or self.penalty == "l2":
            return super()._master(library, watched=watched)
        return NuLPMaster(self.nu, self.nonnegative, free_bias=self.intercept == "free")

    def _one_against_rest(self, target: int) -> Task:
        """The task of telling one class from the others."""

        def error(held: MergedRows) -> Callable[[FloatArray], float]:
            positive, share = held.codes == target, held.weight / held.weight.sum()
            return lambda decision: float(share @ ((decision > 0) != positive))

        def formulate(rows: MergedRows, C: float) -> MarginRows:
            signs = np.where(rows.codes == target, 1.0, -1.0)
            if self.nu is None:
                return hinge(signs, rows.weight, C)
            self._check_nu(signs, rows.weight)
            return nu_margin(signs, rows.weight, self.nu)

        return Task(formulate, error)

    def _joint_error(
        self, held: MergedRows, tasks: Sequence[Task]
    ) -> Callable[[FloatArray], float]:
        """The weighted share of rows whose class is not the one predicted."""
        if len(tasks) == 1:
            return super()._joint_error(held, tasks)
        share = held.weight / held.weight.sum()
        return lambda decisions: float(share @ (decisions.argmax(axis=1) != held.codes))

    def _conclude(
        self,
        rows: MergedRows,
        problems: Sequence[MarginRows],
        grown: Sequence[GenerationResult],
        deadline: Deadline,
    ) -> bool:
        """Calibrate the probabilities."""
        if any(g.reason is INTERRUPTED for g in grown):
            deadline.call_off()

        self.calibration_, stopped = calibrate(
            rows,
            [
                Output(problem, g.hypotheses, g.fit)
                for problem, g in zip(problems, grown, strict=True)
            ],
            norm=cast(Norm, self.penalty),
            penalty=MarginPenalty(self.nonnegative, cast(Intercept, self.intercept)),
            rng=check_random_state(self.random_state),
            deadline=deadline,
        )
        return stopped
