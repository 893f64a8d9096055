"""Kernel design by boosting (Boost-Exp, Boost-Log): a machine on a kernel made for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from kboost._estimator.pairwise_svm import RULES, BinaryRows, Outcome, PairwiseSVMBase, scalar
from kboost._rules import POSITIVE, check_params, one_of
from kboost._typing import FloatArray
from kboost.boosting.kernel_design import Designed, design
from kboost.core.deadline import Deadline
from kboost.core.stopping import StopReason
from kboost.kernels.base import Kernel
from kboost.solvers.libsvm import solve_dual

_RULES = RULES | {"loss": one_of("exp", "log"), "tol": POSITIVE}


@dataclass(frozen=True)
class DesignOutcome(Outcome):
    """With the pieces of the kernel and the value of the machine on it."""

    designed: Designed
    value: float


class KernelDesignClassifier(ClassifierMixin, PairwiseSVMBase):
    """Classify with a support vector machine on a kernel that boosting designed.

    A round adds a kernel of rank one, ``alpha_t h_t(x) h_t(x')``: h_t is the function of the base
    kernel's space that agrees best with the labels on the pairs of rows that the kernel so far gets
    wrong.

    Parameters
    ----------
    kernels : "auto", "precomputed", name, kernel, callable or list of these, default="linear"
        The base kernel; several are added up. The paper uses the linear one.
    loss : {"exp", "log"}, default="exp"
        The loss of a pair: Boost-Exp or Boost-Log.
    max_iter : int, default=30
        Rounds.
    C : float, default=1.0
        Price of a unit of margin error in the machine, a row.
    normalize : {"mean", "trace"}, default="mean"
        The designed kernel is scaled to a mean diagonal of 1, or to a trace of 1, over the rows of
        its duel. Base kernels are scaled likewise before they are added up.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, or one against the rest. Each duel has a kernel of
        its own.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them weigh the same in all.
    max_seconds : float or None, default=None
        Time limit of the design.
    tol : float, default=1e-3
        When libsvm may stop.
    memory_budget : int, default=2**32
        Bytes that the matrices of a duel may take.
    n_jobs : int or None, default=None
        Threads over the duels, where there are several.
    verbose : int, default=0
        1 shows every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    kernels_ : list of Kernel
        The base kernels, with the widths found, scaled.
    estimator_weights_ : ndarray of shape (n_rounds,), or list of them
        The weights alpha of the pieces, before the kernel is scaled; one array a duel.
    losses_ : ndarray of shape (n_rounds + 1,), or list of them
        The mean loss of a pair, before the first round and after each.
    objective_ : float or ndarray of shape (n_duels,)
        The value of the machine's dual.
    dual_gap_ : None
        The design has no optimum to certify.
    n_columns_ : int
        Pairs of a kernel and a centre in the model.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel.
    centers_ : ndarray or CSR matrix of shape (n_centers, n_features_in_)
        The rows that span the base kernel (their numbers, for precomputed kernels).
    coef_ : ndarray of shape (n_centers,) or (n_duels, n_centers)
        Their coefficients, the same in every base kernel.
    intercept_ : float or ndarray of shape (n_duels,)
        The offset.
    stop_reason_ : str or list of str
        Why the design ended.
    n_iter_ : int
        Rounds, the most of all duels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Crammer, Keshet, Singer: Kernel design using boosting, NIPS 2002.
    Xia, Hoi: MKBoost: A framework of multiple kernel boosting, IEEE TKDE 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import KernelDesignClassifier
    >>> from kboost.kernels import Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelDesignClassifier(Linear(on="standard")).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    def __init__(
        self,
        kernels: Any = "linear",
        *,
        loss: str = "exp",
        max_iter: int = 30,
        C: float = 1.0,
        normalize: str = "mean",
        multi_class: str = "ovo",
        class_weight: Any = None,
        max_seconds: float | None = None,
        tol: float = 1e-3,
        memory_budget: int = 2**32,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.max_iter = max_iter
        self.C = C
        self.normalize = normalize
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_seconds = max_seconds
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelDesignClassifier:
        """DesignMatrix the kernel and fit the machine.

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
        KernelDesignClassifier
            The fitted estimator; after Ctrl-C it stays as it was.
        """
        return self._fit(X, y, sample_weight)

    def _check(self) -> None:
        check_params(self.get_params(deep=False), _RULES)

    def _duel(
        self, kernels: Sequence[Kernel], rows: BinaryRows, deadline: Deadline
    ) -> DesignOutcome:
        base = rows.matrices(kernels).sum(axis=0)
        found = design(
            base,
            rows.signs,
            rows.weight,
            self.loss,
            self.max_iter,
            out_of_time=lambda: deadline.remaining == 0.0,
        )
        pieces = found.weights * self._unit(found, rows.weight)
        K = np.ascontiguousarray((found.values * pieces) @ found.values.T)
        duals, bias, _ = solve_dual(K, rows.signs, float(self.C) * rows.weight, self.tol)
        v = rows.signs * duals
        return DesignOutcome(
            support=found.centers,
            coef=found.coef @ (pieces * (v @ found.values)),
            weights=np.ones(len(kernels)),
            bias=bias,
            reason=self._reason(len(found.weights), deadline),
            designed=found,
            value=float(duals.sum() - v @ K @ v / 2),
        )

    def _unit(self, found: Designed, weight: FloatArray) -> float:
        """The scale of the designed kernel."""
        trace = float(weight @ (found.values**2 @ found.weights))
        total = float(weight.sum()) if self.normalize == "mean" else 1.0
        return total / trace if trace > 0 else 1.0

    def _reason(self, n_rounds: int, deadline: Deadline) -> StopReason:
        if n_rounds == self.max_iter:
            return StopReason("max_iter", f"max_iter={self.max_iter} rounds were made.")
        if deadline.remaining == 0.0:
            return StopReason(
                "max_seconds",
                f"max_seconds={self.max_seconds:g} reached after {n_rounds} rounds; "
                "raise max_seconds.",
            )
        return StopReason(
            "agreement",
            f"after {n_rounds} rounds no function of the base kernel agrees with the labels of the "
            "pairs that are left.",
        )

    def _show(self, outcomes: Sequence[DesignOutcome]) -> None:
        self.estimator_weights_ = scalar([one.designed.weights for one in outcomes])
        self.losses_ = scalar([one.designed.losses for one in outcomes])
        self.objective_ = scalar(np.array([one.value for one in outcomes]))
        self.dual_gap_ = None
        self.stop_reason_ = scalar([str(one.reason) for one in outcomes])
        self.n_iter_ = max([1, *(len(one.designed.weights) for one in outcomes)])
