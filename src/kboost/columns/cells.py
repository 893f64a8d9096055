"""Cells: the space cut into boxes, and kernel columns that are 0 outside their own.

    h(x) = [x in cell] k(x, c),   c a row of that cell

A box with more than `size` rows is cut in two at the median of its widest feature, "wide" as the
kernel sees it (`view`; transforms keep the order of values, so cuts are on raw features). Of the
two cuts beside the median, <= and <, the more even one is taken; a feature that cannot leave a
quarter of the rows on each side gives way to the next widest, so constants and features with one
overwhelming value are never cut while another one can be. Where no feature parts the rows evenly,
the most even cut there is is taken, and rows that are all the same stay together. Widths are those
of the first rows (the order of rows is a random one), and what is far from even there is not asked
of all rows while another feature can do.

With a `rng` widths are multiplied by random factors and cuts are at random places around the
median: partitions to average over. Every node has a stream of its own, so a branch comes out the
same wherever it is cut: large cells first, then each of these further, is the same tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.float32 import PreparedCenters, fits_float32, gaussian_gamma
from kboost.columns.terms import Term, features_of
from kboost.kernels.algebra import terms
from kboost.kernels.base import Kernel, check_finite
from kboost.kernels.pairings import Pairing
from kboost.kernels.rows import narrow
from kboost.kernels.stationary import Gaussian
from kboost.kernels.views import View

_EVEN = 0.25  # least share of a side
_HOPE = 0.15  # the same in a sample
SAMPLE = 4096  # rows on which widths are measured
_BLOCK = 1 << 22  # kernel values at a time
_FAR = 0.15  # how far from the middle a random cut may be


@dataclass(frozen=True, eq=False)
class CellTree:
    """Cuts on raw features; a leaf is a cell."""

    feature: IntArray  # (n_nodes,), -1 at a leaf
    threshold: FloatArray  # (n_nodes,), rows up to it go left
    children: IntArray  # (n_nodes, 2); at a leaf the number of its cell, twice

    @property
    def n_cells(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    def assign(self, X: Any) -> IntArray:
        """The cell of each row."""
        node = np.zeros(X.shape[0], dtype=np.intp)
        inner = np.arange(X.shape[0])
        while len(inner):
            inner = inner[self.feature[node[inner]] >= 0]
            at = node[inner]
            right = X[inner, self.feature[at]] > self.threshold[at]
            node[inner] = self.children[at, right.astype(np.intp)]
        cell: IntArray = self.children[node, 0]
        return cell


SplitRNG = np.random.Generator | None
Split = tuple[int, float, BoolArray] | None  # feature, threshold and who goes left
Known = dict[str, Split]  # splits that were found before, by the way to them: 0 left, 1 right


def split_into_cells(
    X: Any,
    rows: IntArray,
    size: int,
    view: View,
    rng: SplitRNG = None,
    known: Known | None = None,
    tell: Callable[[IntArray, SplitRNG], None] | None = None,
) -> tuple[CellTree, list[IntArray]]:
    """Cut rows of X into cells of at most `size`; the tree, and the rows of each cell.

    `tell` hears of each cell at once, and of the stream with which it may be cut further. Splits
    without a stream may be `known`, and are then remembered there.
    """
    feature, threshold, children = [-1], [0.0], [[0, 0]]
    cells: list[IntArray] = []
    todo = [(0, rows, rng, "")]
    while todo:
        node, inside, own, way = todo.pop()
        if len(inside) <= size:
            found = None
        elif own is None:
            found = _split_at(X, inside, view, way, known)
        else:
            found = split(X, inside, view, own)
        if found is None:
            children[node] = [len(cells)] * 2
            cells.append(inside)
            if tell is not None:
                tell(inside, own)
            continue
        feature[node], threshold[node], left = found
        children[node] = [len(feature), len(feature) + 1]
        first, second = (None, None) if own is None else own.spawn(2)
        todo += [
            (len(feature) + 1, inside[~left], second, way + "1"),
            (len(feature), inside[left], first, way + "0"),
        ]
        feature += [-1, -1]
        threshold += [0.0, 0.0]
        children += [[0, 0], [0, 0]]
    return CellTree(np.array(feature), np.array(threshold), np.array(children)), cells


def graft(top: CellTree, branches: Sequence[CellTree]) -> CellTree:
    """The tree whose cells are cut further, each by the branch of its number."""
    feature, threshold = [top.feature.copy()], [top.threshold.copy()]
    children = [top.children.copy()]
    leaves = np.flatnonzero(top.feature < 0)
    leaf_of = leaves[np.argsort(top.children[leaves, 0])]  # (n_cells,)
    n_nodes, n_cells = len(top.feature), 0
    for leaf, tree in zip(leaf_of, branches, strict=True):
        inner = tree.feature[:, None] >= 0
        moved = tree.children + np.where(inner, n_nodes - 1, n_cells)
        parts: Any = ((feature, tree.feature), (threshold, tree.threshold), (children, moved))
        for line, own in parts:
            line[0][leaf] = own[0]  # its root is the leaf, the rest comes last
            line.append(own[1:])
        n_nodes, n_cells = n_nodes + len(inner) - 1, n_cells + tree.n_cells
    return CellTree(np.concatenate(feature), np.concatenate(threshold), np.concatenate(children))


def cells_around(
    X: Any, rows: IntArray, size: int, view: View, anchors: IntArray
) -> list[IntArray]:
    """The rows of the cells that some rows of X are in, without the rest of the tree."""
    if hasattr(X, "cells_around"):  # rows that are elsewhere
        there: list[IntArray] = X.cells_around(rows, size, view, anchors)
        return there
    return descend(X, rows, size, view, anchors)


def descend(
    X: Any,
    rows: IntArray,
    size: int,
    view: View,
    anchors: IntArray,
    known: Known | None = None,
    way: str = "",
) -> list[IntArray]:
    """The same, from here, by `known` splits where there are some; anchors of a cell share it."""
    found = _split_at(X, rows, view, way, known) if len(rows) > size else None
    if found is None:
        return [rows] * len(anchors)
    feature, threshold, left = found
    goes = X[anchors, feature] <= threshold
    out: list[IntArray] = [rows] * len(anchors)
    for side, inside, step in ((goes, left, "0"), (~goes, ~left, "1")):
        if side.any():
            below = descend(X, rows[inside], size, view, anchors[side], known, way + step)
            for place, cell in zip(np.flatnonzero(side).tolist(), below, strict=True):
                out[place] = cell
    return out


def _split_at(X: Any, rows: IntArray, view: View, way: str, known: Known | None) -> Split:
    if known is None:
        return split(X, rows, view)
    if way not in known:
        known[way] = split(X, rows, view)
    return known[way]


def split(X: Any, rows: IntArray, view: View, rng: SplitRNG = None) -> Split:
    """Feature, threshold and who goes left; None where all rows are the same."""
    sample = np.asarray(X[rows[:SAMPLE]], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.nan_to_num(np.asarray(view.apply(sample)).std(axis=0), nan=np.inf)
    place = 0.5
    if rng is not None:
        width = width * rng.uniform(0.5, 1.0, len(width))
        place += float(rng.uniform(-_FAR, _FAR))
    order = np.argsort(-width, kind="stable")
    features = order if view.columns is None else np.asarray(view.columns)[order]
    best: tuple[float, int, float, BoolArray] = 0.0, -1, 0.0, np.zeros(0, dtype=bool)
    for feature in _hopeful_first(sample, features.tolist(), place, len(rows)):
        values = np.asarray(X[rows, feature], dtype=np.float64)
        evenness, threshold, left = _even_cut(values, place)
        if evenness > best[0]:
            best = evenness, feature, threshold, left
        if evenness >= _EVEN:
            break
    return best[1:] if best[0] else None


def _hopeful_first(
    sample: FloatArray, features: list[int], place: float, n_rows: int
) -> Iterator[int]:
    """Features in their order, but last those that are far from even in the sample."""
    hopeless = []
    for feature in features:
        if n_rows > len(sample) and _even_cut(sample[:, feature], place)[0] < _HOPE:
            hopeless.append(feature)
        else:
            yield feature
    yield from hopeless


def _even_cut(values: FloatArray, place: float) -> tuple[float, float, BoolArray]:
    """Of the two cuts beside the middle: the share of its smaller side, threshold, who is left."""
    n, nth = len(values), int(place * (len(values) - 1))
    middle = float(np.partition(values, nth)[nth])
    left, under = values <= middle, values < middle
    upto, below = np.count_nonzero(left), np.count_nonzero(under)
    if min(below, n - below) > min(upto, n - upto):
        middle = float(np.max(values, where=under, initial=-np.inf))
        left, upto = under, below
    return min(upto, n - upto) / n, middle, left


class CellPart:
    """`sum_j coef_j [x in the cell of c_j] k(x, c_j)`; centres stand cell after cell.

    They are most of a model, so they are kept in float32 where that loses nothing.
    """

    dtype: Any = np.float64  # of the kernel values

    def __init__(
        self, kernel: Kernel, tree: CellTree, centers: Sequence[Any], coef: Sequence[FloatArray]
    ) -> None:
        self.kernel, self.tree = kernel, tree
        self.centers = narrow(np.concatenate(centers))  # (m, d)
        self.coef = np.concatenate(coef)  # (m, n_outputs)
        self.starts = np.cumsum([0, *map(len, centers)])  # (n_cells + 1,)

    width = 1  # chunks of a prediction need not be small: blocks are made cell by cell

    def __call__(self, X: Any) -> FloatArray:
        cell = self.tree.assign(X)
        order = np.argsort(cell, kind="stable")
        ends = np.cumsum(np.bincount(cell, minlength=self.tree.n_cells))
        out = np.zeros((X.shape[0], self.coef.shape[1]))
        for rows, first, last in zip(
            np.split(order, ends[:-1]), self.starts[:-1], self.starts[1:], strict=True
        ):
            step = max(1, _BLOCK // max(1, last - first))
            own = self.centers[first:last].astype(np.float64)
            for start in range(0, len(rows) if last > first else 0, step):
                some = rows[start : start + step]
                block = kernel_block(self.kernel, X[some], own, self.dtype)
                out[some] = block @ self.coef[first:last].astype(self.dtype)
        return out

    def terms_at(self, X: Any) -> Iterator[Term]:
        """The columns at the rows of X, for explanations; 0 outside their cells."""
        cell_of_row = self.tree.assign(X)
        for term in terms(self.kernel):
            values = np.zeros((X.shape[0], len(self.coef)))
            for cell in np.unique(cell_of_row).tolist():
                rows, own = cell_of_row == cell, slice(*self.starts[cell : cell + 2])
                if own.start < own.stop:
                    centers = self.centers[own].astype(np.float64)
                    values[rows, own] = kernel_block(term, X[rows], centers, np.float64)
            yield Term(features_of(term), values)

    @staticmethod
    def joined(kernel: Kernel, tree: CellTree, parts: Sequence[CellPart]) -> CellPart:
        """One of the cells of several, in their order."""
        part = copy(parts[0])
        part.kernel, part.tree = kernel, tree
        part.centers = np.concatenate([each.centers for each in parts])
        part.coef = np.concatenate([each.coef for each in parts])
        part.starts = np.cumsum([0, *np.concatenate([np.diff(each.starts) for each in parts])])
        return part

    def scaled(self, factor: float) -> CellPart:
        """The same times a number."""
        part = copy(self)
        part.coef = self.coef * factor
        return part

    def to_float32(self) -> CellPart:
        """The same in float32."""
        part = copy(self)
        part.dtype = np.float32
        return part


def kernel_block(
    kernel: Kernel, X: Any, centers: Any, dtype: Any = np.float32, out: FloatArray | None = None
) -> FloatArray:
    """Kernel values from rows as they are seen, shifted before they are rounded.

    They may come in `out`, an array of the dtype.
    """
    work = dtype if fits_float32(kernel) else np.float64
    if type(kernel) is Gaussian:  # in place: large arrays are slow to come by
        out = out if work is dtype else None
        block = pair_block(kernel.pairing, X, centers, kernel.gamma, work, out)
        block *= -kernel.gamma
        with np.errstate(under="ignore"):
            return check_finite(kernel, np.exp(block, out=block)).astype(dtype, copy=False)
    blocks = {
        pairing: pair_block(pairing, X, centers, gaussian_gamma(kernel), work)
        for pairing in kernel.pairings
    }
    return kernel.from_blocks(blocks).astype(dtype, copy=False)


def pair_block(
    pairing: Pairing,
    X: Any,
    centers: Any,
    gamma: float | None,
    dtype: Any = np.float32,
    out: FloatArray | None = None,
) -> FloatArray:
    """Distances or products; those of a Gaussian of width `gamma` may be rough."""
    return PreparedCenters(pairing, centers, dtype).near(X, gamma, out)
