"""MKL-Hessian: Newton's method on the kernel weights.

Where the free rows F of the machine (0 < u < cap) stay free, their duals follow theta smoothly, and

    d2 J / d theta_j d theta_k  =  V_j' (K_FF^-1 - K_FF^-1 1 1'K_FF^-1 / 1'K_FF^-1 1) V_k,
    V_j = (K_j v)_F,   K = sum_j theta_j K_j

(the second term is the bias's). With K_FF = L L', W = L^-1 V and w = L^-1 1 it is W'W with w
projected out. The step solves

    minimise over the simplex   dJ'(t - theta) + 1/2 (t - theta)'H (t - theta)

and is cut short by a line search where J would not fall. Chapelle, Rakotomamonjy: Second order
optimization of kernel parameters, NIPS workshop 2008. With H = R'R the problem is to find the point
of least norm in the hull of the columns of R - r 1', which nonnegative least squares does: under
one more row of ones, aimed at 1, the solution is a multiple of it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.optimize import nnls

from kboost._typing import FloatArray
from kboost.mkl.line_search import along
from kboost.mkl.simple import SimpleSearch
from kboost.mkl.svm import MixtureSVM, MKLPoint
from kboost.solvers.svm_active_set import active_sets

_JITTER = 1e-10  # of the mean diagonal of K_FF
_ROUND = 1e-8  # of the mean diagonal of H, where H is flat
_ENOUGH = 1e-2  # of the fall that the slope promises


class HessianSearch:
    """Newton steps; where one fails, a step of the reduced gradient."""

    def __init__(self, machine: MixtureSVM) -> None:
        self._machine = machine
        self._simple = SimpleSearch(machine)

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The next point; None where no direction leads down."""
        theta = newton_step(point, self._root(point))
        if theta is None:
            return self._simple.step(point)
        way = theta - point.theta
        slope = float(way @ point.gradient)
        if slope >= 0:
            return self._simple.step(point)
        end = self._machine.at(theta)
        if end.upper > point.upper + _ENOUGH * slope:
            end = along(self._machine, point, way, end)
        return end if end.upper < point.upper else self._simple.step(point)

    def _root(self, point: MKLPoint) -> FloatArray:
        """W with the bias projected out, (n_free, P): H = W'W."""
        free = np.flatnonzero(active_sets(point.duals, self._machine.caps)[0])
        V = point.pulls[:, free].T
        if not len(free):
            return V
        K = np.tensordot(point.theta, self._machine.blocks[:, free[:, None], free], axes=1)
        K[np.diag_indices_from(K)] += _JITTER * max(float(np.mean(np.diag(K))), 1e-300)
        try:
            L = cholesky(K, lower=True, check_finite=False)
        except LinAlgError:
            return V[:0]
        halves = solve_triangular(
            L, np.column_stack([V, np.ones(len(free))]), lower=True, check_finite=False
        )
        W, w = halves[:, :-1], halves[:, -1]
        projected: FloatArray = W - np.outer(w, (w @ W) / (w @ w))
        return projected


def newton_step(point: MKLPoint, root: FloatArray) -> FloatArray | None:
    """The weights where the quadratic model of J is least; None where there is no model."""
    P = len(point.theta)
    size = float((root * root).sum()) / P
    if not size > 0:
        return None
    R = qr(np.vstack([root, np.sqrt(_ROUND * size) * np.eye(P)]), mode="r")[0][:P]
    r = R @ point.theta - solve_triangular(R, point.gradient, trans="T", check_finite=False)
    hull = R - r[:, None]
    scale = float(np.abs(hull).max())
    try:
        t, _ = nnls(np.vstack([hull / scale, np.ones(P)]), np.append(np.zeros(P), 1.0))
    except RuntimeError:
        return None
    total = t.sum()
    return t / total if np.isfinite(total) and total > 0 else None
