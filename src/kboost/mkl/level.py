"""The extended level method: cutting planes with damped steps.

With the lower bound L of the cuts (cutting_planes.py) and the least J so far as upper bound U, the
next theta is the point of the simplex nearest to the current one where no cut is above the level

    minimise |theta - now|^2   with   c_k - 1/2 S_k'theta <= l U + (1 - l) L  for all k

Xu, Jin, King, Lyu, NIPS 2008, with l = 1/2; their l = 0.9 needs four times the steps. A step in the
plane sum theta = 1 is N z, N orthonormal, so this is a least-distance problem in z. Its dual is a
least-squares problem with nonnegative unknowns (Lawson and Hanson, chapter 23).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import nnls

from kboost._typing import FloatArray
from kboost.mkl.cutting_planes import CuttingPlanes
from kboost.mkl.svm import MixtureSVM, MKLPoint

_LEVEL = 0.5  # between the lower bound (0) and the upper bound (1)
_INFEASIBLE = 1e-12  # residual below which the problem has no solution


class LevelSearch:
    """Steps of the level method."""

    def __init__(self, svm: MixtureSVM) -> None:
        self._svm = svm
        self._cuts = CuttingPlanes(svm.n_kernels)
        self._plane = null_space(np.ones((1, svm.n_kernels)))  # N, (P, P - 1)
        self._upper = np.inf
        self.bound = 0.0

    def step(self, point: MKLPoint) -> MKLPoint:
        """The point at the projection onto the level set."""
        self._cuts.add(point)
        minimiser, self.bound = self._cuts.minimise()
        self._upper = min(self._upper, point.upper)
        gap = self._upper - self.bound
        theta = self._projected(point.theta, self.bound + _LEVEL * gap)
        return self._svm.at(minimiser if theta is None else theta)

    def _projected(self, now: FloatArray, level: float) -> FloatArray | None:
        """The nearest weights at this level; None if rounding leaves no level set."""
        slopes, constants = np.array(self._cuts.slopes), np.array(self._cuts.constants)
        normals = np.vstack([self._plane, slopes @ self._plane])  # normals z >= lower
        lower = np.concatenate([-now, constants - level - slopes @ now])
        z = least_norm(normals, lower)
        if z is None:
            return None
        theta: FloatArray = np.maximum(now + self._plane @ z, 0.0)
        return theta / float(theta.sum())


def least_norm(normals: FloatArray, lower: FloatArray) -> FloatArray | None:
    """The z of least norm with `normals z >= lower`; None if there is none."""
    size = np.linalg.norm(normals, axis=1)
    size[size == 0] = 1.0
    stacked = np.vstack([(normals / size[:, None]).T, lower / size])
    try:
        multipliers, _ = nnls(stacked, np.eye(len(stacked))[-1], maxiter=30 * stacked.shape[1])
    except RuntimeError:
        return None
    residual = stacked @ multipliers
    residual[-1] -= 1.0
    z: FloatArray = -residual[:-1] / min(residual[-1], -_INFEASIBLE)
    return None if residual[-1] > -_INFEASIBLE else z
