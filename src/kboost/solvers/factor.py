"""A Cholesky factor that grows by blocks.

For a symmetric positive definite matrix that gains rows and columns,

    [ G   c ]   [ L        ] [ L'  Z ]        L Z = c,
    [ c'  d ] = [ Z'    R  ] [     R']        R R' = d - Z' Z,

an append of q columns to k costs k^2 q instead of (k + q)^3 / 3. A pivot that is nothing but
rounding (a column that the others already span) may come out positive as well as negative, and
either would ruin all that follows; so a block whose least pivot lies below `_FLOOR` of its diagonal
gets a jitter relative to that diagonal, which makes the dependent column harmless.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from kboost._typing import FloatArray

_JITTER = 1e-10
_FLOOR = 1e-11


class GrowingCholesky:
    """A lower factor `L L' = G` that grows; see the head of this file."""

    def __init__(self) -> None:
        self._buffer = np.zeros((0, 0))
        self._size = 0
        self._solid: FloatArray | None = None  # the factor as LAPACK wants it, once a size

    @property
    def size(self) -> int:
        return self._size

    @property
    def lower(self) -> FloatArray:
        return self._buffer[: self._size, : self._size]

    def append(self, cross: FloatArray, corner: FloatArray) -> None:
        """Append a block; `cross` is (size, q) against the old columns, `corner` (q, q)."""
        q = len(corner)
        spread = self.half_solve(cross) if self._size else cross
        rest = _factor(corner - spread.T @ spread, np.diag(corner))
        self._reserve(self._size + q)
        new = slice(self._size, self._size + q)
        self._buffer[new, : self._size] = spread.T
        self._buffer[new, new] = rest
        self._size += q
        self._solid = None

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve `G x = right`."""
        half = self.half_solve(right)
        solved: FloatArray = solve_triangular(
            self._contiguous(), half, lower=True, trans="T", check_finite=False
        )
        return solved

    def half_solve(self, right: FloatArray) -> FloatArray:
        """Solve `L x = right`."""
        half: FloatArray = solve_triangular(
            self._contiguous(), right, lower=True, check_finite=False
        )
        return half

    def _contiguous(self) -> FloatArray:
        if self._solid is None:
            self._solid = np.asfortranarray(self.lower)
        return self._solid

    def _reserve(self, size: int) -> None:
        if size <= len(self._buffer):
            return
        grown = np.zeros((max(size, 2 * len(self._buffer)),) * 2)
        grown[: self._size, : self._size] = self.lower
        self._buffer = grown


def _factor(block: FloatArray, diagonal: FloatArray) -> FloatArray:
    """Cholesky of `block`, with the least jitter (powers of 100) that gives it sound pivots."""
    scale = np.maximum(diagonal, np.finfo(float).tiny)
    jitter = 0.0
    while jitter <= 1.0:
        try:
            lower: FloatArray = cholesky(block + np.diag(jitter * scale), lower=True)
        except LinAlgError:
            pass
        else:
            if (np.diag(lower) ** 2 >= _FLOOR * scale).all():
                return lower
        jitter = max(100 * jitter, _JITTER)
    raise LinAlgError("the block is indefinite")
