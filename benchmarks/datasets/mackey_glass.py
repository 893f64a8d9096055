"""Mackey-Glass with noise, one step ahead from six values six units apart (SRE, Section 5.2.1).

    1000 rows to train, the 194 after them to validate: series with uniform noise
    1000 rows to test, from the values after those: no noise

The standard deviation of the noise is `noise` times that of the series. Draws differ in the noise
and in the place of the series; values are standardised by those of the training rows.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, FloatArray

N_TRAIN, N_VAL, N_TEST, AHEAD = 1000, 194, 1000, 100
SPAN = 31  # values that a row reaches over


def load(noise: float = 0.062, seed: int = 0) -> Data:
    """Rows of one draw."""
    from kboost.time_series import embed

    known, future = series(noise, seed)
    X, y = embed(known)
    X_test, y_test = embed(future[: SPAN + N_TEST])
    return Data(X[:N_TRAIN], y[:N_TRAIN], X_test, y_test, X[N_TRAIN:], y[N_TRAIN:])


def series(noise: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """The noisy values of training and validation, and the clean ones after them."""
    from kboost.datasets import make_mackey_glass

    rng = np.random.default_rng(seed)
    n = SPAN + N_TRAIN + N_VAL
    place = 500 + int(rng.integers(5000))
    clean = make_mackey_glass(n + SPAN + N_TEST + AHEAD, n_discarded=place)
    reach = np.sqrt(3.0) * noise * clean.std()
    noisy = clean[:n] + rng.uniform(-reach, reach, n)
    mean, deviation = noisy[: SPAN + N_TRAIN].mean(), noisy[: SPAN + N_TRAIN].std()
    return (noisy - mean) / deviation, (clean[n:] - mean) / deviation
