"""Early stopping by the error on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kboost._rules import COUNT, FRACTION, Rule, check_params, optional


@dataclass(frozen=True)
class EarlyStopping:
    """Stop when the error on held-out rows no longer falls; the best step is kept.

    The error of kernel boosting is the squared error or, for labels, the log loss after a logistic
    function was fitted to the held-out decision values; its first few columns do not count. A
    float is shorthand for its `validation_fraction`.

    Parameters
    ----------
    validation_fraction : float or None, default=0.1
        Fraction of the training rows to hold out, in (0, 1). None requires ``X_val`` and ``y_val``
        in ``fit``.
    n_iter_no_change : int, default=5
        Number of steps without a lower error after which the fit stops.

    Examples
    --------
    >>> from kboost.settings import ColumnGeneration, EarlyStopping
    >>> ColumnGeneration(early_stopping=EarlyStopping(0.2, n_iter_no_change=3)).columns_per_step
    'auto'
    """

    validation_fraction: float | None = 0.1
    n_iter_no_change: int = 5

    def __post_init__(self) -> None:
        rules = {"validation_fraction": optional(FRACTION), "n_iter_no_change": COUNT}
        check_params(vars(self), rules)

    @classmethod
    def of(cls, value: Any) -> EarlyStopping | None:
        """The settings that a checked `early_stopping` stands for."""
        return value if value is None or isinstance(value, cls) else cls(float(value))


EARLY_STOPPING = Rule(
    "a fraction strictly between 0 and 1, an EarlyStopping or None",
    lambda v: v is None or isinstance(v, EarlyStopping) or FRACTION.holds(v),
)
