"""The bank: kernels times centres, lined up as columns `j = p * n_centers + c`.

Column j at row i is `k_p(x_i, c) / s_j` (see scaling.py). Nothing of size rows times columns is
ever required: a scan passes over blocks (see blocks.py), and edges of kernels that fold (linear,
quadratic) need no columns at all:

    edge_j = sum_i weights_i k(x_i, c_j)   is the folded expansion on the rows, at the centres.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.blocks import BlockSource
from kboost.columns.hypothesis import KernelColumn, KernelFamily
from kboost.columns.scaling import Scaling, column_scales
from kboost.kernels.base import Kernel
from kboost.kernels.folding import fold

DEFAULT_BUDGET = 1 << 30  # bytes


class Bank:
    """All columns on offer for one set of training rows; see the head of this file."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Any,
        *,
        centers: Any | None = None,
        sample_weight: FloatArray | None = None,
        scaling: Scaling = None,
        memory_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.kernels = tuple(kernels)
        self.centers = X if centers is None else centers
        self.n_rows, self.n_centers = int(X.shape[0]), int(self.centers.shape[0])
        self.sample_weight = np.ones(self.n_rows) if sample_weight is None else sample_weight
        self._X = X
        self._families = [KernelFamily(kernel) for kernel in self.kernels]
        self._source = BlockSource(self.kernels, X, self.centers, memory_budget)
        rms, peak = self._sizes()
        self.scales = column_scales(scaling, rms, peak)  # what each column is divided by
        self.rms = rms / self.scales  # of each scaled column; 0: the column is dead

    @property
    def n_columns(self) -> int:
        return len(self.kernels) * self.n_centers

    def stratum(self, kernel: int) -> slice:
        """The columns of one kernel."""
        return slice(kernel * self.n_centers, (kernel + 1) * self.n_centers)

    def by_kernel(self, ids: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Positions in `ids` kernel by kernel."""
        owners = ids // self.n_centers
        for p in np.unique(owners):
            yield int(p), np.flatnonzero(owners == p)

    def edges(self, weights: FloatArray) -> FloatArray:
        """`h_j' weights` of every column, (n_columns,)."""
        out = np.empty((len(self.kernels), self.n_centers))
        formed = []
        for p, kernel in enumerate(self.kernels):
            folded = fold(kernel, self._X, weights, only_if_cheaper=True)
            if folded is None:
                formed.append(p)
            else:
                out[p] = folded(self.centers)
        for p, block, values in self._source.stream(formed):
            out[p, block] = values.T @ weights
        return out.ravel() / self.scales

    def values(self, ids: IntArray) -> FloatArray:
        """Columns at the training rows, (n, len(ids)), Fortran order."""
        out = np.empty((self.n_rows, len(ids)), order="F")
        for p, chosen in self.by_kernel(ids):
            out[:, chosen] = self._source.evaluate([p], ids[chosen] % self.n_centers)[p]
        out /= self.scales[ids]
        return out

    def hypotheses(self, ids: IntArray) -> list[KernelColumn]:
        """Columns as functions of a row."""
        pairs = [divmod(int(j), self.n_centers) for j in ids]
        return [
            KernelColumn(self._families[p], self.centers[[c]], c, float(scale))
            for (p, c), scale in zip(pairs, self.scales[ids], strict=True)
        ]

    def _sizes(self) -> tuple[FloatArray, FloatArray]:
        """Root mean square and largest value of every column, unscaled; one pass."""
        rms, peak = np.empty((2, len(self.kernels), self.n_centers))
        share = self.sample_weight / self.sample_weight.sum()
        for p, block, values in self._source.stream(range(len(self.kernels))):
            peak[p, block] = np.abs(values).max(axis=0)
            # divided by the peak before squaring: safe for huge and tiny values
            unit = np.where(peak[p, block] > 0, peak[p, block], 1.0)
            rms[p, block] = unit * np.sqrt(share @ (values / unit) ** 2)
        return rms.ravel(), peak.ravel()
