"""Scaling of columns before they are penalised.

"unit": divide each column by its weighted root mean square `s_j = sqrt(sum_i w_i h_ij^2 / W)`, so
that the penalty of a coefficient is proportional to its effect on the function.
"floored": the same with a lower limit: s_j is at least 0.3 times the largest absolute value of the
column. A spike (a kernel so narrow that a column is nonzero at its own centre only) has
`s = 1/sqrt(n)` and would cost almost nothing, so that every misclassified row would get one. The
limit often holds: on the Forest data for every quadratic and most linear columns.
None: unscaled columns, as in the papers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from kboost._typing import FloatArray

Scaling = Literal["unit", "floored"] | None
SPIKE_FLOOR = 0.3  # of the largest absolute value


def floor_of(scaling: Scaling) -> float:
    """The smallest divisor of a column, relative to its largest absolute value."""
    return SPIKE_FLOOR if scaling == "floored" else 0.0


def column_scales(scaling: Scaling, rms: FloatArray, peak: FloatArray) -> FloatArray:
    """Divisor of each column; 1 for a zero column."""
    if scaling is None:
        return np.ones_like(rms)
    scales = np.maximum(rms, floor_of(scaling) * peak)
    return np.where(scales > 0, scales, 1.0)
