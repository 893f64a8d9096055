"""Scaling of columns before they are penalised.

"unit": divide each column by its weighted root mean square `s_j = sqrt(sum_i w_i h_ij^2 / W)`, so
that the penalty of a coefficient is proportional to its effect on the function. A spike (a kernel
so narrow that a column is nonzero at its own centre only) has `s = 1/sqrt(n)` and would cost almost
nothing, so that every misclassified row would get one. Therefore s_j is at least 0.3 times the
largest absolute value of the column.
None: unscaled columns, as in the papers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from kboost._typing import FloatArray

Scaling = Literal["unit"] | None
SPIKE_FLOOR = 0.3


def column_scales(scaling: Scaling, rms: FloatArray, peak: FloatArray) -> FloatArray:
    """Divisor of each column; 1 for a zero column."""
    if scaling is None:
        return np.ones_like(rms)
    scales = np.maximum(rms, SPIKE_FLOOR * peak)
    return np.where(scales > 0, scales, 1.0)
