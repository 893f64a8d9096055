"""Values of many kernels from shared blocks; doubled widths by squaring.

    exp(-2 g b) = exp(-g b)^2

An exponential costs ten times a product, so kernels whose gammas differ by powers of two are
computed from each other. Each squaring doubles the relative error; after eight of them (3e-14) a
new exponential is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.algebra import Scaled
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.stationary import Gaussian, Laplacian

MAX_SQUARINGS = 8


def evaluate(
    kernels: Sequence[Kernel], blocks: Mapping[Pairing, FloatArray]
) -> Iterator[tuple[int, FloatArray]]:
    """Yield the index and values of each kernel, in any order; the values are read-only."""
    for chain in chains(kernels):
        values = _plain(kernels[chain[0][0]]).from_blocks(blocks)
        reached = 0
        for j, squarings in chain:
            if squarings > reached:
                values = values * values
                for _ in range(squarings - reached - 1):
                    np.multiply(values, values, out=values)
                reached = squarings
            kernel = kernels[j]
            yield j, values * kernel.scale if isinstance(kernel, Scaled) else values


def chains(kernels: Sequence[Kernel]) -> list[list[tuple[int, int]]]:
    """Group the kernels into chains of (kernel, number of squarings from the first)."""
    groups: dict[object, list[int]] = {}
    for j, kernel in enumerate(map(_plain, kernels)):
        shared = isinstance(kernel, Gaussian | Laplacian)
        groups.setdefault((type(kernel), kernel.pairings) if shared else j, []).append(j)
    every: list[list[tuple[int, int]]] = []
    for group in groups.values():
        gammas = {j: getattr(_plain(kernels[j]), "gamma", 1.0) for j in group}
        chains_of_group: list[list[tuple[int, int]]] = []
        for j in sorted(group, key=lambda j: gammas[j]):
            for chain in chains_of_group:
                steps = np.log2(gammas[j] / gammas[chain[0][0]])
                if steps in range(MAX_SQUARINGS + 1):
                    chain.append((j, int(steps)))
                    break
            else:
                chains_of_group.append([(j, 0)])
        every.extend(chains_of_group)
    return every


def _plain(kernel: Kernel) -> Kernel:
    return kernel.kernel if isinstance(kernel, Scaled) else kernel
