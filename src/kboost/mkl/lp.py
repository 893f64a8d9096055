"""Lp-MKL: weights of bounded p-norm, by their closed form.

    minimise over theta >= 0, |theta|_p <= 1    J(theta)            (machine.py)

For given functions f_j = theta_j K_j v of norms n_j = theta_j sqrt(S_j), the best weights are

    theta_j = n_j^(2/(p+1)) / (sum_k n_k^(2p/(p+1)))^(1/p),

so machine and weights take turns. Kloft, Brefeld, Sonnenburg, Zien, JMLR 2011. For p near 1 the
turns become small long before the optimum, so each goes further than its closed form, by a power
that grows as long as J falls,

    theta_j (theta_new_j / theta_j)^reach,    to |theta|_p = 1,

and is taken back to the closed form, under which J always falls, where it did not. At p = 1 that
is not enough: learn.py has another method for it.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray
from kboost.mkl.svm import MixtureSVM, MKLPoint

_FURTHER = 1.5


class LpSearch:
    """Turns of weights and machine."""

    def __init__(self, machine: MixtureSVM, p: float) -> None:
        self._machine, self._p = machine, p
        self._reach = 1.0

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The machine at the best weights for the functions of this one, or further that way."""
        turn = closed_form(point, self._p)
        if turn is None:
            return None
        if self._reach > 1.0:
            there = turn > 0
            ahead = np.zeros_like(turn)
            ahead[there] = turn[there] * (turn[there] / point.theta[there]) ** (self._reach - 1.0)
            trial = self._machine.at(scaled(ahead, self._p))
            if trial.upper < point.upper:
                self._reach *= _FURTHER
                return trial
        self._reach = _FURTHER if self._reach == 1.0 else 1.0
        return self._machine.at(turn)


def closed_form(point: MKLPoint, p: float) -> FloatArray | None:
    """The weights best for the functions of this point; None where they are all 0."""
    norms = point.theta * np.sqrt(point.powers)
    most = float(norms.max(initial=0.0))
    return scaled((norms / most) ** (2.0 / (p + 1.0)), p) if most > 0 else None


def scaled(theta: FloatArray, p: float) -> FloatArray:
    """To |theta|_p = 1, without overflow."""
    theta = theta / theta.max()
    return theta / float(np.linalg.norm(theta, p))
