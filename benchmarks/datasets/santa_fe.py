"""Santa Fe data set D, 25 steps ahead (SRE, Section 5.2.2), with a segmentation of our own.

The paper learns from 327 patterns and validates on 50, all of the dynamical mode in force at the
end of the series, found by a segmentation that is not available. Here the mode is what looks like
it: of the 2000 values before an origin, the 377 patterns (20 values, lag 1) nearest to the last
pattern. 50 of these, drawn at random, validate. Values are standardised by those 2000.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, FloatArray, data_file

WINDOW, DIMENSION, NEAREST, N_VAL, AHEAD = 2000, 20, 377, 50, 25
END = 100_000  # where the competition's continuation begins


def load(origin: int = END) -> Data:
    """Patterns before an origin; there are no test rows, only values to predict."""
    from kboost.time_series import embed

    known, _ = series(origin)
    X, y = embed(known, DIMENSION, 1)
    away = np.sum((X - known[: -DIMENSION - 1 : -1]) ** 2, axis=1)
    near = np.argsort(away, kind="stable")[:NEAREST]
    order = np.random.default_rng(0).permutation(near)
    held, learn = order[:N_VAL], order[N_VAL:]
    return Data(X[learn], y[learn], X[:0], y[:0], X[held], y[held])


def series(origin: int) -> tuple[FloatArray, FloatArray]:
    """The values known at an origin, and those to predict."""
    with np.load(data_file("santafe_d.npz")) as file:
        values = file["X"][:, 0]  # `train` and `test` of the file are places in it
    known = values[origin - WINDOW : origin]
    known, future = (
        (part - known.mean()) / known.std() for part in (known, values[origin : origin + AHEAD])
    )
    return known, future
