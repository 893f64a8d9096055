"""Kernels from a user's function, from scikit-learn, or from precomputed matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from kboost._typing import FloatArray, Matrix
from kboost.kernels import checks
from kboost.kernels.base import ViewKernel
from kboost.kernels.pairings import PairFunction
from kboost.kernels.rows import as_dense, as_rows
from kboost.kernels.sample import Sample
from kboost.kernels.views import View

SKLEARN_NAMES = ("additive_chi2", "chi2", "cosine")
NOT_PSD = ("additive_chi2",)


@dataclass(frozen=True, repr=False)
class FunctionKernel(ViewKernel):
    """A plain function ``func(X, Z) -> (n, m)`` as a kernel.

    Parameters
    ----------
    func : callable
        Called with blocks of rows; must return finite values of shape (n, m).
    psd : bool, default=True
        Whether the function is claimed to be positive semi-definite.
    columns : list of str or int, optional
        Features passed to the function.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels.adapters import FunctionKernel
    >>> FunctionKernel(lambda X, Z: np.minimum(X, Z.T))(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    func: PairFunction
    psd: bool = True

    @property
    def is_psd(self) -> bool:
        """As declared by ``psd``."""
        return self.psd

    def pair(self) -> str | PairFunction:
        """Return the function."""
        return self.func

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Check that the function can be called."""
        if not callable(self.func):
            raise ValueError(f"func must be callable; got func={self.func!r}.")
        return {}

    def profile(self, block: FloatArray) -> FloatArray:
        """Return a copy."""
        return block.copy()


@dataclass(frozen=True, repr=False)
class SklearnKernel(ViewKernel):
    """A kernel of ``sklearn.metrics.pairwise`` by name, with its default parameters.

    Parameters
    ----------
    name : {"additive_chi2", "chi2", "cosine"}
        Name of the kernel; the other scikit-learn kernels are classes of kboost.
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels.adapters import SklearnKernel
    >>> SklearnKernel("cosine")([[1.0, 0.0]], [[2.0, 0.0]])
    array([[1.]])
    """

    name: str

    @property
    def is_psd(self) -> bool:
        """Whether the named kernel is positive semi-definite."""
        return self.name not in NOT_PSD

    def pair(self) -> str | PairFunction:
        """Return scikit-learn's function."""
        function: PairFunction = PAIRWISE_KERNEL_FUNCTIONS[self.name]
        return function

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Check the name."""
        if self.name not in SKLEARN_NAMES:
            raise ValueError(f"name must be one of {SKLEARN_NAMES}; got name={self.name!r}.")
        return {}

    def profile(self, block: FloatArray) -> FloatArray:
        """Return a copy."""
        return block.copy()


@dataclass(frozen=True)
class PrecomputedPart:
    """Entries of ``[K_1 ... K_P]`` for rows of it and an (m, 1) array of centre indices."""

    part: int
    width: int

    def __call__(self, X: Matrix, Z: Matrix) -> FloatArray:
        """Return ``X[:, part * width + Z[:, 0]]``."""
        index = self.part * self.width + as_dense(Z)[:, 0].astype(np.intp)
        return as_dense(X[:, index])

    def diag(self, X: Matrix) -> FloatArray:
        """Return ``X[i, part * width + i]``, defined for the training rows in their order."""
        if X.shape[0] != self.width:
            raise ValueError(
                f"The diagonal of a precomputed kernel requires its {self.width} training rows; "
                f"got {X.shape[0]} rows."
            )
        rows = np.arange(self.width)
        return np.asarray(X[rows, self.part * self.width + rows]).ravel()


@dataclass(frozen=True, repr=False)
class Precomputed(ViewKernel):
    """Kernel number ``part`` of matrices given side by side, ``X = [K_1 ... K_P]``.

    Called with ``X`` of shape (n, P * width) and an (m, 1) array of centre indices.

    Parameters
    ----------
    part : int
        Number of the matrix, from 0.
    width : int
        Columns of one matrix, the number of training rows.
    psd : bool, default=True
        Whether the matrices are claimed to be positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels.adapters import Precomputed
    >>> Precomputed(part=1, width=2)(np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[1], [0]]))
    array([[4., 3.]])
    """

    part: int
    width: int
    psd: bool = True

    @property
    def is_psd(self) -> bool:
        """As declared by ``psd``."""
        return self.psd

    def pair(self) -> str | PairFunction:
        """Return the selection of columns."""
        return PrecomputedPart(self.part, self.width)

    def resolve_on(self, sample: Sample) -> Precomputed:
        """Check and return the kernel; ``sample`` may hold matrices or centre indices."""
        checks.integer("part", self.part, minimum=0)
        checks.integer("width", self.width, minimum=1)
        if self.columns is not None or self.on is not None:
            raise ValueError(f"columns and on must be None for precomputed kernels; got {self!r}.")
        return self

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the columns of the centres ``Z``, by default of all centres."""
        rows = as_rows(X)
        if rows.shape[1] < (self.part + 1) * self.width:
            raise ValueError(
                f"X must have at least {(self.part + 1) * self.width} columns for part"
                f" {self.part} of width {self.width}; got {rows.shape[1]}."
            )
        return super().__call__(rows, np.arange(self.width)[:, None] if Z is None else Z)

    def profile(self, block: FloatArray) -> FloatArray:
        """Return a copy."""
        return block.copy()
