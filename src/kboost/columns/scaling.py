"""How columns are made comparable before they are penalised.

"unit": divide each column by its weighted root mean square `s_j = sqrt(sum_i w_i h_ij^2 / W)`, so
that a coefficient costs what it does to the function. A spike (a kernel so narrow that a column is
nonzero at its own centre only) has `s = 1/sqrt(n)`, would cost next to nothing, and every error
point would buy its own; so s_j is at least three tenths of the column's largest value.
None: columns as they are, as in the papers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from kboost._typing import FloatArray

Scaling = Literal["unit"] | None
SPIKE_FLOOR = 0.3


def column_scales(scaling: Scaling, rms: FloatArray, peak: FloatArray) -> FloatArray:
    """What each column is divided by; 1 where it has nothing to divide."""
    if scaling is None:
        return np.ones_like(rms)
    scales = np.maximum(rms, SPIKE_FLOOR * peak)
    return np.where(scales > 0, scales, 1.0)
