"""SILP: cutting planes.

The semi-infinite linear program

    minimise z   with   z >= sum u - 1/2 theta'S(u)   for all feasible duals u

over theta in the simplex is solved on the cuts so far (cutting_planes.py). The SVM at its theta
gives the most violated cut, and J there is an upper bound. Sonnenburg, Rätsch, Schäfer, Schölkopf,
JMLR 2006.
"""

from __future__ import annotations

from kboost.mkl.cutting_planes import CuttingPlanes
from kboost.mkl.svm import MixtureSVM, MKLPoint


class SilpSearch:
    """Steps of the cutting-plane method."""

    def __init__(self, svm: MixtureSVM) -> None:
        self._svm = svm
        self._cuts = CuttingPlanes(svm.n_kernels)
        self.bound = 0.0  # u = 0 is feasible, so J >= 0

    def step(self, point: MKLPoint) -> MKLPoint:
        """The point where the cuts so far are lowest."""
        self._cuts.add(point)
        theta, self.bound = self._cuts.minimise()
        return self._svm.at(theta)
