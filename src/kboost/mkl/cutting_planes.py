"""Cutting planes of J, and the linear program over them.

The duals u_k of every SVM bound J from below by a linear function of theta,

    J(theta) >= c_k - 1/2 S_k'theta,      c_k = sum u_k,

so the program

    minimise z   with   z + 1/2 S_k'theta >= c_k  for all k,   theta >= 0,  sum theta = 1

    [ 1   S_1'/2 ]                [ c_1 ]
    [ 1   S_2'/2 ]  [z; theta] >= [ c_2 ]
    [ ...        ]                [ ... ]
    [ 0   1'     ]       =        [  1  ]

bounds the optimum from below, more tightly with every cut. HiGHS is started from its last solution.
Values are divided by that of the first SVM, because the tolerances of HiGHS are absolute.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray
from kboost.mkl.svm import MKLPoint
from kboost.solvers.highs import INFINITY, GrowingLP


class CuttingPlanes:
    """The cuts at all points so far."""

    def __init__(self, n_kernels: int) -> None:
        self._program = GrowingLP(
            np.eye(n_kernels + 1)[0],
            np.concatenate([[-INFINITY], np.zeros(n_kernels)]),
            np.concatenate([[INFINITY], np.ones(n_kernels)]),
        )
        total = np.ones((1, n_kernels + 1))
        total[0, 0] = 0.0
        self._program.add_rows(total, np.ones(1), np.ones(1))
        self._unit: float | None = None
        self.constants: list[float] = []  # c_k
        self.slopes: list[FloatArray] = []  # S_k / 2

    def add(self, point: MKLPoint) -> None:
        """Add the cut of this point's duals."""
        self.constants.append(float(point.duals.sum()))
        self.slopes.append(point.quadratic / 2)
        if self._unit is None:
            self._unit = max(point.upper, 1e-300)
        row = np.concatenate([[1.0], self.slopes[-1] / self._unit])[None]
        lower = np.array([self.constants[-1] / self._unit])
        self._program.add_rows(row, lower, np.array([INFINITY]))

    def minimise(self) -> tuple[FloatArray, float]:
        """The weights at which the cuts are lowest, and the lower bound of J there."""
        assert self._unit is not None
        solution = self._program.solve()
        theta = np.maximum(solution.values[1:], 0.0)
        return theta / theta.sum(), solution.objective * self._unit
