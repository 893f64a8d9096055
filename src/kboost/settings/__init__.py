"""Settings that only one mode of an estimator reads, as immutable values.

An estimator parameter takes one of them, or a string or number as shorthand: ``solver="cg"`` is
``solver=ColumnGeneration()``. They can be cloned, pickled, saved and searched over like any value.
"""

from kboost.settings.early_stopping import EarlyStopping
from kboost.settings.kernel_boost import (
    ActiveGaussians,
    Barrier,
    ColumnGeneration,
    Halfspaces,
    Quantile,
)
from kboost.settings.mkl import LpNorm
from kboost.settings.sparse_kernel import (
    ALD,
    RAN,
    Cells,
    Full,
    Joint,
    MatchingPursuit,
    MaxResidual,
    One,
    Random,
    Series,
    SteepestDescent,
)

__all__ = [
    "ALD",
    "RAN",
    "ActiveGaussians",
    "Barrier",
    "Cells",
    "ColumnGeneration",
    "EarlyStopping",
    "Full",
    "Halfspaces",
    "Joint",
    "LpNorm",
    "MatchingPursuit",
    "MaxResidual",
    "One",
    "Quantile",
    "Random",
    "Series",
    "SteepestDescent",
]
