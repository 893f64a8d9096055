"""How many rows an estimator searches in about a minute, and what to take beyond.

One table for the estimators, which warn at the beginning of a long fit, for the time limit of the
AutoKernel estimators, and for `kboost.suggest`. Times of the others grow with the square of the
rows (every kernel between all of them), and with the outputs:

    seconds  =  60 (rows / most)^2 max(1, outputs / 2)          on one core of 2020 or later
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from kboost.exceptions import LongFitWarning

MOST_ROWS = 5_000  # times the classes: so far the whole library is searched in a minute or so
MOST_LABELS = 20  # whole numbers with more different values are quantities
WIDE = 10  # features per row, in regression, from which halfspaces are needed to select
SEARCH_SECONDS, SEARCH_ROWS = (
    60.0,
    20_000,
)  # of AutoKernel, up to this number of rows; then in proportion
CERTIFIED_ROWS = 4_000  # times outputs, up to which column generation competes in AutoKernel
MOST_ENTRIES = 1 << 27  # of a sparse table up to which AutoKernel searches it as a dense one

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0


@dataclass(frozen=True)
class RowLimit:
    """The rows that take about a minute, and the estimator for more."""

    most: int
    instead: str


_CLASSIFIER, _REGRESSOR = (
    f"SparseKernel{kind} takes seconds" for kind in ("Classifier", "Regressor")
)
ROW_LIMITS = {
    "KernelBoostClassifier": RowLimit(MOST_ROWS, _CLASSIFIER),
    "KernelBoostRegressor": RowLimit(MOST_ROWS, _REGRESSOR),
    "KernelBoostNovelty": RowLimit(2 * MOST_ROWS, "fit a sample of the rows"),  # one kernel
    "SemiSupervisedKernelBoostClassifier": RowLimit(MOST_ROWS, "leave out unlabelled rows"),
    "ColumnGenerationClassifier": RowLimit(MOST_ROWS, _CLASSIFIER),
    "ColumnGenerationRegressor": RowLimit(MOST_ROWS, _REGRESSOR),
    "MKBoostClassifier": RowLimit(MOST_ROWS, _CLASSIFIER),
    "BoostedSVMClassifier": RowLimit(3_000, _CLASSIFIER),
    "MKLClassifier": RowLimit(3_000, _CLASSIFIER),
    "KernelDesignClassifier": RowLimit(3_000, _CLASSIFIER),
}


def warn_of_size(name: str, n_rows: float, n_outputs: int, max_seconds: float | None) -> None:
    """Warn if a fit of the estimator would take much more than a minute, and has no time limit."""
    limit = ROW_LIMITS.get(name)
    if limit is None or max_seconds is not None or n_rows <= limit.most:
        return
    seconds = _MINUTE * (n_rows / limit.most) ** 2 * max(1.0, n_outputs / 2)
    warnings.warn(
        f"{name} may take {about(seconds)} for {n_rows:,.0f} rows; "
        f"{limit.instead}, or set max_seconds.",
        LongFitWarning,
        stacklevel=7,
    )


def search_seconds(n_rows: int) -> float:
    """The time limit of the AutoKernel estimators that "auto" stands for."""
    return SEARCH_SECONDS * max(1.0, n_rows / SEARCH_ROWS)


def about(seconds: float) -> str:
    """A rough time in words."""
    units = ((_MINUTE, "minute", 100), (_HOUR, "hour", 48), (_DAY, "day", float("inf")))
    unit, name = next((unit, name) for unit, name, most in units if seconds < most * unit)
    count = max(1, round(seconds / unit))
    return f"about {count:,} {name}{'s' if count > 1 else ''}"
