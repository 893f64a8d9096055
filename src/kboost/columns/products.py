"""Products of the rows of all columns, `H H'`, block by block.

    H H' = sum over blocks of  B B',   B = (kernel values at some centres) / scales

BLAS adds each product to one triangle of the matrix, so that beside it only a block is in memory.
Blocks come in a fixed order: the sum is the same, to the last bit, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dsyrk

from kboost._typing import FloatArray
from kboost.columns.blocks import Centers, Visit

_TILE = 512  # rows and columns that are mirrored at a time


def sum_of_products(
    visit: Callable[[Visit], None], scales: Callable[[int, Centers], FloatArray], n_rows: int
) -> FloatArray:
    """`H H'`, (n, n), C order; `scales` are the divisors of the columns of a block."""
    total = np.zeros((n_rows, n_rows), order="F")

    def add(p: int, block: Centers, values: FloatArray) -> None:
        nonlocal total
        scaled = np.divide(values, scales(p, block), dtype=np.float64)
        scaled = np.ascontiguousarray(scaled)
        total = dsyrk(1.0, scaled.T, beta=1.0, c=total, trans=1, overwrite_c=1)

    visit(add)
    return _mirrored(total.T)


def _mirrored(matrix: FloatArray) -> FloatArray:
    """The matrix with its lower triangle copied to the upper one, in place."""
    n = len(matrix)
    for i in range(0, n, _TILE):
        rows = slice(i, min(i + _TILE, n))
        corner = np.tril(matrix[rows, rows])
        matrix[rows, rows] = corner + np.tril(corner, -1).T
        for j in range(i + _TILE, n, _TILE):
            below = slice(j, min(j + _TILE, n))
            matrix[rows, below] = matrix[below, rows].T
    return matrix
