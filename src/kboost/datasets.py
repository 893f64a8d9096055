"""Synthetic series and curves.

Mackey-Glass is the delay equation

    dx/dt = -0.1 x(t) + 0.2 x(t - delay) / (1 + x(t - delay)^10),

chaotic for a delay of 17. It is integrated by the classical Runge-Kutta method with step 0.1; the
delayed value at half steps is a cubic Hermite interpolation, which preserves the order of the
method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kboost._rules import COUNT, INTEGER, NOT_NEGATIVE, POSITIVE, Rule, check_params
from kboost._typing import FloatArray

_STEPS = 10  # integration steps per unit of time
_START = Rule("positive and at most 1e30", lambda v: POSITIVE.holds(v) and v <= 1e30)
_DISCARDED = Rule("an integer of zero or more", lambda v: INTEGER.holds(v) and v >= 0)


def make_mackey_glass(
    n_samples: int = 1000,
    *,
    delay: int = 17,
    noise: float = 0.0,
    start: float = 1.2,
    n_discarded: int = 500,
    random_state: Any = None,
) -> FloatArray:
    """Make a Mackey-Glass series with one value per unit of time.

    Parameters
    ----------
    n_samples : int, default=1000
        Length of the series.
    delay : int, default=17
        Delay of the equation; the series is chaotic for 17 and above.
    noise : float, default=0.0
        Standard deviation of the uniform noise added to the series, as a multiple of the
        standard deviation of the series.
    start : float, default=1.2
        Constant value of the series before time 0.
    n_discarded : int, default=500
        Number of initial values to discard.
    random_state : int, RandomState instance or None, default=None
        Draws the noise.

    Returns
    -------
    ndarray of shape (n_samples,)
        The series.

    Examples
    --------
    >>> from kboost.datasets import make_mackey_glass
    >>> series = make_mackey_glass(300)
    >>> bool(0.2 < series.min() < 0.6 and 1.2 < series.max() < 1.4)
    True
    """
    check_params(
        locals(),
        {
            "n_samples": COUNT,
            "delay": COUNT,
            "noise": NOT_NEGATIVE,
            "start": _START,
            "n_discarded": _DISCARDED,
        },
    )
    path = _mackey_glass_path(n_discarded + n_samples - 1, delay, start)
    series = path[::_STEPS][n_discarded:]
    rng = check_random_state(random_state)
    return series + _uniform(rng, noise * float(series.std()), n_samples)


def make_sinc(
    n_samples: int = 100,
    *,
    half_width: float = 2 * np.pi,
    noise: float = 0.0,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Make rows of ``sin(x) / x`` at equally spaced points.

    Parameters
    ----------
    n_samples : int, default=100
        Number of points.
    half_width : float, default=2*pi
        The points lie in ``[-half_width, half_width]``.
    noise : float, default=0.0
        Standard deviation of Gaussian noise on the values.
    random_state : int, RandomState instance or None, default=None
        Draws the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Points.
    y : ndarray of shape (n_samples,)
        Values.

    Examples
    --------
    >>> from kboost.datasets import make_sinc
    >>> X, y = make_sinc(5)
    >>> y.round(3) + 0.0
    array([0., 0., 1., 0., 0.])
    """
    check_params(locals(), {"n_samples": COUNT, "half_width": POSITIVE, "noise": NOT_NEGATIVE})
    x = np.linspace(-half_width, half_width, n_samples)
    rng = check_random_state(random_state)
    y = np.sinc(x / np.pi) + noise * rng.standard_normal(n_samples)
    return x[:, None], y


def _mackey_glass_path(n_units: int, delay: int, start: float) -> FloatArray:
    """The series at every step of the integration, from time 0 to `n_units`."""
    h, back, n = 1.0 / _STEPS, delay * _STEPS, n_units * _STEPS
    x = [start] * (n + 1)
    slope = [0.0] * (n + 1)

    def drive(value: float) -> float:
        return 0.2 * value / (1.0 + value**10)

    def past(i: int) -> tuple[float, float]:
        """The delayed value at step i and half a step later."""
        j = i - back
        if j < 0:
            return start, start
        middle = 0.5 * (x[j] + x[j + 1]) + h / 8 * (slope[j] - slope[j + 1])
        return x[j], middle

    for i in range(n):
        first, middle = past(i)
        g0, g1, g2 = drive(first), drive(middle), drive(past(i + 1)[0])
        slope[i] = k1 = g0 - 0.1 * x[i]
        k2 = g1 - 0.1 * (x[i] + h / 2 * k1)
        k3 = g1 - 0.1 * (x[i] + h / 2 * k2)
        k4 = g2 - 0.1 * (x[i] + h * k3)
        x[i + 1] = x[i] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array(x)


def _uniform(rng: np.random.RandomState, deviation: float, size: int) -> FloatArray:
    """Uniform noise around 0 of a given standard deviation."""
    reach = np.sqrt(3.0) * deviation
    drawn: FloatArray = rng.uniform(-reach, reach, size)
    return drawn
