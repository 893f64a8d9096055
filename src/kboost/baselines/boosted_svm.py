"""Boost-SVM: AdaBoost on support vector machines with one kernel, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from kboost._estimator.boosted_svm import RULES, BoostedSVMBase
from kboost._rules import INTEGER, Rule
from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.boosting.adaboost import least
from kboost.boosting.multiclass import BinaryProblem, class_scores, predicted_codes
from kboost.boosting.rounds import RoundSettings
from kboost.boosting.svm_learners import SVMLearners
from kboost.columns.gram import Gram, signs
from kboost.core.deadline import Deadline
from kboost.data.merged_rows import MergedRows, majority_code
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names
from kboost.solvers.libsvm import solve_dual

_RULES = RULES | {
    "n_folds": Rule("an integer of at least 2", lambda v: INTEGER.holds(v) and v >= 2)
}


class BoostedSVMClassifier(ClassifierMixin, BoostedSVMBase):
    """Classify with AdaBoost on support vector machines of a single kernel.

    The kernel is the one whose plain machine, on all rows, has the lowest cross-validated error.
    The rounds are those of :class:`kboost.MKBoostClassifier` with that kernel alone.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to choose from; see :class:`kboost.KernelBoostClassifier`.
    n_folds : int, default=10
        Folds; fewer where there are fewer distinct rows. BinaryRows with the same x stay together.
    max_iter : int, default=100
        Rounds (of each pair of classes).
    sample_ratio : float, default=0.2
        BinaryRows drawn a round, with replacement, as a share of the sum of their weights.
    C : float, default=50.0
        Price of a unit of margin error in the machines, a row.
    normalize : {"mean", "trace"} or None, default="mean"
        Whether kernels are scaled to a mean diagonal of 1, or to a trace of 1.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, or one against the rest.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, one to another: the weight of all rows stays as it is. "balanced"
        makes them weigh the same in all.
    tol : float, default=1e-3
        When libsvm may stop.
    max_seconds : float or None, default=None
        Time limit of the fit. Half of it is for the folds, of which there is one at least, as of
        the rounds; a kernel is judged by the folds there was time for.
    memory_budget : int, default=2**30
        Bytes that kernel matrices may take to be kept.
    random_state : int, RandomState instance or None, default=0
        Draws folds and rows.
    n_jobs : int or None, default=None
        Threads over the kernels of a fold; the rounds, with one kernel, have one. They change
        nothing in the model.
    verbose : int, default=0
        1 shows every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    kernel_ : Kernel
        The kernel chosen, scaled.
    cv_errors_ : dict of str to float
        The cross-validated error of each kernel; empty where there was nothing to choose.
    estimator_weights_, errors_, trace_, stop_reason_, n_iter_, kernel_usage_
        As in :class:`kboost.MKBoostClassifier`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Zhang, Ren: Improving SVM learning accuracy with AdaBoost, ICNC 2008; as used by Xia, Hoi:
    MKBoost: A framework of multiple kernel boosting, IEEE TKDE 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import BoostedSVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostedSVMClassifier(max_iter=20).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        n_folds: int = 10,
        max_iter: int = 100,
        sample_ratio: float = 0.2,
        C: float = 50.0,
        normalize: str | None = "mean",
        multi_class: str = "ovo",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_seconds: float | None = None,
        memory_budget: int = 2**30,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.n_folds = n_folds
        self.max_iter = max_iter
        self.sample_ratio = sample_ratio
        self.C = C
        self.normalize = normalize
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_seconds = max_seconds
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostedSVMClassifier:
        """Choose the kernel, then boost.

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
        BoostedSVMClassifier
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _rules(self) -> dict[str, Rule]:
        return _RULES

    def _round_settings(self, n_drawn: int) -> RoundSettings:
        return RoundSettings(False, 1.0, float(self.C), self.max_iter, n_drawn)

    def _offered(
        self,
        kernels: Sequence[Kernel],
        rows: MergedRows,
        duels: Sequence[BinaryProblem],
        centers: Any,
        deadline: Deadline,
    ) -> Sequence[int]:
        """The kernel of the lowest cross-validated error."""
        folds = _folds(rows, self.n_folds, check_random_state(self.random_state))
        best, self.cv_errors_ = 0, {}
        if len(kernels) > 1 and folds.max() > 0:
            until = deadline.share(2)
            gram = Gram(kernels, rows.X, centers, self.memory_budget)
            errors = self._crossed(gram, rows, duels, folds, until)
            names = unique_names([repr(kernel) for kernel in kernels])
            self.cv_errors_ = dict(zip(names, errors.tolist(), strict=True))
            best = least(errors)
        self.kernel_ = kernels[best]
        return [best]

    def _crossed(
        self,
        gram: Gram,
        rows: MergedRows,
        duels: Sequence[BinaryProblem],
        folds: IntArray,
        until: Deadline,
    ) -> FloatArray:
        """The error of each kernel over the folds there is time for."""
        wrong, judged = np.zeros(len(gram.kernels)), 0.0
        n_jobs = min(effective_n_jobs(self.n_jobs), len(gram.kernels))
        with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:
            for fold in range(int(folds.max()) + 1):
                if fold and until.remaining == 0.0:
                    break
                held = folds == fold
                wrong += self._wrong(gram, rows, duels, held, pool, n_jobs)
                judged += float(rows.weight[held].sum())
        errors: FloatArray = wrong / judged
        return errors

    def _wrong(
        self,
        gram: Gram,
        rows: MergedRows,
        duels: Sequence[BinaryProblem],
        held: BoolArray,
        pool: ThreadPoolExecutor | None,
        n_jobs: int,
    ) -> FloatArray:
        """The weight of the held rows that each kernel gets wrong."""
        every, at = range(len(gram.kernels)), np.flatnonzero(held)
        said = np.zeros((len(gram.kernels), len(at), len(duels)))
        solve = partial(solve_dual, tol=self.tol)
        for place, duel in enumerate(duels):
            some = duel.rows[~held[duel.rows]]
            if not len(some):
                continue
            sides = np.zeros(len(held))
            sides[duel.rows] = duel.signs
            machines = SVMLearners(gram, sides, float(self.C), solve)
            for machine in machines.train(every, some, rows.weight[some], pool, n_jobs):
                said[machine.kernel, :, place] = signs(gram.decisions([machine], at))[0]
        n_classes = len(self.classes_)
        predicted = [predicted_codes(class_scores(values, duels, n_classes)) for values in said]
        wrong: FloatArray = (np.array(predicted) != rows.codes[at]) @ rows.weight[at]
        return wrong


def _folds(rows: MergedRows, count: int, rng: np.random.RandomState) -> IntArray:
    """The fold of each row, class by class in turn; rows with the same x share theirs."""
    kind = majority_code(rows)
    order = np.concatenate(
        [rng.permutation(np.flatnonzero(kind == code)) for code in np.unique(kind)]
    )
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % min(count, len(order))
    return fold[rows.center_of_row]
