"""Blocks kept while they fit.

A scan visits all blocks in the same order again and again; throwing out the oldest would then
never hit. So the first blocks that fit stay, the rest are computed anew each time; a block leaves
only when its room is needed for something else.

Large blocks are copied into pages of their own. Among short-lived arrays on the heap they would
pin it down: memory freed around them could not be given back, nor theirs when they leave.
"""

from __future__ import annotations

import mmap
from collections.abc import Hashable
from threading import Lock

import numpy as np

from kboost._typing import FloatArray

_LARGE = 1 << 20  # bytes


class BlockCache:
    """Arrays by key, up to a number of bytes."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._blocks: dict[Hashable, FloatArray] = {}
        self._lock = Lock()  # several fits may share a library
        self.bytes_used = 0

    def get(self, key: Hashable) -> FloatArray | None:
        return self._blocks.get(key)

    def offer(self, key: Hashable, block: FloatArray) -> None:
        """Keep the block if there is room."""
        with self._lock:
            if key not in self._blocks and self.bytes_used + block.nbytes <= self._budget:
                self._blocks[key] = block if block.nbytes < _LARGE else _in_own_pages(block)
                self.bytes_used += block.nbytes

    def drop(self, key: Hashable) -> None:
        """Keep the block no longer."""
        with self._lock:
            block = self._blocks.pop(key, None)
            self.bytes_used -= 0 if block is None else block.nbytes


def _in_own_pages(block: FloatArray) -> FloatArray:
    """A copy that gives its memory back the moment nobody holds it."""
    pages = mmap.mmap(-1, block.nbytes)
    copy: FloatArray = np.frombuffer(pages, dtype=block.dtype).reshape(block.shape)
    copy[...] = block
    return copy
