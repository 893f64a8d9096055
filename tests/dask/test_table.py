"""Rows on their way: as short as their values allow, and no shorter."""

import numpy as np
import pandas as pd
import pytest

from kboost.dask._table import take
from kboost.dask._targets import _received, _sent


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0.0, 7.0, -32768.0], np.int16),
        ([0.0, 32768.0], np.float32),
        ([0.5, 2.0**40], np.float32),
        ([0.1, 1.0], np.float64),
        ([1.0, 1e300], np.float64),
    ],
)
def test_numbers_are_sent_as_short_as_they_are(values, dtype):
    rows = np.array([np.zeros(len(values)), values])
    sent, features = take(rows, np.array([1]), None), take(rows.T.copy(), slice(None), 1)
    np.testing.assert_array_equal(sent, rows[[1]])
    np.testing.assert_array_equal(features, rows[1])
    assert sent.dtype == features.dtype == dtype


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (pd.Series(["yes", "no", "yes"]), np.uint8),
        (pd.Series(["yes", None, "yes"], dtype="category"), np.uint8),
        (pd.Series([7, 9, 7], dtype="category"), np.uint8),
        (np.array(["yes", "no", "yes"]), np.uint8),
        (np.array([str(k) for k in range(300)], dtype=object), np.uint16),
        (pd.Series([1, 0, 1], dtype="Int64"), np.int8),
        (np.array([1.5, np.nan, 0.1]), np.float64),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), np.int8),
        (np.array([True, False]), bool),
    ],
)
def test_labels_and_targets_arrive_as_they_were(values, dtype):
    labels, numbers = _sent(values)
    assert numbers.dtype == dtype
    expected, found = np.asarray(values), _received(labels, numbers)
    assert found.dtype == expected.dtype
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(expected))
