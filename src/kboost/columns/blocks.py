"""Blocks of kernel values: all training rows against some of the centres.

All kernels asked for at once are made from shared pairwise blocks (one distance block serves all
Gaussian widths), on features that each view transformed once. Blocks that fit the byte budget are
kept; whatever the number of rows, only one block a kernel is at work beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cache import BlockCache
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.views import View

_WIDEST = 1024  # centres a block; wide enough for BLAS


class BlockSource:
    """Kernel values in blocks, under a byte budget."""

    def __init__(self, kernels: Sequence[Kernel], X: Any, centers: Any, budget: int) -> None:
        self._kernels = kernels
        self._X = X
        self._centers = centers
        self._pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        # Half of the budget is for blocks that stay, a quarter for the ones at work.
        self._cache = BlockCache(budget // 2)
        at_work = 8 * X.shape[0] * (len(self._pairings) + len(kernels) + 1)
        self.width = int(np.clip(budget // 4 // max(1, at_work), 1, _WIDEST))

    def stream(self, kernels: Iterable[int]) -> Iterator[tuple[int, slice, FloatArray]]:
        """Every block of the kernels: (kernel, centres, values (n, width)), block after block."""
        kernels = list(kernels)
        n_centers = self._centers.shape[0]
        for start in range(0, n_centers, self.width):
            block = slice(start, min(start + self.width, n_centers))
            kept = {p: self._cache.get((p, start)) for p in kernels}
            made = self.evaluate([p for p in kernels if kept[p] is None], block)
            for p in kernels:
                values = kept[p]
                if values is None:
                    values = made[p]
                    self._cache.offer((p, start), values)
                yield p, block, values

    def evaluate(self, kernels: Sequence[int], centers: slice | IntArray) -> dict[int, FloatArray]:
        """Values of some kernels at some centres, (n, m) each."""
        needed = {pairing for p in kernels for pairing in self._kernels[p].pairings}
        blocks = {pairing: self._pair(pairing, centers) for pairing in needed}
        return {p: self._kernels[p].from_blocks(blocks) for p in kernels}

    def _pair(self, pairing: Pairing, centers: slice | IntArray) -> FloatArray:
        rows, points = self._views[pairing.view]
        return pairing.compute_viewed(rows, points[centers])

    @cached_property
    def _views(self) -> dict[View, tuple[Any, Any]]:
        """Rows and centres as each view shows them."""
        views = {pairing.view for pairing in self._pairings}
        return {view: (view.apply(self._X), view.apply(self._centers)) for view in views}
