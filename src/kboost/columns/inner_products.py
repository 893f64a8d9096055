"""Inner products of a library's columns in the RKHS, for penalties that need them.

`<h_i, h_j> = k_p(c_i, c_j) / (s_i s_j)` within a kernel and 0 across kernels, so that a penalty on
`sum_p |f_p|^2` is block diagonal.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.library import KernelLibrary


class InnerProducts:
    """The Gram side of a library; `center_of_row` says which centre each training row is."""

    def __init__(self, library: KernelLibrary, center_of_row: IntArray | None = None) -> None:
        self._library = library
        self._center_of_row = np.arange(library.n_rows) if center_of_row is None else center_of_row

    @property
    def is_psd(self) -> bool:
        return all(kernel.is_psd for kernel in self._library.kernels)

    @property
    def power(self) -> FloatArray:
        """`sum_i w_i h_ij^2` of every column."""
        return float(self._library.sample_weight.sum()) * self._library.rms**2

    @cached_property
    def diagonal(self) -> FloatArray:
        """`<h_j, h_j>` of every column."""
        raw = [kernel.diag(self._library.centers) for kernel in self._library.kernels]
        diagonal: FloatArray = np.concatenate(raw) / self._library.scales**2
        return diagonal

    def gram(self, left: IntArray, right: IntArray) -> FloatArray:
        """`<h_i, h_j>`, (len(left), len(right))."""
        library = self._library
        out = np.zeros((len(left), len(right)))
        for p, rows in library.by_kernel(left):
            columns = np.flatnonzero(right // library.n_centers == p)
            if len(columns):
                a, b = left[rows] % library.n_centers, right[columns] % library.n_centers
                out[np.ix_(rows, columns)] = library.kernels[p](
                    library.centers[a], library.centers[b]
                )
        return out / np.outer(library.scales[left], library.scales[right])

    def pull(self, ids: IntArray, coef: FloatArray) -> FloatArray:
        """`sum_m coef_m <h_j, h_m>` over the columns `ids`, for every column j."""
        library = self._library
        out = np.zeros((len(library.kernels), library.n_centers))
        for p, chosen in library.by_kernel(ids):
            members = ids[chosen]
            block = library.kernels[p](
                library.centers, library.centers[members % library.n_centers]
            )
            out[p] = block @ (coef[chosen] / library.scales[members])
        return out.ravel() / library.scales

    def energy(self, weights: FloatArray, edges: FloatArray) -> float:
        """`weights' (sum_p K_p) weights` from the edges of those weights."""
        library = self._library
        at_centers = (edges * library.scales).reshape(len(library.kernels), -1)
        return max(0.0, float((at_centers[:, self._center_of_row] @ weights).sum()))
