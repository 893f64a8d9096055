"""A Cholesky factor that grows by blocks.

For a symmetric positive definite matrix that gains rows and columns,

    [ G   c ]   [ L        ] [ L'  Z ]        L Z = c,
    [ c'  d ] = [ Z'    R  ] [     R']        R R' = d - Z' Z,

appending q columns to k costs k^2 q instead of (k + q)^3 / 3. A pivot that is pure rounding (of a
column that depends on the others) may be positive or negative, and either would ruin what follows;
so a block with a least pivot below `_FLOOR` of its diagonal gets a jitter relative to that
diagonal, which makes the dependent column harmless.

A factor in float32 takes half the time and memory; its floor is the rounding of float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from kboost._typing import FloatArray
from kboost.solvers._lapack import solve_lower_in_place

_JITTER = {np.dtype(np.float64): (1e-10, 100.0), np.dtype(np.float32): (1e-6, 10.0)}  # and factor
_FLOOR = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 2e-7}


class GrowingCholesky:
    """A lower factor L of `G = L L'` that grows, in float64 or float32."""

    def __init__(self, capacity: int = 0, dtype: Any = np.float64) -> None:
        self._buffer: FloatArray = np.zeros((capacity, capacity), dtype=dtype)
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    @property
    def lower(self) -> FloatArray:
        return self._buffer[: self._size, : self._size]

    def append(self, cross: FloatArray, corner: FloatArray) -> float:
        """Append a block; `cross` is (size, q) against the old columns, `corner` (q, q).

        Returns the least pivot over its diagonal, 0 if jitter was needed.
        """
        q, dtype = len(corner), self._buffer.dtype
        cross, diagonal = cross.astype(dtype, copy=False), np.diag(corner).astype(np.float64)
        spread = self.half_solve(cross) if self._size else cross
        block = corner.astype(dtype, copy=False) - spread.T @ spread
        new_lower, least = _factor(block, diagonal)
        self._reserve(self._size + q)
        new = slice(self._size, self._size + q)
        self._buffer[new, : self._size] = spread.T
        self._buffer[new, new] = new_lower
        self._size += q
        return least

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve `G x = right`."""
        solved = self.half_solve(right)
        solve_lower_in_place(self.lower, solved, transposed=True)
        return solved

    def half_solve(self, right: FloatArray) -> FloatArray:
        """Solve `L x = right`."""
        half: FloatArray = np.array(right, dtype=self._buffer.dtype, order="C")
        solve_lower_in_place(self.lower, half)
        return half

    def _reserve(self, size: int) -> None:
        if size <= len(self._buffer):
            return
        grown = np.zeros((max(size, 2 * len(self._buffer)),) * 2, dtype=self._buffer.dtype)
        grown[: self._size, : self._size] = self.lower
        self._buffer = grown


def _factor(block: FloatArray, diagonal: FloatArray) -> tuple[FloatArray, float]:
    """The factor of `block` with the least jitter (of a few powers) that gives safe pivots.

    And the least pivot over its diagonal, 0 if there is jitter.
    """
    scale = np.maximum(diagonal, np.finfo(float).tiny)
    first, factor = _JITTER[block.dtype]
    jitter = 0.0
    while jitter <= 1.0:
        try:
            raised = block + np.diag(jitter * scale).astype(block.dtype)
            lower: FloatArray = cholesky(raised, lower=True)
        except LinAlgError:
            pass
        else:
            least = float(np.min(np.diag(lower).astype(np.float64) ** 2 / scale, initial=1.0))
            if least >= _FLOOR[block.dtype]:
                return lower, 0.0 if jitter else least
        jitter = max(factor * jitter, first)
    raise LinAlgError("the block is indefinite")
