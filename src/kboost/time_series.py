"""Time series as rows of lagged values, and iterated predictions.

row at time t:   (s[t], s[t - lag], ..., s[t - (dimension - 1) lag])   ->   s[t + 1]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from kboost._rules import COUNT, check_params
from kboost._typing import FloatArray, IntArray


def embed(series: Any, dimension: int = 6, lag: int = 6) -> tuple[FloatArray, FloatArray]:
    """Convert a series to rows of lagged values and the value that follows each row.

    Parameters
    ----------
    series : array-like of shape (n,)
        The series.
    dimension : int, default=6
        Values per row.
    lag : int, default=6
        Time between two values of a row.

    Returns
    -------
    X : ndarray of shape (n - (dimension - 1) * lag - 1, dimension)
        Rows, the newest value first; row i is at time ``i + (dimension - 1) * lag``.
    y : ndarray of the same length
        The next value of each row.

    Examples
    --------
    >>> from kboost.time_series import embed
    >>> X, y = embed([0, 1, 2, 3, 4, 5], dimension=2, lag=3)
    >>> X
    array([[3., 0.],
           [4., 1.]])
    >>> y
    array([4., 5.])
    """
    values, span = _checked(series, {"dimension": dimension, "lag": lag})
    if len(values) < span + 1:
        raise ValueError(
            f"series must have more than (dimension - 1) * lag + 1 = {span} values; "
            f"got {len(values)}."
        )
    windows = np.lib.stride_tricks.sliding_window_view(values, span)
    return windows[:-1, ::-lag].copy(), values[span:].copy()


def iterate(
    model: Any,
    series: Any,
    n_steps: int,
    *,
    dimension: int = 6,
    lag: int = 6,
    starts: Any = None,
) -> FloatArray:
    """Predict several steps ahead with a one-step model, using each prediction for the next.

    All starts are predicted together: ``model.predict`` is called `n_steps` times.

    Parameters
    ----------
    model : fitted regressor
        Predicts the next value from a row of :func:`embed`.
    series : array-like of shape (n,)
        The known values; a prediction uses only those up to its start.
    n_steps : int
        Steps to predict.
    dimension : int, default=6
        Values per row.
    lag : int, default=6
        Time between two values of a row.
    starts : array-like of int, optional
        Time of the last known value of each prediction; by default all times with enough lags.

    Returns
    -------
    ndarray of shape (n_starts, n_steps)
        Entry (i, k) predicts the value at time ``starts[i] + k + 1``.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from kboost.time_series import embed, iterate
    >>> series = [1, 2, 3, 4, 5, 6]
    >>> model = LinearRegression().fit(*embed(series, dimension=2, lag=1))
    >>> iterate(model, series, 3, dimension=2, lag=1, starts=[5]).round(6)
    array([[7., 8., 9.]])
    """
    sizes = {"dimension": dimension, "lag": lag, "n_steps": n_steps}
    values, span = _checked(series, sizes)
    times = _checked_starts(starts, len(values), span)
    history = times[:, None] + np.arange(1 - span, 1)
    path = np.empty((len(times), span + n_steps))
    path[:, :span] = values[history]
    for now in range(span, span + n_steps):
        rows = path[:, now - span : now][:, ::-lag]
        path[:, now] = _one_per_row(model.predict(np.ascontiguousarray(rows)), len(times))
    return path[:, span:]


def _checked(series: Any, sizes: Mapping[str, int]) -> tuple[FloatArray, int]:
    """The series as floats, and the number of its values that a row spans."""
    check_params(sizes, dict.fromkeys(sizes, COUNT))
    try:
        values: FloatArray = check_array(
            series, ensure_2d=False, dtype=np.float64, input_name="series"
        )
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"series must be finite numbers in one dimension; {reason}.") from error
    if values.ndim != 1:
        raise ValueError(f"series must be one-dimensional; got shape {values.shape}.")
    return values, (sizes["dimension"] - 1) * sizes["lag"] + 1


def _one_per_row(predicted: Any, n: int) -> FloatArray:
    """The predicted values, (n,), also from a model that returns shape (n, 1)."""
    values: FloatArray = np.asarray(predicted)
    if values.shape not in ((n,), (n, 1)):
        raise ValueError(
            f"model must predict one value per row; got shape {values.shape} for {n} rows."
        )
    return values.reshape(n)


def _checked_starts(starts: Any, n: int, span: int) -> IntArray:
    first = span - 1
    if starts is None:
        times = np.arange(first, n)
    else:
        times = np.atleast_1d(np.asarray(starts))
        if times.ndim != 1 or not np.issubdtype(times.dtype, np.integer):
            raise ValueError(f"starts must be integers in one dimension; got starts={starts!r}.")
    if not len(times) or times.min() < first or times.max() >= n:
        raise ValueError(
            f"starts must be at least (dimension - 1) * lag = {first} and below the length {n} of "
            f"the series; got starts={starts!r}."
        )
    return times
