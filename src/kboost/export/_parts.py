"""The parts of a model in ONNX, each (n, n_outputs) in float64."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from kboost.boosting.svm_ensemble import GRID, TINY, SVMEnsemble, SVMGroup
from kboost.columns.active import ActivePart
from kboost.columns.cell_tree import CellTree
from kboost.columns.cells import CellPart
from kboost.columns.gram import ZERO
from kboost.columns.halfspaces import HalfspacePart
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.export._graph import BOOL, DOUBLE, INT, Builder
from kboost.export._kernels import folded_values, kernel_values
from kboost.export._pairs import Pairs
from kboost.export._rows import InputRows
from kboost.kernels.algebra import Scaled
from kboost.kernels.base import Kernel


def model_values(estimator: Any, rows: InputRows) -> str:
    """The values of an estimator's model, (n, n_outputs)."""
    model = estimator._model
    if isinstance(model, SVMEnsemble):
        return _ensemble_values(model, estimator, rows)
    return _additive_values(model, rows)


def _additive_values(model: AdditiveModel, rows: InputRows) -> str:
    b = rows.builder
    parts = [part_values(part, rows) for part in model.parts]
    if not parts:
        parts = [b.zeros(b.length(rows.X, 0), b.whole([len(model.bias)]), "float64")]
    return b.op("Add", b.total_of(parts), b.double(model.bias))


def _ensemble_values(model: SVMEnsemble, estimator: Any, rows: InputRows) -> str:
    """The weighted sum of the signs of the rounds; for several classes, the mean per output."""
    b = rows.builder
    pairs = Pairs(rows, model.centers)
    weights = estimator.estimator_weights_
    weights = [weights] if isinstance(weights, np.ndarray) else weights
    votes: list[list[str]] = [[] for _ in weights]
    for group in model.groups:
        values = b.op("Add", _group_values(group, model, pairs), b.double(group.bias))
        table = np.zeros((len(group.bias), len(weights[group.output])))
        table[np.arange(len(group.bias)), group.rounds] = group.votes
        votes[group.output].append(b.op("MatMul", _signs(b, values), b.double(table)))
    means = []
    for of_output, weight in zip(votes, weights, strict=True):
        total = max(float(np.abs(weight).sum()), TINY)
        signs = _signs(b, b.total_of(of_output))
        mean = _rounded(b, b.op("MatMul", signs, b.double((weight / total)[:, None])))
        two = len(estimator.classes_) == 2
        means.append(b.op("Mul", mean, b.double(total)) if two else mean)
    return b.op("Concat", *means, axis=1)


def _rounded(b: Builder, values: str) -> str:
    """A power of two, which runtimes that scale products in float32 keep exactly."""
    whole = b.op("Round", b.op("Mul", values, b.double(GRID)))
    return b.op("Div", whole, b.double(GRID))


def _group_values(group: SVMGroup, model: SVMEnsemble, pairs: Pairs) -> str:
    """The SVMs of one kernel without their bias, (n, m)."""
    b = pairs.builder
    if not len(group.support):
        return b.zeros(b.length(pairs.rows.X, 0), b.whole([len(group.bias)]), "float64")
    if group.folded is not None:
        return folded_values(group.folded, pairs.rows)
    coef = np.zeros((model.centers.shape[0], len(group.bias)))
    coef[group.support] = group.coef
    kernel, coef = _unscaled(model.kernels[group.kernel], coef)
    return b.to_double(b.op("MatMul", kernel_values(kernel, pairs), b.real(coef)))


def _signs(b: Builder, values: str) -> str:
    above = b.op("Greater", values, b.double(ZERO))
    return b.op("Where", above, b.double(1.0), b.double(-1.0))


@singledispatch
def part_values(part: Any, rows: InputRows) -> str:
    """The values of one part."""
    raise ValueError(f"model must consist of parts supported in ONNX; got {type(part).__name__}.")


@part_values.register
def _(part: KernelPart, rows: InputRows) -> str:
    b = rows.builder
    terms = [folded_values(folded, rows) for folded in part.folded]
    if part.rest is not None:
        kernel, coef = _unscaled(part.rest, part.coef)
        block = kernel_values(kernel, Pairs(rows, part.centers))
        terms.append(b.to_double(b.op("MatMul", block, b.real(coef))))
    return b.total_of(terms)


@part_values.register
def _(part: ActivePart, rows: InputRows) -> str:
    b = rows.builder
    block = Pairs(rows, part.centers).block("sqeuclidean", part.view)
    columns = b.op("Exp", b.op("Mul", block, b.real(-0.5 / part.widths**2)))
    return b.to_double(b.op("MatMul", columns, b.real(part.coef)))


@part_values.register
def _(part: HalfspacePart, rows: InputRows) -> str:
    b = rows.builder
    projections = b.op("MatMul", rows.viewed(part.view), b.double(part.directions.T))
    inside = b.cast(b.op("Greater", projections, b.double(part.cuts)), DOUBLE)
    return b.op("MatMul", inside, b.double(part.coef))


@part_values.register
def _(part: CellPart, rows: InputRows) -> str:
    """Loop over the cells: select the rows of a cell, compute their values, and scatter them."""
    b, q = rows.builder, part.coef.shape[1]
    centers, coef, starts = _filled(part)
    kernel, coef = _unscaled(part.kernel, coef)
    inner = b.inner()
    number, go, before, X, cell = (inner.name() for _ in range(5))
    on = inner.op("Identity", go)
    chosen = inner.reshape(inner.op("NonZero", inner.op("Equal", cell, number)), -1)
    first = inner.reshape(inner.op("Gather", inner.whole(starts), number), 1)
    last = inner.reshape(
        inner.op("Gather", inner.whole(starts), inner.op("Add", number, inner.whole(1))), 1
    )
    pairs = _CellPairs(
        InputRows(inner, inner.op("Gather", X, chosen), rows.n_features), centers, first, last
    )
    block = kernel_values(kernel, pairs)
    values = inner.op(
        "MatMul", block, inner.op("Slice", inner.real(coef), first, last, inner.whole([0]))
    )
    index = inner.reshape(chosen, -1, 1)
    after = inner.op("ScatterND", before, index, inner.to_double(values))
    X_out, cell_out = inner.op("Identity", X), inner.op("Identity", cell)
    body = inner.graph(
        {
            number: (INT, ()),
            go: (BOOL, ()),
            before: (DOUBLE, (None, q)),
            X: (DOUBLE, (None, rows.n_features)),
            cell: (INT, (None,)),
        },
        {
            on: (BOOL, ()),
            after: (DOUBLE, (None, q)),
            X_out: (DOUBLE, (None, rows.n_features)),
            cell_out: (INT, (None,)),
        },
        "cells",
    )
    start = b.zeros(b.length(rows.X, 0), b.whole([q]), "float64")
    outs = [b.name() for _ in range(3)]
    results = b.several(
        "Loop",
        b.whole(part.tree.n_cells),
        b.constant(np.array(True)),
        start,
        rows.X,
        _cells(b, rows.X, part.tree),
        outs=outs,
        body=body,
    )
    return results[0]


def _unscaled(kernel: Kernel, coef: Any) -> tuple[Kernel, Any]:
    """Move the factor of a kernel into the coefficients; onnxruntime would round it to float32."""
    return (kernel.kernel, kernel.scale * coef) if isinstance(kernel, Scaled) else (kernel, coef)


class _CellPairs(Pairs):
    """Pairs with the centres of one cell, which is selected at run time."""

    def __init__(self, rows: InputRows, centers: Any, first: str, last: str) -> None:
        super().__init__(rows, centers)
        self.first, self.last = first, last

    def per_center(self, values: Any) -> str:
        b = self.builder
        return b.op("Slice", super().per_center(values), self.first, self.last, b.whole([1]))


def _filled(part: CellPart) -> tuple[Any, Any, Any]:
    """Centres, coefficients and starts; an empty cell gets a centre with coefficient 0."""
    empty = np.flatnonzero(np.diff(part.starts) == 0)
    position = part.starts[empty]
    centers = np.insert(part.centers.astype(np.float64), position, 0.0, axis=0)
    coef = np.insert(part.coef, position, 0.0, axis=0)
    added = np.concatenate([[0], np.cumsum(np.diff(part.starts) == 0)])
    return centers, coef, part.starts + added


def _cells(b: Builder, X: str, tree: CellTree) -> str:
    """The cell of each row, (n,): one step per level of the tree; leaves are their own children."""
    leaf = tree.feature < 0
    nodes = np.arange(len(leaf))
    children = np.where(leaf[:, None], nodes[:, None], tree.children)
    depth = np.zeros(len(leaf), dtype=int)
    for node in nodes[~leaf]:
        depth[tree.children[node]] = depth[node] + 1
    node = b.reshape(b.zeros(b.length(X, 0), b.whole([1]), "int64"), -1)
    if leaf[0]:  # one cell
        return node
    feature, threshold = b.whole(np.where(leaf, 0, tree.feature)), b.double(tree.threshold)
    for _ in range(int(depth.max())):
        split_feature = b.reshape(b.op("Gather", feature, node), -1, 1)
        value = b.reshape(b.op("GatherElements", X, split_feature, axis=1), -1)
        right = b.cast(b.op("Greater", value, b.op("Gather", threshold, node)), INT)
        index = b.op("Add", b.op("Mul", node, b.whole(2)), right)
        node = b.op("Gather", b.whole(children.ravel()), index)
    return b.op("Gather", b.whole(np.where(leaf, tree.children[:, 0], 0)), node)
