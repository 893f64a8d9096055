"""Rows on their way: as short as their values allow, and no shorter."""

import numpy as np
import pytest

from kboost.dask._table import take


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
