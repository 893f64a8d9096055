"""Arrays come back from their bytes to the last bit, and tables take few of them."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.datasets import load_breast_cancer, load_iris

from kboost.persistence.coding import PLAIN, decode, encode, size_of

SHAPES = npst.array_shapes(min_dims=1, max_dims=3, max_side=12)
DTYPES = st.sampled_from(["<f8", "<f4", ">f8", "<f2", "<i8", "<i4", "<u8", "|i1", "|b1"])


def back(array):
    code, body = encode(np.ascontiguousarray(array).reshape(-1), array.shape)
    assert len(body) == size_of(code, array.dtype, array.shape)
    again = decode(code, body, array.dtype, array.shape)
    assert again.dtype == array.dtype
    assert again.flags.writeable
    assert again.tobytes() == array.tobytes()
    return code, body


@given(DTYPES.flatmap(lambda dtype: npst.arrays(dtype, SHAPES)))
def test_any_array_comes_back(array):
    back(array)


@given(st.integers(0, 6), SHAPES, st.sampled_from([np.float64, np.float32]), st.integers(0, 99))
def test_decimals_come_back_as_integers(digits, shape, dtype, seed):
    rng = np.random.default_rng(seed)
    array = (rng.integers(-999, 999, (4, *shape)) / 10**digits).astype(dtype)
    code, _ = back(array)
    assert all(0 < q <= 10**digits for q in code[2])


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1.0],
        [0.0, -0.0, 1.0],
        [np.nan, 1.0],
        [np.inf, -np.inf],
        [1e300, 1e-300],
        [2.0**53, 2.0**53 + 2],
        [5e-324, 1.0],
    ],
)
def test_odd_values_come_back(values):
    back(np.array(values))
    back(np.array([values] * 5).reshape(5, len(values)))


def test_large_integers_come_back():
    back(np.array([2**63 - 1, -(2**63), 0, 1]))
    back(np.array([2**64 - 1, 0, 1, 2], dtype=np.uint64))


def test_ranks_are_integers_over_twice_the_rows():
    ranks = (np.cumsum([3, 1, 2, 1, 5]) - np.array([3, 1, 2, 1, 5]) / 2) / 12
    code, _ = back(np.concatenate([ranks, ranks]))
    assert code[2] == [24, 24]
    assert code[3] == [5, 5]


@pytest.mark.parametrize(("load", "most"), [(load_iris, 0.11), (load_breast_cancer, 0.27)])
def test_tables_take_few_bytes(load, most):
    X = load().data
    code, body = back(X)
    assert code != PLAIN
    assert len(zlib.compress(body, 9)) < most * X.nbytes
