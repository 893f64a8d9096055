"""Input of the estimators that train support vector machines: rows, kernels, binary problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._estimator.labels import check_two_classes, encode_labels
from kboost._estimator.parameter_rules import RULES as SHARED
from kboost._rules import POSITIVE, Rule, one_of
from kboost._typing import FloatArray
from kboost._validation import check_table, check_weights
from kboost.data.class_weight import apply_class_factors, class_factors, normalized_class_weights
from kboost.data.kernel_checks import check_symmetric_psd, is_user_kernel
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.data.multiclass import binary_problems
from kboost.data.svm_data import SVMData
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel
from kboost.kernels.normalize import normalized

RULES: dict[str, Rule] = {
    name: SHARED[name] for name in ("max_iter", "max_seconds", "memory_budget", "n_jobs", "verbose")
} | {
    "C": POSITIVE,
    "tol": POSITIVE,
    "multi_class": one_of("ovo", "ovr"),
    "column_scaling": one_of("mean", "trace"),
}


def svm_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, keep_total_weight: bool = False
) -> tuple[MergedRows, int]:
    """The checked rows of a classifier, merged, and their number before; sets `classes_`.

    With `keep_total_weight`, `class_weight` moves weight between the classes only.
    """
    X, y = check_table(estimator, X, y, reset=True)
    weight = check_weights(sample_weight, X.shape[0])
    codes = encode_labels(estimator, y)
    classes, class_weight = estimator.classes_, estimator.class_weight
    if keep_total_weight:
        weight = normalized_class_weights(class_weight, classes, codes, weight)
    else:
        factors = class_factors(class_weight, classes, codes, weight)
        weight = apply_class_factors(factors, codes, weight, named=class_weight)
    rows = merge_rows(X, codes, weight)
    check_two_classes(classes, rows.codes)
    return rows, X.shape[0]


def svm_data(estimator: Any, rows: MergedRows, n_input_rows: int) -> SVMData:
    """The rows with the scaled kernels and the binary problems of an estimator."""
    n_classes = len(estimator.classes_)
    centers = centers_of(estimator, rows)
    library = svm_kernels(estimator, rows, centers, n_input_rows)
    diagonals = _diagonals(estimator, library, rows.X, centers)
    return SVMData(
        rows=rows,
        centers=centers,
        kernels=normalized(library, diagonals, rows.weight, estimator.column_scaling),
        library=library,
        problems=binary_problems(rows.codes, n_classes, estimator.multi_class),
        n_classes=n_classes,
    )


def centers_of(estimator: Any, rows: MergedRows) -> Any:
    """The rows as second argument of a kernel: numbers of rows for precomputed kernels."""
    return rows.first[rows.center_of_row][:, None] if estimator._is_precomputed else rows.X


def svm_kernels(
    estimator: Any, rows: MergedRows, centers: Any, n_input_rows: int
) -> Sequence[Kernel]:
    """The kernels of an estimator, resolved on its rows; each must be positive semidefinite."""
    names = getattr(estimator, "feature_names_in_", None)
    kernels = as_kernels(estimator.kernels, rows.X, rows.weight, names, n_input_rows)
    if not all(kernel.is_psd for kernel in kernels):
        raise ValueError(
            "kernels must be positive semidefinite for a support vector machine; "
            f"got kernels={estimator.kernels!r}."
        )
    for kernel in kernels:
        if is_user_kernel(kernel):  # centred, because the signed duals sum to 0
            check_symmetric_psd(kernel, rows.X, centers, "a support vector machine", centred=True)
    return kernels


def _diagonals(estimator: Any, kernels: Sequence[Kernel], X: Any, centers: Any) -> list[FloatArray]:
    """k(x_i, x_i) of each kernel."""
    if not estimator._is_precomputed:
        return [kernel.diag(X) for kernel in kernels]
    rows, columns, width = np.arange(X.shape[0]), centers[:, 0], X.shape[1] // len(kernels)
    return [np.asarray(X[rows, j * width + columns]).ravel() for j in range(len(kernels))]
