"""Parts of a fitted model, compiled: what does not depend on the rows is computed once.

The parts are split into terms and ordered by view, which is applied once for all of its terms.
Exponentials of one distance are one block, whatever their widths,

    sum_j coef_j exp(-gamma_j b(x, c_j)),

and linear terms are one vector. Squared distances are |x|^2 - 2 x.c + |c|^2 on rows shifted by the
mean of the centres, with |c|^2 known. Rounding makes that wrong by about 4 eps (|x|^2 + |c|^2);
where an exponent could change by more than 1e-11, distances are computed from differences.

Terms with several views and functions of the user are not compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from kboost._typing import FloatArray
from kboost.columns.active import ActivePart
from kboost.columns.hypothesis import KernelPart
from kboost.kernels.algebra import Product, Scaled, Sum, scale, terms
from kboost.kernels.base import Kernel, ViewKernel
from kboost.kernels.distances import FEW_FEATURES, row_dots
from kboost.kernels.folding import FoldedTerm
from kboost.kernels.pairings import Pairing
from kboost.kernels.rows import as_dense
from kboost.kernels.stationary import Gaussian, Laplacian, Matern
from kboost.kernels.views import View

_EXACT = 1e-11  # tolerated error of an exponent
_DENSE = 1 << 24  # entries of sparse centres up to which they become dense

Values = Callable[[FloatArray], FloatArray]  # of viewed rows (n, d), (n, m) or (n, n_outputs)


class CompiledPart:
    """The sum of all terms on one view."""

    def __init__(self, view: View, inner: Sequence[Values], coef: FloatArray) -> None:
        self.view, self.inner = view, tuple(inner)
        self.coef = coef  # (m, n_outputs), term after term; folded terms have none

    def __call__(self, X: FloatArray) -> FloatArray:
        viewed: Any = self.view.apply(X)
        out = self.inner[0](viewed)
        for values in self.inner[1:]:
            out = out + values(viewed)
        return out


def compiled(parts: Iterable[Any]) -> tuple[Any, ...]:
    """The parts for dense rows in float64; same sum, to rounding."""
    kept: list[Any] = []
    views: dict[View, ViewTerms] = {}
    for part in parts:
        if isinstance(part, ActivePart):
            gammas = 0.5 / part.widths**2
            of_view = views.setdefault(part.view, ViewTerms())
            of_view.add_exponentials("sqeuclidean", _viewed(part.view, part), gammas, part.coef)
        elif isinstance(part, KernelPart):
            _add_terms(part, views, kept)
        else:
            kept.append(part.compiled() if hasattr(part, "compiled") else part)
    return (*(of_view.part(view) for view, of_view in views.items()), *kept)


def _add_terms(part: KernelPart, views: dict[View, ViewTerms], kept: list[Any]) -> None:
    """Split a part into terms, each added to its view."""
    for folded in part.folded:
        for monomial in folded.terms:
            views.setdefault(monomial.monomial.view, ViewTerms()).folded.append(monomial)
    for term in () if part.rest is None else terms(part.rest):
        view = only_view(term)
        if view is None or _is_wide(part.centers):
            kept.append(KernelPart(term, part.centers, part.coef, part.indices))
        else:
            of_view = views.setdefault(view, ViewTerms())
            of_view.add(on_viewed_rows(term), _viewed(view, part), part.coef)


def _is_wide(centers: Any) -> bool:
    """Whether centres are sparse and must stay so."""
    n, d = centers.shape
    return not isinstance(centers, np.ndarray) and n * d > _DENSE


def _viewed(view: View, part: Any) -> FloatArray:
    return as_dense(view.apply(part.centers)).astype(np.float64, copy=False)


@dataclass
class ViewTerms:
    """Terms on one view, collected."""

    folded: list[FoldedTerm] = field(default_factory=list)
    exponentials: dict[str, list[tuple[FloatArray, FloatArray, FloatArray]]] = field(
        default_factory=dict
    )
    others: list[KernelValues] = field(default_factory=list)

    def add(self, kernel: Kernel, centers: FloatArray, coef: FloatArray) -> None:
        """Add a kernel of viewed rows; multiples go to the coefficients."""
        if isinstance(kernel, Scaled):
            coef = kernel.scale * coef
            kernel = kernel.kernel
        if isinstance(kernel, Gaussian | Laplacian):
            gammas = np.full(len(centers), float(kernel.gamma))
            self.add_exponentials(kernel.kind, centers, gammas, coef)
        else:
            self.others.append(KernelValues(kernel, centers, coef))

    def add_exponentials(
        self, kind: str, centers: FloatArray, gammas: FloatArray, coef: FloatArray
    ) -> None:
        self.exponentials.setdefault(kind, []).append((centers, gammas, coef))

    def inner(self) -> list[Values]:
        """The functions of viewed rows that add up to the sum."""
        linear = [term for term in self.folded if term.monomial.degree == 1]
        curved = [term for term in self.folded if term.monomial.degree > 1]
        merged = [
            Exponentials(kind, *map(np.concatenate, zip(*each, strict=True)))
            for kind, each in self.exponentials.items()
        ]
        return [*([Affine(linear)] if linear else []), *curved, *merged, *self.others]

    def part(self, view: View) -> CompiledPart:
        inner = self.inner()
        coef = [values.coef for values in inner if isinstance(values, Exponentials | KernelValues)]
        return CompiledPart(view, inner, np.concatenate(coef) if coef else np.zeros((0, 1)))


class Affine:
    """Folded linear terms: a slope and a shift for each output."""

    def __init__(self, folded: Sequence[FoldedTerm]) -> None:
        zero = np.zeros((1, folded[0].tensor.shape[0] - int(folded[0].monomial.coef0 > 0)))
        self._shift = sum(term(zero)[0] for term in folded)
        slopes = [
            np.sqrt(term.monomial.gamma) * term.tensor[int(term.monomial.coef0 > 0) :, :, 0]
            for term in folded
        ]
        self._slope = sum(slopes[1:], slopes[0])

    def __call__(self, viewed: FloatArray) -> FloatArray:
        values: FloatArray = viewed @ self._slope + self._shift
        return values


class Exponentials:
    """`sum_j coef_j exp(-gamma_j b(x, c_j))`, b a distance."""

    def __init__(
        self, kind: str, centers: FloatArray, gammas: FloatArray, coef: FloatArray
    ) -> None:
        self._distances = distances_to(kind, centers, float(gammas.max()))
        equal = bool((gammas == gammas[0]).all())
        self._factor: Any = -float(gammas[0]) if equal else -gammas
        self.coef = np.ascontiguousarray(coef)

    def __call__(self, viewed: FloatArray) -> FloatArray:
        block = self._distances(viewed)
        block *= self._factor
        np.exp(block, out=block)
        values: FloatArray = block @ self.coef
        return values


class KernelValues:
    """`sum_j coef_j k(x, c_j)` of any kernel of viewed rows."""

    def __init__(self, kernel: Kernel, centers: FloatArray, coef: FloatArray) -> None:
        self._kernel, self.coef = kernel, np.ascontiguousarray(coef)
        self._blocks: dict[Pairing, Values] = {}
        for pairing in kernel.pairings:
            if isinstance(kernel, Matern) and kernel.nu > 0.5:  # smooth in the squared distance
                steepest = 2 * kernel.nu * float(kernel.gamma)
                self._blocks[pairing] = distances_to("sqeuclidean", centers, steepest)
            else:
                self._blocks[pairing] = _Block(pairing, centers)

    def __call__(self, viewed: FloatArray) -> FloatArray:
        blocks = {pairing: block(viewed) for pairing, block in self._blocks.items()}
        values: FloatArray = self._kernel.from_blocks(blocks) @ self.coef
        return values


@dataclass(frozen=True, eq=False)
class _Block:
    """A pairing with fixed centres, computed as in training."""

    pairing: Pairing
    centers: FloatArray

    def __call__(self, viewed: FloatArray) -> FloatArray:
        return self.pairing.compute_viewed(viewed, self.centers)


def distances_to(kind: str, centers: FloatArray, steepest: float) -> Values:
    """Distances of a kind to fixed centres; `steepest` is the largest factor in an exponent."""
    if kind == "cityblock" or centers.shape[1] <= FEW_FEATURES:
        return _Differences(kind, centers)
    return SquaredDistances(centers, steepest)


@dataclass(frozen=True, eq=False)
class _Differences:
    """Distances from differences."""

    kind: str
    centers: FloatArray

    def __call__(self, viewed: FloatArray) -> FloatArray:
        return np.asarray(cdist(viewed, self.centers, self.kind))


class SquaredDistances:
    """Squared Euclidean distances by one product where that is exact enough."""

    def __init__(self, centers: FloatArray, steepest: float) -> None:
        self._shift = centers.mean(axis=0)
        moved = centers - self._shift
        self._norms = row_dots(moved)
        self._doubled = -2.0 * moved
        eps = float(np.finfo(np.float64).eps)
        self._most = _EXACT / (4 * eps * steepest) - float(self._norms.max(initial=0.0))

    def __call__(self, viewed: FloatArray) -> FloatArray:
        rows = viewed - self._shift
        squares = row_dots(rows)
        if not squares.max(initial=0.0) <= self._most:  # also nan
            return np.asarray(cdist(rows, -0.5 * self._doubled, "sqeuclidean"))
        out: FloatArray = rows @ self._doubled.T
        out += self._norms
        out += squares[:, None]
        return np.maximum(out, 0.0, out=out)


def only_view(kernel: Kernel) -> View | None:
    """The view of a kernel of dot products and distances; None if it has several or others."""
    pairings = kernel.pairings
    built_in = all(isinstance(pairing.kind, str) for pairing in pairings)
    same = all(pairing.view == pairings[0].view for pairing in pairings)
    return pairings[0].view if built_in and same else None


def on_viewed_rows(kernel: Kernel) -> Kernel:
    """The kernel for rows to which its view was already applied."""
    if isinstance(kernel, Scaled):
        return scale(kernel.scale, on_viewed_rows(kernel.kernel))
    if isinstance(kernel, Sum | Product):
        return type(kernel)(tuple(map(on_viewed_rows, kernel.kernels)))
    assert isinstance(kernel, ViewKernel)
    return replace(kernel, columns=None, on=None)
