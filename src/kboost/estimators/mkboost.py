"""MKBoost: support vector machines of several kernels, boosted."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin

from kboost._estimator.boosted_svm import RULES, BoostedSVMBase
from kboost._rules import UNIT, Rule, one_of
from kboost.boosting.rounds import RoundSettings

_RULES = RULES | {"variant": one_of("D1", "D2", "S1", "S2"), "kernel_decay": UNIT}


class MKBoostClassifier(ClassifierMixin, BoostedSVMBase):
    """Classify with boosted support vector machines, one a kernel and round.

    Each round draws rows from AdaBoost's distribution and trains a machine with each kernel on
    them. ``"D1"`` takes the machine of the lowest error, ``"D2"`` lets all of them vote. ``"S1"``
    and ``"S2"`` do the same with some of the kernels, drawn by probabilities that fall with the
    errors a kernel has made, in about half the time.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`kboost.KernelBoostClassifier`.
    variant : {"D1", "D2", "S1", "S2"}, default="D1"
        Algorithm 1, 2, 3 or 4 of the paper.
    max_iter : int, default=100
        Rounds (of each pair of classes).
    sample_ratio : float, default=0.2
        Rows drawn a round, with replacement, as a share of the sum of their weights.
    kernel_decay : float, default=2**-5
        With "S1" and "S2": a kernel's probability is multiplied by ``kernel_decay ** error``. At 1
        they are "D1" and "D2".
    C : float, default=50.0
        Price of a unit of margin error in the machines, a row drawn.
    normalize : {"mean", "trace"} or None, default="mean"
        Whether kernels are scaled to a mean diagonal of 1, or to a trace of 1 (as in the paper's
        tables), over the training rows.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, as in the paper, or one against the rest.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, one to another: the weight of all rows stays as it is. "balanced"
        makes them weigh the same in all.
    tol : float, default=1e-3
        When libsvm may stop.
    max_seconds : float or None, default=None
        Time limit of the fit; there is one round at least.
    memory_budget : int, default=2**30
        Bytes that kernel matrices may take to be kept. Beyond it they are made anew each round,
        from distances and products that are kept if these fit.
    random_state : int, RandomState instance or None, default=0
        Draws rows and kernels.
    n_jobs : int or None, default=None
        Threads over the kernels of a round. They change nothing in the model.
    verbose : int, default=0
        1 shows every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    kernels_ : list of Kernel
        The library, with the widths found, scaled.
    kernel_usage_ : dict of str to KernelUse
        For each kernel `rounds`, in how many it is, `weight`, its share of their weights, and
        `trained`, how many machines were trained with it; over all pairs of classes.
    estimator_weights_ : ndarray of shape (n_rounds,), or list of them
        The weights of the rounds; a list has one array for each pair of classes, or class.
    errors_ : ndarray of shape (n_rounds,), or list of them
        The errors of the rounds, each under its distribution.
    trace_ : Rounds or list of Rounds
        What happened, draws included that were not taken: an error of 1/2 or more resets the
        distribution.
    stop_reason_ : str or list of str
        Why the fit ended.
    n_iter_ : int
        Rounds taken, the most of all pairs.
    n_columns_ : int
        Different pairs of a kernel and a support vector.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel.
    centers_ : ndarray or CSR matrix of shape (n_centers, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    dual_gap_ : None
        Boosting has no optimum to certify.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Xia, Hoi: MKBoost: A framework of multiple kernel boosting, IEEE TKDE 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost import MKBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKBoostClassifier(variant="S1", max_iter=20).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> sum(use.rounds for use in model.kernel_usage_.values())
    20
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        variant: str = "D1",
        max_iter: int = 100,
        sample_ratio: float = 0.2,
        kernel_decay: float = 2**-5,
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
        self.variant = variant
        self.max_iter = max_iter
        self.sample_ratio = sample_ratio
        self.kernel_decay = kernel_decay
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MKBoostClassifier:
        """Boost.

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
        MKBoostClassifier
            The fitted estimator. After Ctrl-C it holds the rounds so far and the interrupt is
            raised again; before the first round of every pair of classes it stays as it was.
        """
        return self._fit(X, y, sample_weight)

    def _rules(self) -> dict[str, Rule]:
        return _RULES

    def _round_settings(self, n_drawn: int) -> RoundSettings:
        decay = float(self.kernel_decay) if self.variant[0] == "S" else 1.0
        return RoundSettings(self.variant[1] == "2", decay, float(self.C), self.max_iter, n_drawn)
