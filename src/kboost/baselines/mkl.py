"""Multiple kernel learning: one support vector machine on a learned mixture of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from kboost._estimator.callbacks import callback_listeners
from kboost._estimator.pairwise_svm import RULES, BinaryRows, Outcome, PairwiseSVMBase, scalar
from kboost._rules import Rule, check_params, one_of, optional
from kboost._typing import FloatArray
from kboost.core.deadline import Deadline
from kboost.core.stopping import AnyOf, GapBelow, MaxIterations
from kboost.kernels.base import Kernel
from kboost.mkl.learn import METHODS, Learned, learn
from kboost.mkl.svm import MixtureSVM

_RULES = RULES | {
    "method": one_of(*METHODS, "lp"),
    "p": optional(Rule("at least 1", lambda v: RULES["C"].holds(v) and v >= 1)),
}


@dataclass(frozen=True)
class MKLOutcome(Outcome):
    """With the kernel weights and the way to them."""

    learned: Learned


class MKLClassifier(ClassifierMixin, PairwiseSVMBase):
    """Classify with a support vector machine on a weighted sum of kernels, weights learned.

    The weights solve

        minimise over theta >= 0, |theta|_p <= 1    max_a  sum a - 1/2 (a y)' K(theta) (a y)

    with ``K(theta) = sum_j theta_j K_j`` and the machine's ``0 <= a <= C w``, ``y'a = 0``. Four
    methods solve it for p = 1, where few kernels get a weight, and agree on the optimum; "lp"
    solves it for any p.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to mix; see :class:`kboost.KernelBoostClassifier`.
    method : {"simple", "silp", "level", "hessian", "lp"}, default="hessian"
        The reduced gradient (SimpleMKL), cutting planes, the extended level method, Newton's
        method, or the closed form of Lp-MKL.
    p : float or None, default=None
        The norm, with "lp" only: at least 1; None means 2. At 1 it is solved as by "hessian".
    C : float, default=1.0
        Price of a unit of margin error, a row.
    normalize : {"mean", "trace"}, default="mean"
        Kernels are scaled to a mean diagonal of 1, or to a trace of 1, over all training rows. The
        weights belong to the scaled kernels.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, or one against the rest. Each duel has kernel
        weights of its own.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them weigh the same in all.
    max_iter : int, default=500
        Steps, of each duel.
    max_seconds : float or None, default=None
        Time limit of the fit.
    tol : float, default=0.01
        Stop when the relative duality gap is not above it. The machines are solved to a twentieth
        of it.
    memory_budget : int, default=2**32
        Bytes that the kernel matrices of a duel may take; all of them are held.
    n_jobs : int or None, default=None
        Threads over the duels, where there are several.
    verbose : int, default=0
        1 shows every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    kernels_ : list of Kernel
        The kernels, with the widths found, scaled.
    kernel_weights_ : ndarray of shape (n_kernels,) or (n_duels, n_kernels)
        The weights of `kernels_`.
    objective_ : float or ndarray of shape (n_duels,)
        The value of the machine's dual at these weights.
    dual_gap_ : float or ndarray of shape (n_duels,)
        Proven relative distance to the optimum, however well the machines were solved.
    n_columns_ : int
        Pairs of a kernel and a support vector in the model.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel.
    centers_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    coef_ : ndarray of shape (n_support,) or (n_duels, n_support)
        Their coefficients, to be multiplied by the weight of each kernel.
    intercept_ : float or ndarray of shape (n_duels,)
        The offset.
    stop_reason_ : str or list of str
        Why the fit ended.
    trace_ : Trace or list of Trace
        What happened at each step; its columns are kernels with a weight.
    n_iter_ : int
        Entries of the trace, the first machine among them; the most of all duels.
    n_machines_ : int
        Support vector machines that were solved, in all.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Rakotomamonjy, Bach, Canu, Grandvalet: SimpleMKL, JMLR 2008.
    Sonnenburg, Rätsch, Schäfer, Schölkopf: Large scale multiple kernel learning, JMLR 2006.
    Xu, Jin, King, Lyu: An extended level method for efficient multiple kernel learning, NIPS 2008.
    Chapelle, Rakotomamonjy: Second order optimization of kernel parameters, NIPS workshop 2008.
    Kloft, Brefeld, Sonnenburg, Zien: Lp-norm multiple kernel learning, JMLR 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import MKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier().fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> bool(model.dual_gap_ <= 0.01), len(model.kernel_weights_)
    (True, 8)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        method: str = "hessian",
        p: float | None = None,
        C: float = 1.0,
        normalize: str = "mean",
        multi_class: str = "ovo",
        class_weight: Any = None,
        max_iter: int = 500,
        max_seconds: float | None = None,
        tol: float = 0.01,
        memory_budget: int = 2**32,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.method = method
        self.p = p
        self.C = C
        self.normalize = normalize
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MKLClassifier:
        """Learn weights and machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Labels, two or more classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        MKLClassifier
            The fitted estimator. After Ctrl-C it holds the best weights so far and the interrupt is
            raised again. Before the first machine of every duel, or with several duels at once
            (`n_jobs`), it stays as it was.
        """
        return self._fit(X, y, sample_weight)

    def _check(self) -> None:
        check_params(self.get_params(deep=False), _RULES)
        if self.p is not None and self.method != "lp":
            raise ValueError(
                f"p must be None for method={self.method!r}, which bounds the 1-norm; "
                f"got p={self.p!r}."
            )

    def _duel(self, kernels: Sequence[Kernel], rows: BinaryRows, deadline: Deadline) -> MKLOutcome:
        caps = float(self.C) * rows.weight
        machine = MixtureSVM(rows.matrices(kernels), rows.signs, caps, self.tol, deadline.check)
        p = 1.0 if self.method != "lp" else 2.0 if self.p is None else float(self.p)
        stop = AnyOf((GapBelow(self.tol), MaxIterations(self.max_iter)))
        listeners = callback_listeners(self, number=rows.number, kind="pair of classes")
        learned = learn(machine, self.method, p, stop, deadline=deadline, listeners=listeners)
        point = learned.point
        support = np.flatnonzero(point.duals)
        coef = (rows.signs * point.duals)[support]
        return MKLOutcome(support, coef, point.theta, point.bias, learned.reason, learned)

    def _weights_of_kernels(self) -> FloatArray:
        return np.atleast_2d(self.kernel_weights_)

    def _show(self, outcomes: Sequence[MKLOutcome]) -> None:
        found = [outcome.learned for outcome in outcomes]
        self.kernel_weights_ = scalar(np.array([one.point.theta for one in found]))
        self.objective_ = scalar(np.array([one.point.value for one in found]))
        self.dual_gap_ = scalar(np.array([one.trace[-1].gap for one in found], dtype=np.float64))
        self.stop_reason_ = scalar([str(one.reason) for one in found])
        self.trace_ = scalar([one.trace for one in found])
        self.n_iter_ = max(len(one.trace) for one in found)
        self.n_machines_ = sum(one.n_machines for one in found)
