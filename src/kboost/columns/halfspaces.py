"""Halfspace columns: `h(x) = [w.x > cut] / scale`, on standardised features.

The base learners of SRE (26), an infinite library. A halfspace and its complement (the paper's
max(h, 0) and min(h, 0) of a sign h) are two columns, one the negative of the other up to a
constant. The w are sparse and show which features a model uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.scaling import Scaling, column_scales
from kboost.columns.terms import Term
from kboost.kernels.rows import as_dense
from kboost.kernels.sample import Sample
from kboost.kernels.views import View


@dataclass(frozen=True)
class HalfspaceColumn:
    """One halfspace; equal by index within a search."""

    family: HalfspaceFamily
    direction: FloatArray = field(compare=False, repr=False)  # (d,)
    cut: float = field(compare=False)
    index: int
    scale: float = field(default=1.0, compare=False)


@dataclass(frozen=True)
class HalfspaceFamily:
    """All halfspaces on one view of the features."""

    view: View

    def columns(self, members: Sequence[HalfspaceColumn], X: Any) -> FloatArray:
        """Values at the rows of X, (n, m), scaled as in training."""
        part = self.combine(members, np.zeros((len(members), 0)))
        scaled: FloatArray = part.inside(X) / np.array([m.scale for m in members])
        return scaled

    def combine(self, members: Sequence[HalfspaceColumn], coef: FloatArray) -> HalfspacePart:
        """The sum of the members, with coefficients of the unscaled columns."""
        return HalfspacePart(
            self.view,
            np.stack([m.direction for m in members]),
            np.array([m.cut for m in members]),
            coef / np.array([m.scale for m in members])[:, None],
        )


@dataclass(frozen=True, eq=False)
class HalfspacePart:
    """`sum_j coef_j [w_j.x > cut_j]`."""

    view: View
    directions: FloatArray  # (m, d), on the features of the view
    cuts: FloatArray  # (m,)
    coef: FloatArray  # (m, n_outputs)

    def inside(self, X: Any) -> FloatArray:
        """Whether each row lies in each halfspace, (n, m), as 0 and 1."""
        projections = np.asarray(self.view.apply(X) @ self.directions.T)
        return (projections > self.cuts).astype(np.float64)

    def __call__(self, X: Any) -> FloatArray:
        values: FloatArray = self.inside(X) @ self.coef
        return values

    def terms_at(self, X: Any) -> Iterator[Term]:
        """The columns at the rows of X, to explain predictions; one term per set of features."""
        inside, is_used = self.inside(X), self.directions != 0.0
        sets, set_of_column = np.unique(is_used, axis=0, return_inverse=True)
        indices = np.arange(sets.shape[1]) if self.view.columns is None else self.view.columns
        for i, used in enumerate(sets):
            features = tuple(int(f) for f in np.asarray(indices)[used])
            yield Term(features, inside * (set_of_column.ravel() == i))


class HalfspaceSpace:
    """All halfspaces of one set of training rows."""

    def __init__(self, X: Any, sample_weight: FloatArray, scaling: Scaling = None) -> None:
        self.family = HalfspaceFamily(Sample(X, sample_weight).view(None, "standard"))
        self.rows = as_dense(self.family.view.apply(X))  # (n, d)
        self._share = sample_weight / sample_weight.sum()
        self._scaling: Scaling = scaling

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def edges(self, weights: FloatArray) -> FloatArray:
        """Scaled edges of the halfspaces along single features."""
        return self.edges_of_cuts(self.rows, weights)[0].ravel()

    def edges_of_cuts(
        self, projections: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Scaled edges (n - 1, m) of the halfspaces above each of the n - 1 cuts per direction.

        `projections` (n, m) are the rows projected on m directions. Also returns the cuts, midway
        between neighbours; between equal neighbours there is no cut and the edge is 0.
        """
        order = np.argsort(projections, axis=0, kind="stable")
        ordered = np.take_along_axis(projections, order, axis=0)
        above = weights.sum() - np.cumsum(weights[order], axis=0)[:-1]
        share = 1.0 - np.cumsum(self._share[order], axis=0)[:-1]
        cuts = 0.5 * (ordered[:-1] + ordered[1:])
        separates = (ordered[:-1] < cuts) & (cuts < ordered[1:])
        return np.where(separates, above / self._scales(share), 0.0), cuts

    def columns(
        self, directions: FloatArray, cuts: FloatArray, first: int
    ) -> tuple[list[HalfspaceColumn], FloatArray]:
        """Halfspaces with indices from `first` on, and their values at the training rows."""
        inside = (self.rows @ directions.T > cuts).astype(np.float64)
        scales = self._scales(self._share @ inside)
        columns = [
            HalfspaceColumn(self.family, w, float(cut), first + j, float(scale))
            for j, (w, cut, scale) in enumerate(zip(directions, cuts, scales, strict=True))
        ]
        return columns, inside / scales

    def _scales(self, share: FloatArray) -> FloatArray:
        """Divisors of columns whose ones have this share of the total weight."""
        rms = np.sqrt(np.clip(share, 0.0, 1.0))
        return column_scales(self._scaling, rms, np.ones_like(rms))


def features_used(directions: FloatArray) -> IntArray:
    """The features with a nonzero entry in any direction."""
    return np.flatnonzero(np.any(directions != 0.0, axis=0))
