"""L-BFGS with a time limit: the best point seen, or SciPy's result."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from kboost.solvers.lbfgs import minimise_until

START = np.array([-1.2, 1.0, 0.5])
BOUNDS = [(-5.0, 5.0)] * 3


def banana(point):
    return rosen(point), rosen_der(point)


def test_with_time_it_equals_scipy():
    point, value, finished = minimise_until(lambda: False, banana, START, BOUNDS, maxiter=500)
    peer = minimize(
        banana, START, jac=True, method="L-BFGS-B", bounds=BOUNDS, options={"maxiter": 500}
    )
    np.testing.assert_array_equal(point, peer.x)
    assert (value, finished) == (peer.fun, True)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_without_time_the_best_point_is_returned(count):
    seen = []

    def watched(point):
        seen.append(rosen(point))
        return banana(point)

    found = minimise_until(lambda: len(seen) == count, watched, START, BOUNDS)
    assert found[1:] == (min(seen), False)
    assert rosen(found[0]) == min(seen)


def test_no_evaluation_gives_nan():
    point, value, finished = minimise_until(lambda: True, banana, START, BOUNDS)
    np.testing.assert_array_equal(point, START)
    assert np.isnan(value)
    assert not finished


def test_nan_is_never_the_best_value():
    seen = []

    def watched(point):
        seen.append(point)
        value, slope = banana(point)
        return (value, slope) if len(seen) < 3 else (np.nan, slope)

    _, value, _ = minimise_until(lambda: len(seen) == 3, watched, START, BOUNDS)
    assert value == min(rosen(point) for point in seen[:2])
