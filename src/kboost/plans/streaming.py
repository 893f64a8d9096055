"""`partial_fit` of the sparse kernel machines: rows come in batches and are not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_random_state

from kboost._typing import FloatArray
from kboost.columns.hypothesis import KernelPart, stack_rows
from kboost.core.model import AdditiveModel
from kboost.core.trace import Trace
from kboost.data.indexed_rows import indexed_rows
from kboost.kernels.names import unique_names
from kboost.kernels.rows import as_dense
from kboost.selection.kernels import ROWS, SelectionSample, choose
from kboost.streaming.recursive_least_squares import RecursiveLeastSquares

MOST_COLUMNS = 1000  # of a stream, unless max_columns says otherwise


def stream_step(model: Any, X: Any, targets: FloatArray, weight: FloatArray, first: bool) -> None:
    """Take a batch in and set the fitted attributes; kernels are chosen on the first batch."""
    if isinstance(model.kernels, str) and model.kernels == "precomputed":
        raise ValueError(
            "kernels must not be 'precomputed' for partial_fit, whose centres come and go with "
            "the batches; got kernels='precomputed'."
        )
    X, targets, weight = _merged(X, targets, weight)
    if not first and issparse(X) != issparse(model.centers_):  # as the first batch was
        X = as_dense(X) if issparse(X) else csr_matrix(X)
    stream = _start(model, X, targets, weight) if first else model._stream.copy()
    stream.add(X, targets, weight)
    model._stream = stream
    _keep(model, stream, X[:0])


def _merged(X: Any, targets: FloatArray, weight: FloatArray) -> tuple[Any, FloatArray, FloatArray]:
    """The batch in its order, a row given twice as one of weight two, none of weight 0."""
    rows = indexed_rows(X, targets, weight)
    first = np.argsort(rows.order)
    return X[rows.order[first]], rows.targets[first], rows.weight[first]


def _start(model: Any, X: Any, targets: FloatArray, weight: FloatArray) -> RecursiveLeastSquares:
    rng = check_random_state(model.random_state)
    drawn = np.sort(rng.permutation(X.shape[0])[:ROWS])
    names = getattr(model, "feature_names_in_", None)
    kernels, ridge, _ = choose(
        model.kernels, model.ridge, SelectionSample(X[drawn], targets[drawn], weight[drawn], names)
    )
    useful = model.selection == "ran"
    return RecursiveLeastSquares(
        kernels,
        ridge,
        targets.shape[1],
        fit_intercept=bool(model.fit_intercept),
        useful=useful,
        threshold=model.ran_threshold if useful else model.ald_threshold,
        max_columns=model.max_columns or MOST_COLUMNS,
    )


def _keep(model: Any, stream: RecursiveLeastSquares, no_centers: Any) -> None:
    parts = []
    for p, kernel in enumerate(stream.kernels):
        centers, coef = stream.part(p)
        if centers is not None:
            parts.append(KernelPart(kernel, centers, coef, np.arange(len(coef))))
    model._model = AdditiveModel(tuple(parts), stream.bias)
    single = len(stream.bias) == 1
    names = unique_names([repr(kernel) for kernel in stream.kernels])
    model.kernels_ = list(stream.kernels)
    model.columns_per_kernel_ = {name: len(stream.part(p)[1]) for p, name in enumerate(names)}
    model.centers_ = stack_rows([part.centers for part in parts]) if parts else no_centers
    model.ridge_ = stream.ridge
    model.n_columns_ = stream.size
    model.coef_ = model._model.coef[:, 0] if single else model._model.coef.T
    model.intercept_ = float(stream.bias[0]) if single else stream.bias
    model.objective_ = model.dual_gap_ = None  # rows that are gone cannot be asked
    model.n_cells_ = model.choice_ = None
    model.trace_ = Trace()
    model.n_iter_ = stream.n_batches
    model.stop_reason_ = f"the batch is learnt; {stream.size} basis vectors so far."
