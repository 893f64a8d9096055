"""A kernel is an elementwise profile of pairings.

    k(x, z) = profile(b_1(x, z), ..., b_q(x, z)),   b_i a dot product or distance on a view

Blocks are computed once for all kernels that share them, the diagonal is the profile of the
diagonals of the pairings, and sums and products of kernels combine profiles of blocks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.pairings import BLOCKS, PairFunction, Pairing, function_name
from kboost.kernels.rows import as_rows
from kboost.kernels.sample import Sample
from kboost.kernels.views import View

if TYPE_CHECKING:
    from kboost.kernels.folding import Monomial


class Kernel(ABC):
    """Base of all kernels: immutable, hashable, equal by value, called as ``k(X, Z)``.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import Gaussian, Linear
    >>> k = 2.0 * Linear() + Gaussian(gamma=0.5)
    >>> k
    2.0 * Linear() + Gaussian(gamma=0.5)
    >>> k(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])).round(3)
    array([[3.   , 0.607]])
    """

    __array_ufunc__: ClassVar[None] = None  # numpy scalars leave ``2 * k`` to ``__rmul__``

    @property
    @abstractmethod
    def is_psd(self) -> bool:
        """Whether every matrix ``k(X)`` is declared positive semi-definite."""

    @property
    @abstractmethod
    def pairings(self) -> tuple[Pairing, ...]:
        """The distinct blocks the kernel is a profile of; the kernel must be resolved."""

    @abstractmethod
    def resolve_on(self, sample: Sample) -> Kernel:
        """Return the kernel with its parameters computed on a shared sample."""

    @abstractmethod
    def combine(self, blocks: Mapping[Pairing, FloatArray]) -> FloatArray:
        """Return the profile of the blocks in a new array, unchecked."""

    def monomials(self) -> tuple[Monomial, ...] | None:
        """Return the kernel as a sum of powers of dot products, None if it is not one."""
        return None

    def resolve(
        self, X: Any, sample_weight: Any = None, feature_names: Sequence[str] | None = None
    ) -> Kernel:
        """Return an equal kernel whose parameters are numbers, indices and fitted transforms.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
            Rows on which widths and transforms are computed.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight 2 is equivalent to the row given twice.
        feature_names : sequence of str, optional
            Names that ``columns=`` may use; taken from ``X`` if it is a data frame.

        Returns
        -------
        Kernel
            Resolving it again changes nothing.
        """
        return self.resolve_on(Sample(X, sample_weight, feature_names))

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return ``k(x, z)`` of all pairs, shape (n, m); ``Z=None`` means ``X``."""
        kernel = self.resolve(X if Z is None else Z)
        left = as_rows(X)
        right = left if Z is None else as_rows(Z, "Z")
        return kernel.from_blocks({p: p.compute(left, right) for p in kernel.pairings})

    def diag(self, X: Any) -> FloatArray:
        """Return ``k(x, x)`` of every row, without computing the matrix."""
        kernel, rows = self.resolve(X), as_rows(X)
        return kernel.from_blocks({p: p.diag_viewed(p.view.apply(rows)) for p in kernel.pairings})

    def from_blocks(self, blocks: Mapping[Pairing, FloatArray]) -> FloatArray:
        """Return the kernel values of computed blocks, in a new array of their shape."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return check_finite(self, self.combine(blocks))

    def __add__(self, other: Any) -> Kernel:
        from kboost.kernels.algebra import add

        return add(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from kboost.kernels.algebra import multiply, scale

        if isinstance(other, Kernel):
            return multiply(self, other)
        return scale(float(other), self) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


@dataclass(frozen=True, kw_only=True, repr=False)
class ViewKernel(Kernel):
    """Base class of kernels that are a profile of one pairing on one view.

    Parameters
    ----------
    columns : list of str or int, optional
        Names or indices of the features the kernel uses; all by default.
    on : {"standard", "ranks"} or fitted transform, optional
        Transform of each feature, fitted when the kernel is resolved.
    """

    columns: Any = None
    on: Any = None

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        columns = self.columns
        if columns is not None and not isinstance(columns, str) and hasattr(columns, "__iter__"):
            object.__setattr__(
                self, "columns", tuple(getattr(columns, "tolist", lambda: columns)())
            )

    @property
    def is_psd(self) -> bool:
        """True unless a subclass overrides it."""
        return True

    @abstractmethod
    def profile(self, block: FloatArray) -> FloatArray:
        """Return the kernel values of a block, in a new array."""

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Return the checked parameters that ``resolve`` replaces."""
        return {}

    def pair(self) -> str | PairFunction:
        """Return what the pairing computes."""
        return self.kind

    @property
    def pairing(self) -> Pairing:
        """The block the kernel is a profile of."""
        if isinstance(self.on, str) or any(isinstance(c, str) for c in self.columns or ()):
            raise ValueError(f"{self!r} must be resolved first; call its resolve(X).")
        kind = self.pair()
        if not callable(kind) and kind not in tuple(BLOCKS):
            raise ValueError(
                f"kind must be one of {', '.join(map(repr, BLOCKS))} in a kernel class without a "
                f"method pair; got {type(self).__name__}.kind={kind!r}."
            )
        return Pairing(kind, View(self.columns, self.on))

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """The block the kernel is a profile of, as a tuple of one."""
        return (self.pairing,)

    def resolve_on(self, sample: Sample) -> Kernel:
        """Return the kernel with its parameters computed on a shared sample."""
        view = sample.view(self.columns, self.on)
        parameters = self.parameters(sample, view)
        return replace(self, columns=view.columns, on=view.transform, **parameters)

    def combine(self, blocks: Mapping[Pairing, FloatArray]) -> FloatArray:
        """Return the profile of the kernel's block."""
        return self.profile(blocks[self.pairing])

    def __repr__(self) -> str:
        order = sorted(fields(self), key=lambda f: f.kw_only is True)  # own parameters first
        shown = [(f.name, getattr(self, f.name)) for f in order if not _is_default(self, f)]
        return f"{type(self).__name__}({', '.join(f'{n}={_show(v)}' for n, v in shown)})"


def check_finite(kernel: Kernel, values: FloatArray) -> FloatArray:
    """Return the values of a kernel; raise if any is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A finite sum proves finite entries; entries are tested only if the sum is not finite.
        finite = math.isfinite(values.sum()) or bool(np.isfinite(values).all())
    if not finite:
        raise ValueError(
            f"{kernel!r} must have finite values; got inf or nan; scale the features, or use "
            "on='standard'."
        )
    return values


def _is_default(kernel: ViewKernel, field: Field[Any]) -> bool:
    value = getattr(kernel, field.name)
    return (
        field.default is not MISSING
        and type(value) is type(field.default)
        and bool(value == field.default)
    )


def _show(value: Any) -> str:
    return function_name(value) if callable(value) else repr(value)
