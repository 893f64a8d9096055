"""Cells: a partition of the space into boxes, as a tree of splits.

A box with more than `size` rows is split at the median of its widest feature. Widths are standard
deviations on the kernel's view; transforms preserve the order of values, so thresholds are on raw
features. Of the two splits at the median, <= and <, the more even one is chosen. A feature that
leaves less than a quarter of the rows on one side is skipped for the next widest; if all features
are like that, the most even split is chosen. Identical rows stay together. Widths are measured on
the first rows (which are in random order), and features that are very uneven there are tried last.

With a `rng`, widths are multiplied by random factors and thresholds are at random quantiles around
the median, which gives different partitions to average over. Every node has its own random stream,
so splitting into large cells first and then splitting each of them gives the same tree.

With an `overlap` each side of a split also learns from the rows nearest to the border on the other
side: predictions still change cells at the threshold, but a cell has seen rows on both sides of its
borders. The rows of all cells together are 1 + overlap times as many. With L levels of even splits
each side of a split of n rows takes the share s of them from the other side, where

    (1 + 2 s)^L = 1 + overlap,   L = log2(n (1 + overlap) / size), rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.kernels.views import View

_EVEN = 0.25  # required share of the smaller side
_EVEN_IN_SAMPLE = 0.15  # the same in the sample
SAMPLE = 4096  # rows on which widths are measured
_MAX_SHIFT = 0.15  # of a random quantile from the median


@dataclass(frozen=True, eq=False)
class CellTree:
    """A binary tree of splits on raw features; its leaves are the cells."""

    feature: IntArray  # (n_nodes,), -1 at a leaf
    threshold: FloatArray  # (n_nodes,), rows up to it go left
    children: IntArray  # (n_nodes, 2); at a leaf the index of its cell, twice

    @property
    def n_cells(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    def assign(self, X: Any) -> IntArray:
        """The cell of each row."""
        node = np.zeros(X.shape[0], dtype=np.intp)
        inner = np.arange(X.shape[0])
        while len(inner):
            inner = inner[self.feature[node[inner]] >= 0]
            nodes = node[inner]
            right = X[inner, self.feature[nodes]] > self.threshold[nodes]
            node[inner] = self.children[nodes, right.astype(np.intp)]
        cell: IntArray = self.children[node, 0]
        return cell

    def rows_by_cell(self, X: Any) -> Iterator[tuple[int, IntArray]]:
        """The cells that have rows of X, each with the indices of its rows."""
        cell = self.assign(X)
        order = np.argsort(cell, kind="stable")
        met, begins = np.unique(cell[order], return_index=True)
        yield from zip(met.tolist(), np.split(order, begins[1:]), strict=False)  # X may be empty


SplitRNG = np.random.Generator | None
Split = tuple[int, float, BoolArray] | None  # feature, threshold and which rows go left
SplitCache = dict[str, Split]  # by path from the root, e.g. "01": 0 is left, 1 is right


def split_into_cells(
    X: Any,
    rows: IntArray,
    size: int,
    view: View,
    rng: SplitRNG = None,
    cache: SplitCache | None = None,
    on_cell: Callable[[IntArray, SplitRNG], None] | None = None,
    shared: float = 0.0,
) -> tuple[CellTree, list[IntArray]]:
    """Split rows of X into cells of at most `size` rows: the tree, and the rows of each cell.

    `on_cell` is called with each cell as soon as it is made, and with the random stream to split it
    further. Splits at the median are looked up in `cache`, and stored there. Each side of a split
    takes the share `shared` of its rows from the other side (see `shared_by_sides`).
    """
    feature, threshold, children = [-1], [0.0], [[0, 0]]
    cells: list[IntArray] = []
    stack = [(0, rows, rng, "")]
    while stack:
        node, inside, stream, path = stack.pop()
        if len(inside) <= size:
            best = None
        elif stream is None:
            best = _cached_split(X, inside, view, path, cache)
        else:
            best = split(X, inside, view, stream)
        if best is None:
            children[node] = [len(cells)] * 2
            cells.append(inside)
            if on_cell is not None:
                on_cell(inside, stream)
            continue
        feature[node], threshold[node], goes_left = best
        children[node] = [len(feature), len(feature) + 1]
        first, second = (None, None) if stream is None else stream.spawn(2)
        left, right = goes_left, ~goes_left
        if shared:
            left, right = _widened(np.asarray(X[inside, feature[node]]), goes_left, shared)
        stack += [
            (len(feature) + 1, inside[right], second, path + "1"),
            (len(feature), inside[left], first, path + "0"),
        ]
        feature += [-1, -1]
        threshold += [0.0, 0.0]
        children += [[0, 0], [0, 0]]
    return CellTree(np.array(feature), np.array(threshold), np.array(children)), cells


def graft(top: CellTree, branches: Sequence[CellTree]) -> CellTree:
    """Replace each cell of the tree `top` by a branch."""
    feature, threshold = [top.feature.copy()], [top.threshold.copy()]
    children = [top.children.copy()]
    leaves = np.flatnonzero(top.feature < 0)
    leaf_of = leaves[np.argsort(top.children[leaves, 0])]  # (n_cells,)
    n_nodes, n_cells = len(top.feature), 0
    for leaf, tree in zip(leaf_of, branches, strict=True):
        inner = tree.feature[:, None] >= 0
        moved = tree.children + np.where(inner, n_nodes - 1, n_cells)
        parts: Any = ((feature, tree.feature), (threshold, tree.threshold), (children, moved))
        for arrays, of_branch in parts:
            arrays[0][leaf] = of_branch[0]  # the root replaces the leaf, the rest is appended
            arrays.append(of_branch[1:])
        n_nodes, n_cells = n_nodes + len(inner) - 1, n_cells + tree.n_cells
    return CellTree(np.concatenate(feature), np.concatenate(threshold), np.concatenate(children))


def cells_around(
    X: Any, rows: IntArray, size: int, view: View, anchors: IntArray
) -> list[IntArray]:
    """The rows of the cell of each anchor (a row of X), without the rest of the tree."""
    if hasattr(X, "cells_around"):  # distributed rows
        cells: list[IntArray] = X.cells_around(rows, size, view, anchors)
        return cells
    return descend(X, rows, size, view, anchors)


def descend(
    X: Any,
    rows: IntArray,
    size: int,
    view: View,
    anchors: IntArray,
    cache: SplitCache | None = None,
    path: str = "",
) -> list[IntArray]:
    """The cells of the anchors below the node at `path`; anchors in the same cell share it."""
    best = _cached_split(X, rows, view, path, cache) if len(rows) > size else None
    if best is None:
        return [rows] * len(anchors)
    feature, threshold, goes_left = best
    anchor_left = X[anchors, feature] <= threshold
    out: list[IntArray] = [rows] * len(anchors)
    for side, inside, step in ((anchor_left, goes_left, "0"), (~anchor_left, ~goes_left, "1")):
        if side.any():
            below = descend(X, rows[inside], size, view, anchors[side], cache, path + step)
            for i, cell in zip(np.flatnonzero(side).tolist(), below, strict=True):
                out[i] = cell
    return out


def _cached_split(X: Any, rows: IntArray, view: View, path: str, cache: SplitCache | None) -> Split:
    if cache is None:
        return split(X, rows, view)
    if path not in cache:
        cache[path] = split(X, rows, view)
    return cache[path]


def split(X: Any, rows: IntArray, view: View, rng: SplitRNG = None) -> Split:
    """Feature, threshold and which rows go left; None if all rows are equal."""
    sample = np.asarray(X[rows[:SAMPLE]], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.nan_to_num(np.asarray(view.apply(sample)).std(axis=0), nan=np.inf)
    quantile = 0.5
    if rng is not None:
        width = width * rng.uniform(0.5, 1.0, len(width))
        quantile += float(rng.uniform(-_MAX_SHIFT, _MAX_SHIFT))
    order = np.argsort(-width, kind="stable")
    features = order if view.columns is None else np.asarray(view.columns)[order]
    best: tuple[float, int, float, BoolArray] = 0.0, -1, 0.0, np.zeros(0, dtype=bool)
    for feature in _uneven_last(sample, features.tolist(), quantile, len(rows)):
        values = np.asarray(X[rows, feature], dtype=np.float64)
        evenness, threshold, goes_left = _even_split(values, quantile)
        if evenness > best[0]:
            best = evenness, feature, threshold, goes_left
        if evenness >= _EVEN:
            break
    return best[1:] if best[0] else None


def _uneven_last(
    sample: FloatArray, features: list[int], quantile: float, n_rows: int
) -> Iterator[int]:
    """Features in their order, but those that split the sample very unevenly last."""
    is_large, uneven = n_rows > len(sample), []
    for feature in features:
        if is_large and _even_split(sample[:, feature], quantile)[0] < _EVEN_IN_SAMPLE:
            uneven.append(feature)
        else:
            yield feature
    yield from uneven


def _even_split(values: FloatArray, quantile: float) -> tuple[float, float, BoolArray]:
    """The more even split (<= or <) at a quantile.

    Returns the share of its smaller side, its threshold, and which rows go left.
    """
    n, nth = len(values), int(quantile * (len(values) - 1))
    threshold = float(np.partition(values, nth)[nth])
    goes_left, below = values <= threshold, values < threshold
    n_left, n_below = np.count_nonzero(goes_left), np.count_nonzero(below)
    if min(n_below, n - n_below) > min(n_left, n - n_left):
        threshold = float(np.max(values, where=below, initial=-np.inf))
        goes_left, n_left = below, n_below
    return min(n_left, n - n_left) / n, threshold, goes_left


def shared_by_sides(n_rows: int, size: int, overlap: float) -> float:
    """The share of the rows of a split that each side takes from the other one."""
    levels = max(1, int(np.ceil(np.log2(n_rows * (1 + overlap) / size)))) if n_rows else 1
    return float(min(0.25, ((1 + overlap) ** (1 / levels) - 1) / 2))


def _widened(
    values: FloatArray, goes_left: BoolArray, shared: float
) -> tuple[BoolArray, BoolArray]:
    """Both sides of a split with the nearest rows of the other side; equal values go together.

    An uneven split shares less: the nearest rows count relative to the smaller side.
    """
    n_left = int(np.count_nonzero(goes_left))
    count = round(2 * shared * min(n_left, len(values) - n_left))
    above, below = np.sort(values[~goes_left]), np.sort(values[goes_left])
    return (
        goes_left | (values < above[count]),
        ~goes_left | (values > below[-1 - count]),
    )
