"""Inner products of a bank's columns in the RKHS, for penalties that need them.

`<h_i, h_j> = k_p(c_i, c_j) / (s_i s_j)` within a kernel and 0 across kernels, so that a penalty on
`sum_p |f_p|^2` is block diagonal.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.bank import Bank


class InnerProducts:
    """The Gram side of a bank; `center_of_row` says which centre each training row is."""

    def __init__(self, bank: Bank, center_of_row: IntArray | None = None) -> None:
        self._bank = bank
        self._center_of_row = np.arange(bank.n_rows) if center_of_row is None else center_of_row

    @property
    def is_psd(self) -> bool:
        return all(kernel.is_psd for kernel in self._bank.kernels)

    @property
    def power(self) -> FloatArray:
        """`sum_i w_i h_ij^2` of every column."""
        return float(self._bank.sample_weight.sum()) * self._bank.rms**2

    @cached_property
    def diagonal(self) -> FloatArray:
        """`<h_j, h_j>` of every column."""
        raw = [kernel.diag(self._bank.centers) for kernel in self._bank.kernels]
        diagonal: FloatArray = np.concatenate(raw) / self._bank.scales**2
        return diagonal

    def gram(self, left: IntArray, right: IntArray) -> FloatArray:
        """`<h_i, h_j>`, (len(left), len(right))."""
        bank = self._bank
        out = np.zeros((len(left), len(right)))
        for p, rows in bank.by_kernel(left):
            columns = np.flatnonzero(right // bank.n_centers == p)
            if len(columns):
                a, b = left[rows] % bank.n_centers, right[columns] % bank.n_centers
                out[np.ix_(rows, columns)] = bank.kernels[p](bank.centers[a], bank.centers[b])
        return out / np.outer(bank.scales[left], bank.scales[right])

    def pull(self, ids: IntArray, coef: FloatArray) -> FloatArray:
        """`sum_m coef_m <h_j, h_m>` over the columns `ids`, for every column j."""
        bank = self._bank
        out = np.zeros((len(bank.kernels), bank.n_centers))
        for p, chosen in bank.by_kernel(ids):
            members = ids[chosen]
            block = bank.kernels[p](bank.centers, bank.centers[members % bank.n_centers])
            out[p] = block @ (coef[chosen] / bank.scales[members])
        return out.ravel() / bank.scales

    def energy(self, weights: FloatArray, edges: FloatArray) -> float:
        """`weights' (sum_p K_p) weights` from the edges of those weights."""
        bank = self._bank
        at_centers = (edges * bank.scales).reshape(len(bank.kernels), -1)
        return max(0.0, float((at_centers[:, self._center_of_row] @ weights).sum()))
