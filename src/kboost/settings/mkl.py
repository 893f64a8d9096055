"""Settings of MKLClassifier."""

from __future__ import annotations

from dataclasses import dataclass

from kboost._rules import POSITIVE, Rule, check_params


@dataclass(frozen=True)
class LpNorm:
    """Kernel weights of bounded p-norm; a value of ``method`` of MKLClassifier.

    Parameters
    ----------
    p : float, default=2.0
        The norm, at least 1. At 1 few kernels get a weight, as with the other methods.

    Examples
    --------
    >>> from kboost.baselines import MKLClassifier
    >>> from kboost.settings import LpNorm
    >>> MKLClassifier(method=LpNorm(1.5)).method
    LpNorm(p=1.5)
    """

    p: float = 2.0

    def __post_init__(self) -> None:
        at_least_1 = Rule("at least 1", lambda v: POSITIVE.holds(v) and v >= 1)
        check_params({"p": self.p}, {"p": at_least_1})
