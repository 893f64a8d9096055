"""SimpleMKL (MKL-SD): the reduced gradient on the simplex.

    minimise J(theta),   theta >= 0,  sum theta = 1            (svm.py)

With m the largest weight, the direction D keeps the sum:

    D_j = 0                     where theta_j = 0 and dJ_j > dJ_m
    D_j = dJ_m - dJ_j           elsewhere, j not m
    D_m = - sum of the others

While J falls up to the boundary, where a weight becomes 0, the step goes to the boundary and on
along D without that weight; then follows a line search. Rakotomamonjy, Bach, Canu, Grandvalet, JMLR
2008, Algorithm 1. Two differences: the line search uses slopes (line_search.py) in place of golden
sections; and while the same weights are positive, D includes a share of the last direction
(conjugate gradients, Polak and Ribiere), without which small gaps take thousands of steps.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import BoolArray, FloatArray
from kboost.mkl.line_search import line_search
from kboost.mkl.svm import MixtureSVM, MKLPoint


class SimpleSearch:
    """Steps of SimpleMKL."""

    def __init__(self, svm: MixtureSVM) -> None:
        self._svm = svm
        # of the last step: theta > 0, reduced gradient, direction
        self._last: tuple[BoolArray, FloatArray, FloatArray] | None = None

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The next point; None if no direction descends."""
        direction = self._conjugate(point)
        start = point
        while float(direction @ point.gradient) < 0:
            theta, length = to_boundary(point.theta, direction)
            end = self._svm.at(theta)
            if float(direction @ end.gradient) > 0:
                point = line_search(self._svm, point, length * direction, end)
                break
            point = end  # J is convex, so it fell, even if less than the accuracy of the SVMs
            direction = without_zeros(direction, theta, int(np.argmax(start.theta)))
        return point if point.upper < start.upper else None

    def _conjugate(self, point: MKLPoint) -> FloatArray:
        """The direction D, with a share of the last one if the same weights are positive."""
        steepest, positive = reduced_gradient(point), point.theta > 0
        direction: FloatArray = steepest
        if self._last is not None and (self._last[0] == positive).all():
            _, last, last_direction = self._last
            share = float(steepest @ (steepest - last)) / max(float(last @ last), 1e-300)
            conjugate = steepest + max(share, 0.0) * last_direction
            if not (conjugate[~positive] < 0).any() and conjugate @ point.gradient < 0:
                direction = conjugate
        self._last = positive, steepest, direction
        return direction


def reduced_gradient(point: MKLPoint) -> FloatArray:
    """The direction D."""
    theta, gradient = point.theta, point.gradient
    largest = int(np.argmax(theta))
    direction: FloatArray = gradient[largest] - gradient
    direction[(theta <= 0) & (direction < 0)] = 0.0
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def to_boundary(theta: FloatArray, direction: FloatArray) -> tuple[FloatArray, float]:
    """The weights where the first of them becomes 0, and the length of the step."""
    falling = np.flatnonzero(direction < 0)
    lengths = theta[falling] / -direction[falling]
    length = float(lengths.min())
    end = np.maximum(theta + length * direction, 0.0)
    end[falling[lengths <= length]] = 0.0
    return end / end.sum(), length


def without_zeros(direction: FloatArray, theta: FloatArray, largest: int) -> FloatArray:
    """The direction without the weights that became 0; the largest weight keeps the sum."""
    kept = np.where((theta <= 0) & (direction < 0), 0.0, direction)
    kept[largest] -= kept.sum()
    return np.zeros_like(kept) if theta[largest] <= 0 and kept[largest] < 0 else kept
