"""Estimators with the settings of the five papers, to repeat their experiments in two lines.

    function                paper                                            estimator
    cg_boost                Bi, Zhang, Bennett, KDD 2004                     KernelBoostClassifier
    ssmk                    Bi, Fung, Dundar, Rao, ICDM 2005                 SemiSupervised...
    sparse_boosting         Sun, Yao, IEEE Trans. Neural Networks 2010       SparseKernelRegressor
    sparse_boosting_series  the same, series of ensembles                    SparseKernelClassifier
    mkboost                 Xia, Hoi, IEEE Trans. Knowl. Data Eng. 2013      MKBoostClassifier
    regression_ensemble     Rätsch, Demiriz, Bennett, Machine Learning 2002  KernelBoostRegressor

Keyword arguments replace settings other than the kernels. Features are expected in the form of the
paper: standardised for CG-Boost and MKBoost.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from kboost.estimators.classifier import KernelBoostClassifier
from kboost.estimators.mkboost import MKBoostClassifier
from kboost.estimators.regressor import KernelBoostRegressor
from kboost.estimators.semi_supervised import SemiSupervisedKernelBoostClassifier
from kboost.estimators.sparse_classifier import SparseKernelClassifier
from kboost.estimators.sparse_regressor import SparseKernelRegressor
from kboost.kernels import Gaussian, Kernel, Linear, Polynomial
from kboost.settings import ColumnGeneration, Full

__all__ = [
    "CG_BOOST_COSTS",
    "cg_boost",
    "cg_boost_kernels",
    "mkboost",
    "mkboost_kernels",
    "regression_ensemble",
    "sparse_boosting",
    "sparse_boosting_series",
    "ssmk",
]

CG_BOOST_COSTS = (1.0, 10.0, 100.0)  # the grid of C
_ENSEMBLES: dict[str, dict[str, Any]] = {  # of regression, by the names of the paper
    "CG-k": {},
    "CG-ak": {"kernels": "active"},
    "CG-LP": {"kernels": "halfspaces", "column_scaling": "floored", "C": 0.1},
    "Bar-k": {"solver": "barrier"},
    "Bar-ak": {"kernels": "active", "solver": "barrier"},
    "Bar-LP": {"kernels": "halfspaces", "column_scaling": "floored", "C": 0.1, "solver": "barrier"},
}


def cg_boost_kernels(library: str = "LQR") -> list[Kernel]:
    """The kernels of CG-Boost by their letters.

    Parameters
    ----------
    library : str, default="LQR"
        L linear, Q quadratic, R Gaussian with the mean squared distance as its width. "LQR" is a
        library of three kernels; "L+Q+R" is one kernel, their sum, the composite rival.

    Returns
    -------
    list of Kernel
        The library.

    Examples
    --------
    >>> from kboost.presets import cg_boost_kernels
    >>> len(cg_boost_kernels("LQR")), len(cg_boost_kernels("L+Q+R"))
    (3, 1)
    """
    letters: dict[str, Kernel] = {"L": Linear(), "Q": Polynomial(2), "R": Gaussian("mean")}
    parts = library.split("+") if isinstance(library, str) and "+" in library else library
    if not isinstance(library, str) or not parts or not all(part in letters for part in parts):
        raise ValueError(f"library must be letters of L, Q and R, or their sum; got {library!r}.")
    kernels = [letters[part] for part in parts]
    return [reduce(add, kernels)] if "+" in library else kernels


def cg_boost(library: str = "LQR", **settings: Any) -> KernelBoostClassifier:
    """CG-Boost: column generation over a mixture of kernels, with stratified pricing.

    The 2-norm; the paper chooses C from `CG_BOOST_COSTS`. On Forest and Digits it stops by the
    error on validation rows (TR3): pass them to `fit` as `X_val`, `y_val`, with
    `solver=ColumnGeneration(pricing="stratified", early_stopping=EarlyStopping(None, 5))`.

    Parameters
    ----------
    library : str, default="LQR"
        See :func:`cg_boost_kernels`.
    **settings
        Other parameters of :class:`kboost.KernelBoostClassifier`.

    Returns
    -------
    KernelBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kboost.presets import cg_boost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = cg_boost("LR").fit(StandardScaler().fit_transform(X), y)
    >>> len(model.columns_per_kernel_)
    2
    """
    defaults = {"penalty": "l2", "C": 1.0, "tol": 1e-3}
    solver = ColumnGeneration(pricing="stratified")
    return KernelBoostClassifier(
        cg_boost_kernels(library), **{**defaults, "solver": solver, **settings}
    )


def ssmk(n_labels: int, **settings: Any) -> SemiSupervisedKernelBoostClassifier:
    """SSMK: the 1-norm with a linear and a Gaussian kernel, centred at all rows.

    The cost of errors is 2 per labelled row on average; the paper does not name its own.

    Parameters
    ----------
    n_labels : int
        Labelled rows.
    **settings
        Other parameters of :class:`kboost.SemiSupervisedKernelBoostClassifier`.

    Returns
    -------
    SemiSupervisedKernelBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from kboost.presets import ssmk
    >>> ssmk(100).C
    0.02
    """
    if n_labels < 1:
        raise ValueError(f"n_labels must be at least 1; got {n_labels}.")
    defaults = {"C": 2.0 / n_labels, "column_scaling": None}
    return SemiSupervisedKernelBoostClassifier(
        [Linear(), Gaussian("mean")], **{**defaults, **settings}
    )


def sparse_boosting(kernel: Kernel, ridge: float, **settings: Any) -> SparseKernelRegressor:
    """Ensemble-based boosting of regularised least squares: base learners of 50 basis vectors.

    Each base learner starts with MAX-RES on 500 random rows; all coefficients are updated
    (FULL-UPDATE). The paper takes 500 base learners, here 25,000 columns.

    Parameters
    ----------
    kernel : Kernel
        With widths by marginal likelihood on 1,000 rows, `kboost.kernels.fit_ard(X, y).kernel`.
    ridge : float
        `kboost.kernels.fit_ard(X, y).ridge`.
    **settings
        Other parameters of :class:`kboost.SparseKernelRegressor`.

    Returns
    -------
    SparseKernelRegressor
        Not fitted.

    Examples
    --------
    >>> from kboost.kernels import Gaussian
    >>> from kboost.presets import sparse_boosting
    >>> sparse_boosting(Gaussian(1.0), 1e-2).max_columns
    25000
    """
    update = Full(columns_per_step=50, n_init_rows=500)
    defaults = {"selection": "max-res", "max_columns": 25_000}
    return SparseKernelRegressor(
        [kernel], ridge=ridge, **{**defaults, "update": update, **settings}
    )


def sparse_boosting_series(kernel: Kernel, ridge: float, **settings: Any) -> SparseKernelClassifier:
    """A series of ensembles, as on COVTYPE: each of 50 learners of 50 basis vectors.

    Learners start with matching pursuit on 2,000 rows; at most 100 ensembles, 250,000 columns.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    ridge : float
        The ridge.
    **settings
        Other parameters of :class:`kboost.SparseKernelClassifier`.

    Returns
    -------
    SparseKernelClassifier
        Not fitted.

    Examples
    --------
    >>> from kboost.kernels import Gaussian
    >>> from kboost.presets import sparse_boosting_series
    >>> sparse_boosting_series(Gaussian(1e-4), 1e-4, max_columns=5000).max_columns
    5000
    """
    update = Full(columns_per_step=50, n_init_rows=2000, series=50)
    defaults = {"selection": "mp", "max_columns": 250_000, "max_iter": 100_000}
    return SparseKernelClassifier(
        [kernel], ridge=ridge, **{**defaults, "update": update, **settings}
    )


def mkboost_kernels() -> list[Kernel]:
    """The kernels of MKBoost: Gaussians of 14 widths and polynomials of degrees 1 to 3.

    Returns
    -------
    list of Kernel
        `exp(-|x - z|^2 / (2 s^2))` with s = 2^-6, ..., 2^7, and `(x . z + 1)^d`.

    Examples
    --------
    >>> from kboost.presets import mkboost_kernels
    >>> len(mkboost_kernels())
    17
    """
    gaussians = [Gaussian(1 / (2 * 4.0**e)) for e in range(-6, 8)]
    return [*gaussians, *(Polynomial(degree) for degree in (1, 2, 3))]


def mkboost(variant: str = "D1", **settings: Any) -> MKBoostClassifier:
    """MKBoost: 100 rounds of support vector machines with C = 50 on a fifth of the rows.

    The paper names no scaling of the kernels. Its accuracies are reached with a mean diagonal of 1,
    the default here, and not with `column_scaling="trace"`, at which C = 50 is small.

    Parameters
    ----------
    variant : {"D1", "D2", "S1", "S2"}, default="D1"
        The algorithm; S draws kernels at random with a decay of 2^-5.
    **settings
        Other parameters of :class:`kboost.MKBoostClassifier`.

    Returns
    -------
    MKBoostClassifier
        Not fitted.

    Examples
    --------
    >>> from kboost.presets import mkboost
    >>> model = mkboost("S1", random_state=1)
    >>> model.C, model.max_iter
    (50.0, 100)
    """
    defaults = {"C": 50.0, "max_iter": 100, "sample_ratio": 0.2, "kernel_decay": 2.0**-5}
    return MKBoostClassifier(mkboost_kernels(), variant=variant, **{**defaults, **settings})


def regression_ensemble(
    method: str = "CG-k", *, gamma: float | str = 0.5, **settings: Any
) -> KernelBoostRegressor:
    """A sparse regression ensemble with a fitted tube (nu = 0.5), by the names of the paper.

    Parameters
    ----------
    method : {"CG-k", "CG-ak", "CG-LP", "Bar-k", "Bar-ak", "Bar-LP"}, default="CG-k"
        Column generation or the barrier algorithm, with kernels at the training rows, active
        kernels, or classification functions of a linear program.
    gamma : float or str, default=0.5
        Width of the Gaussian `exp(-gamma |x - z|^2)` at the training rows; other methods do not use
        it.
    **settings
        Other parameters of :class:`kboost.KernelBoostRegressor`.

    Returns
    -------
    KernelBoostRegressor
        Not fitted.

    Examples
    --------
    >>> from kboost.datasets import make_sinc
    >>> from kboost.presets import regression_ensemble
    >>> X, y = make_sinc(50, random_state=0)
    >>> regression_ensemble("CG-k").fit(X, y).score(X, y) > 0.99
    True
    """
    if method not in _ENSEMBLES:
        raise ValueError(f"method must be one of {', '.join(_ENSEMBLES)}; got {method!r}.")
    defaults = {"kernels": [Gaussian(gamma)], "C": 100.0, "nu": 0.5, "column_scaling": None}
    return KernelBoostRegressor(**{**defaults, **_ENSEMBLES[method], **settings})
