"""Attributes of fitted models for displays and reports."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kboost._typing import FloatArray
from kboost.core.trace import Trace
from kboost.estimators._auto import AutoKernelBase

_VIEW = re.compile(r"(, )?on=<(\w+) of \d+ features>")
_SCALAR = re.compile(r"np\.float64\(([^)]*)\)")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def last_step(estimator: Any) -> Any:
    """The estimator at the end of a pipeline or a search."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def unwrap(estimator: Any) -> Any:
    """The fitted kboost estimator inside a pipeline, a search or an AutoKernel estimator."""
    model = last_step(estimator)
    if not type(model).__module__.startswith("kboost."):
        raise TypeError(
            "estimator must be a kboost estimator, or a pipeline or search that ends in one; "
            f"got {type(model).__name__}."
        )
    check_is_fitted(model)
    return model.estimator_ if isinstance(model, AutoKernelBase) else model


def trace_of(model: Any, output: int = 0) -> Trace:
    """The trace of a fit; with several classes, of one class against the others."""
    trace = getattr(model, "trace_", None)
    if isinstance(trace, list) and trace and all(isinstance(item, Trace) for item in trace):
        if not 0 <= output < len(trace):
            raise ValueError(
                f"output must be at least 0 and below {len(trace)}, the number of classes; "
                f"got output={output!r}."
            )
        trace = trace[output]
    if not trace or not isinstance(trace, Trace):
        raise ValueError(
            f"estimator must have a trace_ of steps; got a {type(model).__name__} without one."
        )
    return trace


def axis_of(model: Any, trace: Trace) -> tuple[str, FloatArray]:
    """Label and values of the horizontal axis of a trace: columns, or steps for kernel weights."""
    if hasattr(model, "kernel_weights_"):
        return "step", trace.values("iteration")
    return "columns generated", trace.values("n_columns")


def short_name(kernel: Any) -> str:
    """A short name such as `Laplacian(gamma=0.2, ranks)` of a kernel or its repr."""
    text = kernel if isinstance(kernel, str) else repr(kernel)
    text = _VIEW.sub(lambda m: f"{m[1] or ''}ranks" if m[2] == "Ranks" else "", text)
    return _NUMBER.sub(lambda m: f"{float(m[0]):.3g}", _SCALAR.sub(r"\1", text))


def kernel_names(model: Any) -> list[str]:
    """A short name for each kernel of the library, in the order of `columns_per_kernel_`."""
    return [short_name(name) for name in model.columns_per_kernel_]


def kernel_of_centers(model: Any) -> list[str]:
    """The name of the kernel of each centre; support vectors belong to several kernels."""
    counts = list(model.columns_per_kernel_.values())
    if sum(counts) != model.centers_.shape[0]:
        return ["support vectors"] * model.centers_.shape[0]
    return [n for n, count in zip(kernel_names(model), counts, strict=True) for _ in range(count)]


def kernel_weights(model: Any, X: Any) -> FloatArray:
    """Standard deviation over the rows of the contribution of each kernel to the output.

    For boosted SVMs, whose votes are not a sum over kernels: the weight of the rounds that use
    the kernel.
    """
    if hasattr(model, "kernel_usage_"):
        return np.array([use.weight for use in model.kernel_usage_.values()])
    values = [np.zeros((X.shape[0], len(model._model.bias))) for _ in model.columns_per_kernel_]
    for part in model._sum().parts:
        kernel = getattr(part, "kernel", None)
        index = model.kernels_.index(kernel) if kernel in model.kernels_ else 0
        values[index] += part(X)
    return np.array([np.sqrt(np.mean((v - v.mean(axis=0)) ** 2)) for v in values])


def input_of(estimator: Any, X: Any) -> Any:
    """The rows as input of the estimator that `unwrap` returns."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    last = last_step(estimator)
    return last._rows(X) if isinstance(last, AutoKernelBase) else X
