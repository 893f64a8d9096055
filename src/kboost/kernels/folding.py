"""Sums of dot-product kernels without evaluating the kernel for each pair.

    f(z) = sum_j coef_j (gamma c_j.z + coef0)^g = sum_j coef_j (a(c_j).a(z))^g,
    a(x) = (sqrt(coef0), sqrt(gamma) x)                                  # D numbers

is a form of degree g in a(z). With p(x) = 1, a(x), or the products a_s a_t (s <= t, those with
s < t doubled) for g = 1, 2, 3, and the tensor T = sum_j coef_j a(c_j) p(c_j)'   # (D, q)

    f(z) = sum_q [a(z)' T]_q [products of z]_q,

one matrix product instead of m kernel evaluations per row. It is used for prediction and for
pricing (K'w without K).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kboost._typing import FloatArray, Matrix
from kboost.kernels.rows import as_dense, as_rows
from kboost.kernels.views import View

if TYPE_CHECKING:
    from kboost.kernels.base import Kernel

MAX_TENSOR = 2**25  # numbers
CHUNK = 2**22  # numbers


@dataclass(frozen=True)
class Monomial:
    """``scale (gamma x.z + coef0)^degree`` on a view; degree 1 to 3, coef0 not negative."""

    view: View
    degree: int
    gamma: float
    coef0: float
    scale: float = 1.0

    def times(self, factor: float) -> Monomial:
        """Return a multiple."""
        return replace(self, scale=factor * self.scale)

    def augment(self, V: FloatArray) -> FloatArray:
        """Return ``a(x)`` of viewed dense rows, in float64."""
        ones = np.full((V.shape[0], int(self.coef0 > 0)), np.sqrt(self.coef0))
        return np.hstack([ones, np.sqrt(self.gamma) * V.astype(np.float64, copy=False)])

    def products(self, a: FloatArray, multiplicity: bool = False) -> FloatArray:
        """Return the products of 1 or 2 entries of ``a(x)`` (degree 2, 3), each pair once."""
        if self.degree == 2:
            return a
        s, t = np.triu_indices(a.shape[1])
        out: FloatArray = a[:, s] * a[:, t]
        return out * np.where(s < t, 2.0, 1.0) if multiplicity else out


@dataclass(frozen=True, eq=False)
class FoldedTerm:
    """One monomial summed over its centres."""

    monomial: Monomial
    tensor: FloatArray  # (D, k, q)

    @property
    def cost(self) -> int:
        """Multiplications per row."""
        return int(self.tensor.size)

    def __call__(self, V: Matrix) -> FloatArray:
        """Return the sums at viewed rows, shape (n, k)."""
        monomial = self.monomial
        D, k, q = self.tensor.shape
        if monomial.degree == 1:
            slope = np.sqrt(monomial.gamma) * self.tensor[int(monomial.coef0 > 0) :, :, 0]
            shift = np.sqrt(monomial.coef0) * self.tensor[0, :, 0]
            flat: FloatArray = np.asarray(V @ slope) + shift
            return flat
        out = np.empty((V.shape[0], k))
        step = max(1, CHUNK // max(1, k * q))
        for start in range(0, V.shape[0], step):
            a = monomial.augment(as_dense(V[start : start + step]))
            forms = (a @ self.tensor.reshape(D, k * q)).reshape(len(a), k, q)
            out[start : start + step] = np.einsum("nkq,nq->nk", forms, monomial.products(a))
        return out


@dataclass(frozen=True, eq=False)
class Folded:
    """``z -> sum_j coef_j k(c_j, z)`` as a sum of folded terms."""

    terms: tuple[FoldedTerm, ...]
    is_vector: bool

    @property
    def cost(self) -> int:
        """Multiplications per row."""
        return sum(term.cost for term in self.terms)

    def __call__(self, Z: Any) -> FloatArray:
        """Return the sums at the rows of ``Z``: (n,), or (n, k) for k outputs."""
        rows = as_rows(Z, "Z")
        return self.at(lambda view: view.apply(rows))

    def at(self, viewed: Callable[[View], Matrix]) -> FloatArray:
        """Return the sums at rows given by each of their views."""
        out = self.terms[0](viewed(self.terms[0].monomial.view))
        for term in self.terms[1:]:
            out = out + term(viewed(term.monomial.view))
        return out[:, 0] if self.is_vector else out


def fold(kernel: Kernel, centers: Any, coef: Any, only_if_cheaper: bool = False) -> Folded | None:
    """Fold ``f(z) = sum_j coef_j k(c_j, z)`` into tensors, evaluated without pairs.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    centers : array or CSR of shape (m, d)
        Raw rows, to which the kernel's view is applied.
    coef : array of shape (m,) or (m, k)
        One column per output.
    only_if_cheaper : bool, default=False
        Whether to return None if the ``m`` pairs cost no more.

    Returns
    -------
    Folded or None
        None if the kernel has no folded form, or if its tensor is too large.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import Polynomial
    >>> f = fold(Polynomial(2), np.array([[1.0, 2.0]]), np.array([3.0]))
    >>> f(np.array([[1.0, 1.0]]))
    array([48.])
    """
    rows = as_rows(centers, "centers")
    return fold_viewed(kernel, rows.shape[1], lambda view: view.apply(rows), coef, only_if_cheaper)


def fold_viewed(
    kernel: Kernel,
    n_features: int,
    viewed: Callable[[View], Matrix],
    coef: Any,
    only_if_cheaper: bool = False,
) -> Folded | None:
    """Fold as `fold` does, with centres given by each of their views."""
    monomials = kernel.monomials()
    if monomials is None:
        return None
    weights = np.asarray(coef, dtype=np.float64)
    matrix = weights.reshape(len(weights), -1)  # (m, k)
    pairs = folded = 0
    for monomial in monomials:
        d = n_features if monomial.view.columns is None else len(monomial.view.columns)
        pairs += len(weights) * (d + matrix.shape[1])
        folded += _tensor_size(monomial, d) * matrix.shape[1]
    if folded > MAX_TENSOR or (only_if_cheaper and folded >= pairs):
        return None
    terms = tuple(FoldedTerm(m, _tensor(m, viewed(m.view), matrix)) for m in monomials)
    return Folded(terms, is_vector=weights.ndim == 1)


def _tensor_size(monomial: Monomial, d: int) -> int:
    D = d + int(monomial.coef0 > 0)
    return (D, D * D, D * D * (D + 1) // 2)[monomial.degree - 1]


def _tensor(monomial: Monomial, V: Matrix, coef: FloatArray) -> FloatArray:
    k, coef = coef.shape[1], monomial.scale * coef
    if monomial.degree == 1:  # also for wide CSR rows, which must not become dense
        slope = np.sqrt(monomial.gamma) * np.asarray(V.T @ coef)  # (d, k)
        shift = np.sqrt(monomial.coef0) * coef.sum(axis=0, keepdims=True)
        parts = [shift, slope] if monomial.coef0 > 0 else [slope]
        return np.concatenate(parts)[:, :, None]
    D = V.shape[1] + int(monomial.coef0 > 0)
    q = _tensor_size(monomial, V.shape[1]) // D
    tensor = np.zeros((D, k, q))
    step = max(1, CHUNK // q)
    for start in range(0, V.shape[0], step):
        part = slice(start, start + step)
        a = monomial.augment(as_dense(V[part]))
        products = monomial.products(a, multiplicity=True)
        for output in range(k):
            tensor[:, output] += (a * coef[part, output, None]).T @ products
    return tensor
