"""MKL-Hessian: Newton's method on the kernel weights.

While the free rows F of the SVM (0 < u < cap) stay free, their duals are smooth in theta, and

    d2 J / d theta_j d theta_k  =  V_j' (K_FF^-1 - K_FF^-1 1 1'K_FF^-1 / 1'K_FF^-1 1) V_k,
    V_j = (K_j v)_F,   K = sum_j theta_j K_j

(the second term comes from the bias). With K_FF = L L', W = L^-1 V and w = L^-1 1 it is W'W with w
projected out. The step solves

    minimise over the simplex   dJ'(t - theta) + 1/2 (t - theta)'H (t - theta)

and is shortened by a line search if J does not fall enough. Chapelle, Rakotomamonjy: Second order
optimization of kernel parameters, NIPS workshop 2008. With H = R'R the problem is to find the point
of least norm in the convex hull of the columns of R - r 1'. Nonnegative least squares finds it:
with one more row of ones and the target 1 there, the solution is a multiple of it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.optimize import nnls

from kboost._typing import FloatArray
from kboost.mkl.line_search import line_search
from kboost.mkl.simple import SimpleSearch
from kboost.mkl.svm import MixtureSVM, MKLPoint
from kboost.solvers.svm_active_set import active_sets

_JITTER = 1e-10  # relative to the mean diagonal of K_FF
_RIDGE = 1e-8  # relative to the mean diagonal of H, where H is flat
_SUFFICIENT = 1e-2  # share of the descent that the slope predicts


class HessianSearch:
    """Newton steps; if one fails, a step of the reduced gradient."""

    def __init__(self, svm: MixtureSVM) -> None:
        self._svm = svm
        self._simple = SimpleSearch(svm)

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The next point; None if no direction descends."""
        theta = newton_step(point, self.hessian_root(point))
        if theta is None:
            return self._simple.step(point)
        direction = theta - point.theta
        slope = float(direction @ point.gradient)
        if slope >= 0:
            return self._simple.step(point)
        end = self._svm.at(theta)
        if end.upper > point.upper + _SUFFICIENT * slope:
            end = line_search(self._svm, point, direction, end)
        return end if end.upper < point.upper else self._simple.step(point)

    def hessian_root(self, point: MKLPoint) -> FloatArray:
        """W with the bias projected out, (n_free, P): H = W'W."""
        free = np.flatnonzero(active_sets(point.duals, self._svm.upper)[0])
        V = point.products[:, free].T
        if not len(free):
            return V
        K = np.tensordot(point.theta, self._svm.matrices[:, free[:, None], free], axes=1)
        K[np.diag_indices_from(K)] += _JITTER * max(float(np.mean(np.diag(K))), 1e-300)
        try:
            L = cholesky(K, lower=True, check_finite=False)
        except LinAlgError:
            return V[:0]
        solved = solve_triangular(
            L, np.column_stack([V, np.ones(len(free))]), lower=True, check_finite=False
        )
        W, w = solved[:, :-1], solved[:, -1]
        projected: FloatArray = W - np.outer(w, (w @ W) / (w @ w))
        return projected


def newton_step(point: MKLPoint, root: FloatArray) -> FloatArray | None:
    """The weights that minimise the quadratic model of J; None if there is no such model."""
    P = len(point.theta)
    size = float((root * root).sum()) / P
    if not size > 0:
        return None
    R = qr(np.vstack([root, np.sqrt(_RIDGE * size) * np.eye(P)]), mode="r")[0][:P]
    r = R @ point.theta - solve_triangular(R, point.gradient, trans="T", check_finite=False)
    hull = R - r[:, None]
    scale = float(np.abs(hull).max())
    try:
        t, _ = nnls(np.vstack([hull / scale, np.ones(P)]), np.append(np.zeros(P), 1.0))
    except RuntimeError:
        return None
    total = t.sum()
    return t / total if np.isfinite(total) and total > 0 else None
