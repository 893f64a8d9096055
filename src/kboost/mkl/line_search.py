"""A search along a line, by slopes.

J is convex and every machine gives its slope free of charge, so the least value of J between two
points lies where the slope changes sign: false position, with the Illinois rule for the end that
does not move, its slope halved, and divided by 4, 8, ... where it stays again and again: at a wall
it may be millions of times as steep as at the start.
"""

from __future__ import annotations

from kboost._typing import FloatArray
from kboost.mkl.svm import MixtureSVM, MKLPoint

_FLAT = 0.1  # of the first slope: near enough to the least value
_MOST = 40  # machines; few are needed but where slopes are very uneven


def along(machine: MixtureSVM, start: MKLPoint, way: FloatArray, end: MKLPoint) -> MKLPoint:
    """The lowest point found between `start` and `end = start + way`, which may be either.

    The slope must fall from `start` and rise at `end`.
    """
    left, right = 0.0, 1.0
    first = slope_left = float(way @ start.gradient)
    slope_right = float(way @ end.gradient)
    best = min(start, end, key=lambda point: point.upper)
    stayed = 0  # how often in a row the right end did; the left one, if negative
    for _ in range(_MOST):
        if slope_right <= 0 or slope_left >= 0:
            break
        place = left + (right - left) * slope_left / (slope_left - slope_right)
        trial = machine.at(start.theta + place * way)
        best = min(best, trial, key=lambda point: point.upper)
        slope = float(way @ trial.gradient)
        if abs(slope) <= _FLAT * abs(first):
            break
        if slope < 0:
            left, slope_left = place, slope
            slope_right /= 2.0 ** max(stayed, 0)
            stayed = max(stayed, 0) + 1
        else:
            right, slope_right = place, slope
            slope_left /= 2.0 ** max(-stayed, 0)
            stayed = min(stayed, 0) - 1
    return best
