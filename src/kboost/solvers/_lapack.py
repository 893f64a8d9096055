"""Cholesky factors, inverses and triangular systems, in place and without Python's global lock.

SciPy's wrappers hold the lock for the whole call, so threads that factor matrices would wait for
one another; and they copy a triangle that is part of a larger array. The routines are called by the
pointers that SciPy exports for Cython; ctypes releases the lock while they run.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from kboost._typing import FloatArray

_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_NUMBER: dict[Any, Any] = {
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
}


def cholesky_in_place(K: FloatArray) -> None:
    """Overwrite the lower triangle of K, symmetric and in C order, by its factor."""
    if info := _call("potrf", K):
        raise np.linalg.LinAlgError(f"not positive definite at row {info}.")


def invert_in_place(factor: FloatArray) -> None:
    """Overwrite a factor L by the lower triangle of the inverse of `L L'`."""
    _call("potri", factor)


def solve_lower_in_place(lower: FloatArray, right: FloatArray, *, transposed: bool = False) -> None:
    """Overwrite `right` (k,) or (k, q), in C order, by `L^-1 right` or `L'^-1 right`.

    `lower` (k, k) has the dtype of `right` and may be the corner of a larger array in C order. BLAS
    sees both transposed: `X' L' = right'`.
    """
    k, q = len(right), right.size // max(1, len(right))
    prefix, number = _PREFIX[right.dtype], _NUMBER[right.dtype]
    if not k or not q:
        return
    sizes = [ctypes.c_int(q), ctypes.c_int(k)]
    stride = ctypes.c_int(lower.strides[0] // lower.itemsize)
    triangle = [lower.ctypes.data_as(ctypes.c_void_p), ctypes.byref(stride)]
    letter = {True: ctypes.c_char(b"T"), False: ctypes.c_char(b"N")}
    upper, no_unit, right_side = (ctypes.c_char(c) for c in (b"U", b"N", b"R"))
    target = right.ctypes.data_as(ctypes.c_void_p)
    if q == 1:
        forms: list[Any] = [upper, letter[not transposed], no_unit, sizes[1]]
        step = ctypes.c_int(1)
        solve = _routine(f"{prefix}trsv", 8, cython_blas)
        solve(*[ctypes.byref(form) for form in forms], *triangle, target, ctypes.byref(step))
        return
    forms = [right_side, upper, letter[transposed], no_unit, *sizes, number(1.0)]
    solve = _routine(f"{prefix}trsm", 11, cython_blas)
    solve(*[ctypes.byref(form) for form in forms], *triangle, target, ctypes.byref(sizes[0]))


def _call(name: str, matrix: FloatArray) -> int:
    size, info = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    upper = ctypes.c_char(b"U")  # LAPACK sees the transpose
    _routine(_PREFIX[matrix.dtype] + name, 5, cython_lapack)(
        ctypes.byref(upper),
        ctypes.byref(size),
        matrix.ctypes.data_as(ctypes.c_void_p),
        ctypes.byref(size),
        ctypes.byref(info),
    )
    return info.value


@lru_cache
def _routine(name: str, n_arguments: int, module: Any) -> Any:
    capsule = module.__pyx_capi__[name]
    read_name = ctypes.pythonapi.PyCapsule_GetName
    read_name.restype, read_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)
    return kind(read(capsule, read_name(capsule)))
