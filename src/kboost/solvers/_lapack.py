"""Cholesky factors and inverses that let other threads run meanwhile.

SciPy's wrappers hold Python's lock for the whole call, so threads that factor a matrix each would
wait for one another. The routine itself is reached through the pointers SciPy offers to Cython;
ctypes gives the lock back while it runs.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack

from kboost._typing import FloatArray

_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}


def cholesky_in_place(K: FloatArray) -> None:
    """Overwrite the lower triangle of K, symmetric and in C order, by its factor."""
    if info := _call("potrf", K):
        raise np.linalg.LinAlgError(f"not positive definite at row {info}.")


def invert_in_place(factor: FloatArray) -> None:
    """Overwrite the factor by the lower triangle of the inverse of what it is the factor of."""
    _call("potri", factor)


def _call(name: str, matrix: FloatArray) -> int:
    size, info = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    upper = ctypes.c_char(b"U")  # LAPACK sees the transpose
    _routine(_PREFIX[matrix.dtype] + name)(
        ctypes.byref(upper),
        ctypes.byref(size),
        matrix.ctypes.data_as(ctypes.c_void_p),
        ctypes.byref(size),
        ctypes.byref(info),
    )
    return info.value


@lru_cache
def _routine(name: str) -> Any:
    capsule = cython_lapack.__pyx_capi__[name]
    read_name = ctypes.pythonapi.PyCapsule_GetName
    read_name.restype, read_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)
    return kind(read(capsule, read_name(capsule)))
