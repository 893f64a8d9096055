"""Two models that are the same."""

import dataclasses

import numpy as np
from scipy.sparse import issparse


def same(one, other):
    """Equal in type and value, all the way down."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.size > 1 and one.flags.contiguous:
            assert one.flags.c_contiguous == other.flags.c_contiguous
            assert one.flags.f_contiguous == other.flags.f_contiguous
        np.testing.assert_array_equal(one, other)
    elif issparse(one):
        assert one.shape == other.shape
        for part in ("data", "indices", "indptr"):
            same(getattr(one, part), getattr(other, part))
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            same(left, right)
    elif isinstance(one, np.random.RandomState):
        same(one.get_state(), other.get_state())
    elif isinstance(one, np.dtype | type | slice):
        assert one == other
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            same(getattr(one, field.name), getattr(other, field.name))
    elif hasattr(one, "__dict__"):
        same(vars(one), vars(other))
    else:
        assert one == other or (one != one and other != other)
