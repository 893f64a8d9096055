"""Lp-MKL: weights of bounded p-norm, in closed form.

    minimise over theta >= 0, |theta|_p <= 1    J(theta)            (svm.py)

For given functions f_j = theta_j K_j v of norms n_j = theta_j sqrt(S_j), the best weights are

    theta_j = n_j^(2/(p+1)) / (sum_k n_k^(2p/(p+1)))^(1/p),

so SVM and weights alternate. Kloft, Brefeld, Sonnenburg, Zien, JMLR 2011. For p near 1 these steps
become small long before the optimum, so a step is extrapolated by a power that grows while J falls,

    theta_j (theta_new_j / theta_j)^reach,    scaled to |theta|_p = 1.

If J does not fall, the closed form is taken, under which it always does. At p = 1 that is not
enough, and learn.py takes another method.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray
from kboost.mkl.svm import MixtureSVM, MKLPoint

_GROWTH = 1.5  # of the reach


class LpSearch:
    """Alternating steps of weights and SVM."""

    def __init__(self, svm: MixtureSVM, p: float) -> None:
        self._svm, self._p = svm, p
        self._reach = 1.0

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The point at the best weights for the functions of this one, or beyond them."""
        closed = closed_form(point, self._p)
        if closed is None:
            return None
        if self._reach > 1.0:
            positive = closed > 0
            ratio = closed[positive] / point.theta[positive]
            beyond = np.zeros_like(closed)
            beyond[positive] = closed[positive] * ratio ** (self._reach - 1.0)
            trial = self._svm.at(scaled(beyond, self._p))
            if trial.upper < point.upper:
                self._reach *= _GROWTH
                return trial
        self._reach = _GROWTH if self._reach == 1.0 else 1.0
        return self._svm.at(closed)


def closed_form(point: MKLPoint, p: float) -> FloatArray | None:
    """The best weights for the functions of this point; None if these are all 0."""
    norms = point.theta * np.sqrt(point.quadratic)
    largest = float(norms.max(initial=0.0))
    return scaled((norms / largest) ** (2.0 / (p + 1.0)), p) if largest > 0 else None


def scaled(theta: FloatArray, p: float) -> FloatArray:
    """Weights scaled to |theta|_p = 1, without overflow."""
    theta = theta / theta.max()
    return theta / float(np.linalg.norm(theta, p))
