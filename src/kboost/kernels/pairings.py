"""A pairing: a dot product, a distance or a user's function of all pairs of rows, on a view.

Every kernel is an elementwise profile of pairings. All Gaussian widths on one view share the
"sqeuclidean" pairing; linear, polynomial and sigmoid kernels share "dot".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from kboost._typing import FloatArray, Matrix
from kboost.kernels.distances import cityblock, dot, row_dots, sqeuclidean
from kboost.kernels.rows import dense_if_small
from kboost.kernels.views import View

PairFunction: TypeAlias = Callable[[Any, Any], Any]

BLOCKS: dict[str, Callable[[Matrix, Matrix], FloatArray]] = {
    "dot": dot,
    "sqeuclidean": sqeuclidean,
    "cityblock": cityblock,
}
DIAGONAL_ROWS = 64


@dataclass(frozen=True)
class Pairing:
    """A block function on a view, hashable and equal by value.

    Parameters
    ----------
    kind : {"dot", "sqeuclidean", "cityblock"} or callable
        A callable takes rows ``(n, d)`` and ``(m, d)`` and returns ``(n, m)`` finite numbers.
    view : View
        The features used, of both arguments.

    Examples
    --------
    >>> import numpy as np
    >>> Pairing("cityblock", View()).compute(np.array([[0.0, 1.0]]), np.array([[2.0, 2.0]]))
    array([[3.]])
    """

    kind: str | PairFunction
    view: View

    def compute(self, X: Matrix, Z: Matrix) -> FloatArray:
        """Return the block of all pairs of raw rows."""
        VX = self.view.apply(X)
        return self.compute_viewed(VX, VX if Z is X else self.view.apply(Z))

    def compute_viewed(self, VX: Matrix, VZ: Matrix) -> FloatArray:
        """Return the block of rows to which the view was already applied."""
        if 0 in (VX.shape[0], VZ.shape[0]):
            return np.zeros((VX.shape[0], VZ.shape[0]), np.result_type(VX.dtype, VZ.dtype))
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.kind, str):
                return BLOCKS[self.kind](dense_if_small(VX), dense_if_small(VZ))
        return _checked(self.kind, VX, VZ)

    def diag_viewed(self, VX: Matrix) -> FloatArray:
        """Return the diagonal of ``compute_viewed(VX, VX)`` without computing the matrix."""
        if self.kind == "dot":
            with np.errstate(over="ignore", invalid="ignore"):
                return row_dots(VX)
        if isinstance(self.kind, str):
            return np.zeros(VX.shape[0], dtype=VX.dtype)
        diag = getattr(self.kind, "diag", None)
        if diag is not None:
            return np.asarray(diag(VX))
        pieces = (VX[s : s + DIAGONAL_ROWS] for s in range(0, VX.shape[0], DIAGONAL_ROWS))
        return np.concatenate([np.diagonal(_checked(self.kind, V, V)) for V in pieces])


def _checked(function: PairFunction, VX: Matrix, VZ: Matrix) -> FloatArray:
    """Call a user's function and check what it returns."""
    name = function_name(function)
    try:
        result = function(VX, VZ)
    except Exception as error:
        error.add_note(f"Raised by kernel function {name} on rows {VX.shape} and {VZ.shape}.")
        raise
    block = np.asarray(result.toarray() if sparse.issparse(result) else result)
    if block.dtype.kind not in "fiub":
        raise ValueError(
            f"kernel function {name} must return real numbers; got dtype {block.dtype}."
        )
    expected = (VX.shape[0], VZ.shape[0])
    if block.shape != expected:
        raise ValueError(
            f"kernel function {name} must return shape (n, m) = {expected}; got {block.shape}."
        )
    if not np.isfinite(block).all():
        raise ValueError(f"kernel function {name} must return finite values; got inf or nan.")
    return block.astype(np.result_type(VX.dtype, VZ.dtype), copy=False)


def function_name(function: PairFunction) -> str:
    """Return a readable name of a callable."""
    name = getattr(function, "__name__", None)
    return repr(function) if name is None else str(name)
