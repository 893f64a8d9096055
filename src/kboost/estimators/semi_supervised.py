"""SSMK: mixtures of kernels from labelled and unlabelled rows.

The problem is the classifier's, SSMK (9), with rows for the labelled points only and columns
centred at all points. Nothing else speaks of the unlabelled points: no graph, no guessed labels.
Widths, transforms and the sizes of the columns are found on all points too: over the labelled ones
alone a narrow column at a far unlabelled centre would look tiny, and cost nothing once scaled.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._estimator.parameter_rules import RULES
from kboost._rules import BOOLEAN, UNIT, check_params, optional
from kboost._typing import BoolArray, IntArray
from kboost._validation import check_table, check_weights
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import GenerationResult
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.estimators.classifier import KernelBoostClassifier
from kboost.kernels.rows import group_rows
from kboost.plans.training_data import TrainingData

UNLABELLED = -1


@dataclass(frozen=True)
class _Pool:
    """The input, and all its points merged."""

    X: Any  # (n, d)
    y: Any  # (n,)
    labelled: BoolArray  # (n,)
    rows: MergedRows
    center_of_input: IntArray  # (n,), -1 for rows without weight

    @property
    def all_labelled(self) -> bool:
        """Whether no unlabelled row has a weight."""
        return bool(self.labelled[self.center_of_input >= 0].all())


class SemiSupervisedKernelBoostClassifier(KernelBoostClassifier):
    """Classify with a sparse mixture of kernels, centred at labelled and unlabelled rows.

    Unlabelled rows carry the label -1, as in scikit-learn's semi-supervised module; labels
    themselves may be anything else (classes coded as -1 and 1 must be recoded). The margin is
    asked of the labelled rows only, but every row is a possible centre, so a few labels can pick
    from columns at many places.

    What cannot be learnt from is an error: no labelled row, or a single class beside -1 (then -1
    was perhaps meant as a class). Without unlabelled rows this is :class:`KernelBoostClassifier`,
    to the last bit: a warning says so, and with `require_unlabelled` it is an error. Words as
    labels want an array of dtype object, so that -1 stays a number.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`KernelBoostClassifier`, also for all that follows. With
        "precomputed", X has a row and each matrix a column for every row, labelled or not.
    penalty : {"l1", "l2"}, default="l1"
        The norm of the coefficients that is penalised.
    C : float or "auto", default="auto"
        Price of a unit of margin error, a labelled row.
    nu : float or None, default=None
        In place of C.
    nonnegative : bool, default=False
        Whether coefficients must not be negative.
    intercept : {"free", "penalized", "none"}, default="free"
        The offset.
    column_scaling : {"unit", None}, default="unit"
        Whether columns are scaled to unit root mean square, over all rows.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the labelled rows.
    columns_per_step, max_columns, max_iter, max_seconds, tol : optional
        When columns are added, and when to stop.
    validation_fraction, n_iter_no_change : optional
        Early stopping on labelled rows held out; these stay possible centres.
    memory_budget, random_state, pricing, stop_at_errors, predict_dtype, n_jobs, verbose : optional
        As for :class:`KernelBoostClassifier`.
    require_unlabelled : bool, default=False
        Whether a fit without unlabelled rows is an error. By default it is a warning, since
        scikit-learn asks every classifier to fit data that are labelled throughout, and so do
        grid searches, where a fold may hold labelled rows only.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        A label for each training row: its own, or the one predicted.
    classes_ : ndarray of shape (n_classes,)
        The labels, without -1.
    C_, tuning_, calibration_, n_columns_, columns_per_kernel_, kernels_, centers_, coef_, \
intercept_, objective_, dual_gap_, stop_reason_, trace_, n_iter_ : see above
        As for :class:`KernelBoostClassifier`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Bi, Fung, Dundar, Rao: Semi-supervised mixture of kernels via LPBoost methods, ICDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from kboost import SemiSupervisedKernelBoostClassifier
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> some = np.where(np.arange(len(y)) < 30, y, -1)
    >>> model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some)
    >>> bool((model.transduction_ == y).mean() > 0.8)
    True
    """

    _pool: _Pool

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
        require_unlabelled: bool = False,
    ) -> None:
        super().__init__(
            kernels, penalty=penalty, C=C, nu=nu, nonnegative=nonnegative, intercept=intercept,
            column_scaling=column_scaling, class_weight=class_weight,
            columns_per_step=columns_per_step, max_columns=max_columns, max_iter=max_iter,
            max_seconds=max_seconds, tol=tol, validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change, memory_budget=memory_budget,
            random_state=random_state, pricing=pricing, stop_at_errors=stop_at_errors,
            predict_dtype=predict_dtype, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.require_unlabelled = require_unlabelled

    def _prepare(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> TrainingData:
        rules = RULES | {"nu": optional(UNIT), "require_unlabelled": BOOLEAN}
        check_params(self.get_params(deep=False), rules)
        self._check_combination()
        X, y = check_table(self, X, y, reset=True)
        y = _as_numbers(y)
        weight = check_weights(sample_weight, X.shape[0])
        labelled = np.array([label != UNLABELLED for label in y.tolist()], dtype=bool)
        _check_labels(y[labelled & (weight > 0)], all_labelled=bool(labelled.all()))
        if labelled[weight > 0].all():
            self._say_all_labelled()
        positive = np.flatnonzero(weight > 0)
        center_of_input = np.full(len(weight), -1)
        center_of_input[positive] = group_rows(X[positive])[1]
        everything = merge_rows(X, np.zeros(len(weight), dtype=np.intp), weight)
        self._pool = _Pool(X, y, labelled, everything, center_of_input)
        return self._training_data(X, y, weight, labelled, **validation)

    def _say_all_labelled(self) -> None:
        if self.require_unlabelled:
            raise ValueError(
                "y must have unlabelled rows with a positive weight, marked by -1, with "
                "require_unlabelled=True; got none."
            )
        warnings.warn(
            "y has no unlabelled rows (-1) with a positive weight, so this is "
            "KernelBoostClassifier without them.",
            UserWarning,
            stacklevel=2,
        )

    def _pooled(self, rows: MergedRows) -> tuple[MergedRows, IntArray]:
        if self._pool.all_labelled:
            return super()._pooled(rows)
        at_input = rows.first[rows.center_of_row]
        return self._pool.rows, self._pool.center_of_input[at_input]

    def _keep(self, library: KernelLibrary, grown: Sequence[GenerationResult]) -> None:
        super()._keep(library, grown)
        pool = self._pool
        del self._pool  # the rows stay out of the fitted model
        values = self._model.decision(pool.X)
        found = self._labels(values[:, 0] if values.shape[1] == 1 else values)
        self.transduction_ = np.array(found)
        self.transduction_[pool.labelled] = pool.y[pool.labelled]


def _as_numbers(y: Any) -> Any:
    """Numbers that come as objects, as a column of pandas may hold them, as an array of numbers."""
    if y.dtype != object or not all(map(np.isscalar, y)):
        return y
    plain = np.array(y.tolist())
    return plain if plain.dtype.kind in "biuf" and (plain == y).all() else y


def _check_labels(labels: Any, *, all_labelled: bool) -> None:
    """Refuse what cannot be learnt from, with the likely reason."""
    if not len(labels):
        raise ValueError(
            "y must have labelled rows with a positive weight; got -1, which marks an unlabelled "
            "row, everywhere else."
        )
    try:
        classes = np.unique(labels)
    except TypeError as error:
        raise ValueError(f"y must have labels of one kind beside -1; {error}.") from error
    if "-1" in classes.tolist():
        raise ValueError(
            "y must mark unlabelled rows by the number -1; got the word '-1', which numpy makes of "
            "it among words: pass y as np.array(y, dtype=object)."
        )
    if len(classes) < 2 and not all_labelled:
        raise ValueError(
            f"y must have at least two labelled classes; got one class, {classes[0]}, beside -1, "
            "which marks unlabelled rows: if -1 is a class here, recode it (as 0, say)."
        )
