"""Type aliases shared by every layer."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray: TypeAlias = NDArray[np.floating[Any]]
"""A dense float32 or float64 array of any number of dimensions."""

IntArray: TypeAlias = NDArray[np.integer[Any]]
"""Indices or counts."""

BoolArray: TypeAlias = NDArray[np.bool_]
"""Which of them."""

CSRMatrix: TypeAlias = sparse.csr_matrix | sparse.csr_array
"""Sparse rows."""

Matrix: TypeAlias = FloatArray | CSRMatrix
"""Rows of features, dense or sparse."""
