"""Products of the rows of all columns, `H H'`, block by block.

    H H' = sum over blocks of  B B',   B = (kernel values at some centres) / scales

BLAS adds each product to one triangle of the matrix, so that beside it only a block is in memory.
Blocks come in a fixed order: the sum is the same, to the last bit, for any number of threads.

Kernels of degree 1, k(x, z) = a(x).a(z) with a few numbers a(x) (kernels/folding.py), need no
blocks. With rows A and centres Z of these numbers, and the scales S, H = A Z' S^-1, so that

    H H' = A (Z' S^-2 Z) A' = B B',   B = A U sqrt(w),   Z' S^-2 Z = U diag(w) U'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk

from kboost._typing import FloatArray
from kboost.columns.blocks import BlockSource, Centers
from kboost.kernels.base import Kernel
from kboost.kernels.folding import Monomial

_TILE = 128  # rows and columns that are mirrored at a time
_NARROW = 8  # numbers a(x) are few if there are so many times as many rows


def sum_of_products(
    kernels: Sequence[Kernel], source: BlockSource, scales: FloatArray, n_rows: int
) -> FloatArray:
    """`H H'`, (n, n), C order; `scales` are the divisors of the columns, (n_kernels, n_centers)."""
    total = np.zeros((n_rows, n_rows), order="F")
    in_blocks = []

    def add(p: int, block: Centers, values: FloatArray) -> None:
        accumulate(np.divide(values, scales[p, block], dtype=np.float64))

    def accumulate(factor: FloatArray) -> None:
        nonlocal total
        total = dsyrk(1.0, np.ascontiguousarray(factor).T, 1.0, total, trans=1, overwrite_c=1)

    for p, kernel in enumerate(kernels):
        if monomials := _of_degree_one(kernel, source, n_rows):
            accumulate(_narrow_factor(monomials, source, scales[p]))
        else:
            in_blocks.append(p)
    source.visit_in_order(in_blocks, add)
    return _mirrored(total.T)


def _of_degree_one(kernel: Kernel, source: BlockSource, n_rows: int) -> Sequence[Monomial]:
    """The terms of a kernel that needs no blocks; none for other kernels."""
    monomials = kernel.monomials() or ()
    width = 0
    for monomial in monomials:
        rows = source.viewed_rows(monomial.view)
        if monomial.degree != 1 or monomial.scale < 0 or not isinstance(rows, np.ndarray):
            return ()
        width += rows.shape[1] + 1
    return monomials if _NARROW * width <= n_rows else ()


def _narrow_factor(
    monomials: Sequence[Monomial], source: BlockSource, scales: FloatArray
) -> FloatArray:
    """B of a kernel of degree 1."""
    sides = [
        [np.sqrt(term.scale) * term.augment(viewed(term.view)) for term in monomials]
        for viewed in (source.viewed_rows, source.viewed_centers)
    ]
    rows, centers = (np.hstack(side) for side in sides)
    scaled = centers / scales[:, None]
    squares, directions = eigh(scaled.T @ scaled)
    factor: FloatArray = rows @ (directions * np.sqrt(np.maximum(squares, 0.0)))
    return factor


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
