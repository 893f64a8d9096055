"""Convert the parameter ``kernels=`` to a tuple of resolved kernels.

It may be "auto", a kernel, a scikit-learn name, a callable, a list of these, or "precomputed".
"linear", "poly", "rbf" and "sigmoid" have the defaults of scikit-learn's SVC, the other names
those of ``sklearn.metrics.pairwise``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kboost.kernels.base import Kernel
from kboost.kernels.default import library_on
from kboost.kernels.dot_product import Linear, Polynomial, Sigmoid
from kboost.kernels.functions import FunctionKernel, Precomputed, SklearnKernel
from kboost.kernels.rows import as_rows
from kboost.kernels.sample import Sample
from kboost.kernels.stationary import Gaussian, Laplacian

__all__ = ["FunctionKernel", "Precomputed", "SklearnKernel", "as_kernels"]

NAMED: dict[str, Callable[[int], Kernel]] = {  # called with the number of features
    "linear": lambda d: Linear(),
    "poly": lambda d: Polynomial(3, coef0=0.0, gamma="scale"),
    "rbf": lambda d: Gaussian("scale"),
    "sigmoid": lambda d: Sigmoid(),
    "polynomial": lambda d: Polynomial(3, gamma=1.0 / d),
    "laplacian": lambda d: Laplacian(1.0 / d),
    "cosine": lambda d: SklearnKernel("cosine"),
    "chi2": lambda d: SklearnKernel("chi2"),
    "additive_chi2": lambda d: SklearnKernel("additive_chi2"),
}


def as_kernels(
    spec: Any,
    X: Any,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    width: int | None = None,
    alone: Sequence[str] = ("precomputed",),
) -> tuple[Kernel, ...]:
    """Return the distinct kernels of a specification, resolved on rows.

    Parameters
    ----------
    spec : "auto", "precomputed", str, Kernel, callable, or non-empty list of these
        Value of the parameter ``kernels``.
    X : array-like or CSR of shape (n, d)
        Training rows; for "precomputed" the matrices side by side.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    feature_names : sequence of str, optional
        Names that ``columns=`` may use.
    width : int, optional
        Number of training rows, which is the number of columns of one precomputed matrix; by
        default the number of rows of ``X``.
    alone : sequence of str, default=("precomputed",)
        Names that cannot be part of a list, for error messages.

    Returns
    -------
    tuple of Kernel
        Resolved kernels, without duplicates, in order of first appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import Gaussian, as_kernels
    >>> as_kernels(["linear", Gaussian("mean"), "linear"], np.array([[0.0], [1.0]]))
    (Linear(), Gaussian(gamma=2.0))
    """
    sample = Sample(X, sample_weight, feature_names)
    if isinstance(spec, str) and spec == "precomputed":
        return _precomputed(sample.n_features, as_rows(X).shape[0] if width is None else width)
    parts = spec if isinstance(spec, list | tuple) else [spec]
    if not parts:
        raise ValueError(f"kernels must not be empty; got kernels={spec!r}.")
    resolved: list[Kernel] = []
    for part in parts:
        if isinstance(part, str) and part == "auto":
            resolved.extend(library_on(sample))
        else:
            resolved.append(_as_kernel(part, sample, alone).resolve_on(sample))
    return tuple(dict.fromkeys(resolved))


def _as_kernel(part: Any, sample: Sample, alone: Sequence[str]) -> Kernel:
    if isinstance(part, Kernel):
        return part
    if isinstance(part, str):
        if part in alone:
            raise ValueError(
                f"kernels={part!r} must be a string, not part of a list; got a list with {part!r}."
            )
        if part not in NAMED:
            names = ", ".join(repr(name) for name in ("auto", *alone, *NAMED))
            raise ValueError(f"kernels must be one of {names}; got {part!r}.")
        return NAMED[part](sample.n_features)
    if callable(part) and not isinstance(part, type):
        return FunctionKernel(part)
    raise ValueError(
        f"kernels must be 'auto', {', '.join(map(repr, alone))}, a kernel, a name, a callable or a"
        f" list of these; got {part!r}."
    )


def _precomputed(n_columns: int, width: int) -> tuple[Kernel, ...]:
    if n_columns == 0 or n_columns % width:
        raise ValueError(
            f"X must have a multiple of {width} columns (the number of training rows) for "
            f"kernels='precomputed'; got {n_columns} columns."
        )
    return tuple(Precomputed(part, width) for part in range(n_columns // width))
