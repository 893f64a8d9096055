"""Sums, products and positive multiples of kernels.

    (s k)(x, z) = s k(x, z)     (k + l)(x, z) = k(x, z) + l(x, z)     (k l)(x, z) = k(x, z) l(x, z)

All three preserve positive semi-definiteness. Nested sums and products are flattened, and factors
are moved to the front, so that equal expressions are equal kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kboost._typing import FloatArray
from kboost.kernels import checks
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.sample import Sample

if TYPE_CHECKING:
    from kboost.kernels.folding import Monomial


def scale(factor: float, kernel: Kernel) -> Kernel:
    """Return ``factor * kernel``."""
    if isinstance(kernel, Scaled):
        factor, kernel = factor * kernel.scale, kernel.kernel
    return kernel if factor == 1.0 else Scaled(factor, kernel)


def add(left: Kernel, right: Kernel) -> Kernel:
    """Return ``left + right`` as one flat sum."""
    parts = (k.kernels if isinstance(k, Sum) else (k,) for k in (left, right))
    return Sum(tuple(k for part in parts for k in part))


def terms(kernel: Kernel) -> tuple[Kernel, ...]:
    """Return the terms of a sum; a multiple of a sum is a sum of multiples."""
    if isinstance(kernel, Scaled):
        return tuple(scale(kernel.scale, term) for term in terms(kernel.kernel))
    return kernel.kernels if isinstance(kernel, Sum) else (kernel,)


def sum_kernels(kernels: Sequence[Kernel]) -> Kernel | None:
    """Return the sum of kernels; None for an empty sequence."""
    return None if not kernels else kernels[0] if len(kernels) == 1 else Sum(tuple(kernels))


def multiply(left: Kernel, right: Kernel) -> Kernel:
    """Return ``left * right`` as one flat product, with its factor in front."""
    factor = 1.0
    flat: list[Kernel] = []
    for kernel in (left, right):
        inner = kernel
        if isinstance(inner, Scaled):
            factor, inner = factor * inner.scale, inner.kernel
        flat.extend(inner.kernels if isinstance(inner, Product) else (inner,))
    return scale(factor, Product(tuple(flat)))


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """A positive multiple of a kernel."""

    scale: float
    kernel: Kernel

    @property
    def is_psd(self) -> bool:
        """Whether the scaled kernel is positive semi-definite."""
        return self.kernel.is_psd

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """The blocks of the scaled kernel."""
        return self.kernel.pairings

    def resolve_on(self, sample: Sample) -> Kernel:
        """Return the multiple of the resolved kernel."""
        return scale(checks.positive("scale", self.scale), self.kernel.resolve_on(sample))

    def combine(self, blocks: Mapping[Pairing, FloatArray]) -> FloatArray:
        """Return the multiple, unchecked."""
        out = self.kernel.combine(blocks)
        out *= self.scale
        return out

    def monomials(self) -> tuple[Monomial, ...] | None:
        """Return the multiples of the kernel's monomials."""
        inner = self.kernel.monomials()
        return None if inner is None else tuple(m.times(self.scale) for m in inner)

    def __repr__(self) -> str:
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.scale!r} * {inner}"


@dataclass(frozen=True, repr=False)
class _Composite(Kernel):
    kernels: tuple[Kernel, ...]

    @property
    def is_psd(self) -> bool:
        """Whether all parts are positive semi-definite."""
        return all(k.is_psd for k in self.kernels)

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """The distinct blocks of all parts."""
        return tuple(dict.fromkeys(p for k in self.kernels for p in k.pairings))

    def resolve_on(self, sample: Sample) -> Kernel:
        """Return the same combination of resolved kernels."""
        return type(self)(tuple(k.resolve_on(sample) for k in self.kernels))


class Sum(_Composite):
    """A sum of kernels."""

    def combine(self, blocks: Mapping[Pairing, FloatArray]) -> FloatArray:
        """Return the sum, unchecked."""
        out = self.kernels[0].combine(blocks)
        for kernel in self.kernels[1:]:
            out += kernel.combine(blocks)
        return out

    def monomials(self) -> tuple[Monomial, ...] | None:
        """Return the monomials of all terms, None if one term has none."""
        flat: list[Monomial] = []
        for kernel in self.kernels:
            monomials = kernel.monomials()
            if monomials is None:
                return None
            flat.extend(monomials)
        return tuple(flat)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


class Product(_Composite):
    """A product of kernels."""

    def combine(self, blocks: Mapping[Pairing, FloatArray]) -> FloatArray:
        """Return the product, unchecked."""
        out = self.kernels[0].combine(blocks)
        for kernel in self.kernels[1:]:
            out *= kernel.combine(blocks)
        return out

    def __repr__(self) -> str:
        return " * ".join(f"({k!r})" if isinstance(k, Sum) else repr(k) for k in self.kernels)
