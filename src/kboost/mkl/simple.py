"""SimpleMKL (MKL-SD): the reduced gradient on the simplex.

    minimise J(theta),   theta >= 0,  sum theta = 1            (machine.py)

With m the largest weight, the direction D keeps the sum:

    D_j = 0                     where theta_j = 0 and dJ_j > dJ_m
    D_j = dJ_m - dJ_j           elsewhere, j not m
    D_m = - sum of the others

As long as J falls up to the wall, where a weight becomes 0, the step goes to the wall and on along
D without that weight; then a line search. Rakotomamonjy, Bach, Canu, Grandvalet, JMLR 2008,
Algorithm 1. Two departures: the line search uses slopes (along.py), where the paper has golden
sections; and while the same weights stay positive, D takes in a share of the last direction
(conjugate gradients, Polak and Ribiere), without which small gaps take thousands of steps.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import BoolArray, FloatArray
from kboost.mkl.line_search import along
from kboost.mkl.svm import MixtureSVM, MKLPoint


class SimpleSearch:
    """Steps of SimpleMKL."""

    def __init__(self, machine: MixtureSVM) -> None:
        self._machine = machine
        self._before: tuple[BoolArray, FloatArray, FloatArray] | None = None  # theta > 0, D, way

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The next point; None where no direction leads down."""
        way = self._conjugate(point)
        start = point
        while float(way @ point.gradient) < 0:
            wall, reach = to_the_wall(point.theta, way)
            end = self._machine.at(wall)
            if float(way @ end.gradient) > 0:
                point = along(self._machine, point, reach * way, end)
                break
            point = end  # J is convex: it has fallen, though machines may be too rough to show it
            way = without(way, wall, int(np.argmax(start.theta)))
        return point if point.upper < start.upper else None

    def _conjugate(self, point: MKLPoint) -> FloatArray:
        """The direction D, with a share of the last one where the same weights are positive."""
        steepest, positive = reduced(point), point.theta > 0
        way: FloatArray = steepest
        if self._before is not None and (self._before[0] == positive).all():
            _, last, last_way = self._before
            share = float(steepest @ (steepest - last)) / max(float(last @ last), 1e-300)
            tilted = steepest + max(share, 0.0) * last_way
            if not (tilted[~positive] < 0).any() and tilted @ point.gradient < 0:
                way = tilted
        self._before = positive, steepest, way
        return way


def reduced(point: MKLPoint) -> FloatArray:
    """The direction D."""
    theta, gradient = point.theta, point.gradient
    largest = int(np.argmax(theta))
    way: FloatArray = gradient[largest] - gradient
    way[(theta <= 0) & (way < 0)] = 0.0
    way[largest] = 0.0
    way[largest] = -way.sum()
    return way


def to_the_wall(theta: FloatArray, way: FloatArray) -> tuple[FloatArray, float]:
    """Where the first weight becomes 0, and how far that is."""
    falling = np.flatnonzero(way < 0)
    reaches = theta[falling] / -way[falling]
    reach = float(reaches.min())
    wall = np.maximum(theta + reach * way, 0.0)
    wall[falling[reaches <= reach]] = 0.0
    return wall / wall.sum(), reach


def without(way: FloatArray, wall: FloatArray, largest: int) -> FloatArray:
    """The direction without the weights that fell to 0; the largest makes up for them."""
    rest = np.where((wall <= 0) & (way < 0), 0.0, way)
    rest[largest] -= rest.sum()
    return np.zeros_like(rest) if wall[largest] <= 0 and rest[largest] < 0 else rest
