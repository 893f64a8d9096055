"""SILP: cutting planes.

The semi-infinite linear program

    minimise z   with   z >= sum u - 1/2 theta'S(u)   for ALL u of the machine

over theta in the simplex is solved on the cuts so far (bundle.py); the machine at its theta finds
the cut that is violated most, and J there is an upper bound. Sonnenburg, Rätsch, Schäfer,
Schölkopf, JMLR 2006.
"""

from __future__ import annotations

from kboost.mkl.bundle import CuttingPlanes
from kboost.mkl.svm import MixtureSVM, MKLPoint


class SilpSearch:
    """Steps of the cutting-plane method."""

    def __init__(self, machine: MixtureSVM) -> None:
        self._machine = machine
        self._bundle = CuttingPlanes(machine.n_kernels)
        self.bound = 0.0  # J is the value of a machine, which u = 0 bounds

    def step(self, point: MKLPoint) -> MKLPoint:
        """The machine where the cuts so far are lowest."""
        self._bundle.add(point)
        theta, self.bound = self._bundle.lowest()
        return self._machine.at(theta)
