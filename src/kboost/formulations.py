"""What a task makes of its targets: rows for a master.

Margin rows, `sign_i f(x_i) >= target_i - slack_i` with a slack price `cap_i`, serve every
linear-slack problem; for classification with the hinge loss sign = y, target = 1, cap = C w.
Squared rows serve the least-squares family.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray


@dataclass(frozen=True)
class MarginRows:
    """`sign_i f(x_i) >= target_i - slack_i`, slacks cost `cap_i` each."""

    signs: FloatArray  # (n,), +1 or -1
    targets: FloatArray  # (n,)
    caps: FloatArray  # (n,)

    def slack(self, decision: FloatArray) -> FloatArray:
        """How far each row is from its target."""
        return np.maximum(0.0, self.targets - self.signs * decision)


@dataclass(frozen=True)
class SquaredRows:
    """`1/2 sum_i w_i (y_i - f(x_i))^2`."""

    targets: FloatArray  # (n,)
    sample_weight: FloatArray  # (n,)


def hinge(signs: FloatArray, sample_weight: FloatArray, C: float) -> MarginRows:
    """Rows of `C sum_i w_i max(0, 1 - y_i f(x_i))` for labels -1, +1."""
    return MarginRows(signs, np.ones_like(signs), C * sample_weight)
