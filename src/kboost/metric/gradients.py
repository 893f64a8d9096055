"""How much a kernel expansion changes along each feature.

For `f(x) = sum_j a_j k(x, x_j)` on features scaled by `s_d` (z = s x), the slope along x_d is

    Laplacian          -gamma s_d   sum_j a_j k_j sign(z_d - z_jd)
    Gaussian, Matern   -    s_d     sum_j a_j h_j (z_d - z_jd),     h = -2 dk / d|x - z|^2:
                       2 gamma k for the Gaussian, 3 gamma exp(-s) for the Matern kernel.

The root of its weighted mean square over rows is the new scale of the feature: the distance grows
along features on which the function depends, and shrinks along the others (the diagonal of the
average gradient outer product).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.stationary import Gaussian, Laplacian


def slopes(
    kernel: Any, Z: FloatArray, rows: FloatArray, coef: FloatArray, weight: FloatArray
) -> FloatArray:
    """The root mean square slope along each transformed feature at `rows`, over all outputs.

    `Z` are the transformed centres, `rows` the transformed rows with their weights.
    """
    block = kernel.pairing.compute_viewed(rows, Z)
    share = weight / weight.sum()
    if isinstance(kernel, Laplacian):
        return _city_slopes(kernel.gamma * kernel.profile(block), Z, rows, coef, share)
    if isinstance(kernel, Gaussian):
        steep = 2 * kernel.gamma * kernel.profile(block)
    else:
        steep = 3 * kernel.gamma * np.exp(-np.sqrt(3 * kernel.gamma * np.maximum(block, 0.0)))
    total = np.zeros(Z.shape[1])
    for output in coef.T:
        weighted = steep * output
        slope = rows * weighted.sum(axis=1)[:, None] - weighted @ Z
        total += share @ slope**2
    return np.sqrt(total)


def _city_slopes(
    steep: FloatArray, Z: FloatArray, rows: FloatArray, coef: FloatArray, share: FloatArray
) -> FloatArray:
    out = np.zeros(Z.shape[1])
    for d, (x, z) in enumerate(zip(rows.T, Z.T, strict=True)):
        signs = np.sign(x[:, None] - z)
        slope = np.multiply(signs, steep, out=signs) @ coef
        out[d] = share @ np.sum(slope**2, axis=1)
    return np.sqrt(out)
