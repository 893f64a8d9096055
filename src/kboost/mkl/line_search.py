"""Line search by slopes.

J is convex and every SVM gives its slope at no cost, so the minimum of J between two points is
where the slope changes sign: false position with the Illinois rule. The slope at the end that does
not move is halved, and divided by 4, 8, ... if that end stays again, because at the boundary of the
simplex it may be millions of times as steep as at the start.
"""

from __future__ import annotations

from kboost._typing import FloatArray
from kboost.mkl.svm import MixtureSVM, MKLPoint

_FLAT = 0.1  # relative to the first slope: close enough to the minimum
_MAX_SVMS = 40  # few are needed unless the slopes are very uneven


def line_search(svm: MixtureSVM, start: MKLPoint, direction: FloatArray, end: MKLPoint) -> MKLPoint:
    """The lowest point seen between `start` and `end = start + direction`, these included.

    The slope must be negative at `start` and positive at `end`.
    """
    lower, upper = 0.0, 1.0
    first_slope = lower_slope = float(direction @ start.gradient)
    upper_slope = float(direction @ end.gradient)
    best = min(start, end, key=lambda point: point.upper)
    stayed = 0  # times in a row that the upper end did not move; negative for the lower end
    for _ in range(_MAX_SVMS):
        if upper_slope <= 0 or lower_slope >= 0:
            break
        length = lower + (upper - lower) * lower_slope / (lower_slope - upper_slope)
        trial = svm.at(start.theta + length * direction)
        best = min(best, trial, key=lambda point: point.upper)
        slope = float(direction @ trial.gradient)
        if abs(slope) <= _FLAT * abs(first_slope):
            break
        if slope < 0:
            lower, lower_slope = length, slope
            upper_slope /= 2.0 ** max(stayed, 0)
            stayed = max(stayed, 0) + 1
        else:
            upper, upper_slope = length, slope
            lower_slope /= 2.0 ** max(-stayed, 0)
            stayed = min(stayed, 0) - 1
    return best
