"""A cache of blocks, limited in bytes.

Scans visit all blocks repeatedly in the same order, so evicting the oldest block would never give a
hit. Instead the first blocks that fit are cached and the rest are computed each time; a block is
dropped only when its memory is needed for something else.

Large blocks are copied into their own memory map. Among short-lived arrays on the heap they would
fragment it, and freed memory could not be returned to the system.
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
        self._lock = Lock()  # several fits can share a library
        self.bytes_used = 0

    def get(self, key: Hashable) -> FloatArray | None:
        return self._blocks.get(key)

    def offer(self, key: Hashable, block: FloatArray) -> None:
        """Cache the block if it fits."""
        with self._lock:
            if key not in self._blocks and self.bytes_used + block.nbytes <= self._budget:
                self._blocks[key] = block if block.nbytes < _LARGE else _in_memory_map(block)
                self.bytes_used += block.nbytes

    def drop(self, key: Hashable) -> None:
        """Remove the block."""
        with self._lock:
            block = self._blocks.pop(key, None)
            self.bytes_used -= 0 if block is None else block.nbytes


def _in_memory_map(block: FloatArray) -> FloatArray:
    """A copy whose memory is returned to the system as soon as it is not referenced."""
    pages = mmap.mmap(-1, block.nbytes)
    copy: FloatArray = np.frombuffer(pages, dtype=block.dtype).reshape(block.shape)
    copy[...] = block
    return copy
