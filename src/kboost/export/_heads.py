"""Outputs of estimators from the values of their models: labels, probabilities, predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from kboost.auto.probabilities import Probabilities
from kboost.auto.target_scale import REACH, TargetScale
from kboost.boosting.svm_ensemble import SVMEnsemble
from kboost.core.model import AdditiveModel
from kboost.export._graph import DOUBLE, INT, STRING, TYPES, Builder
from kboost.export._parts import model_values
from kboost.export._rows import InputRows


@dataclass(frozen=True)
class Outputs:
    """Names of the outputs of a model in a graph, with their types and shapes."""

    names: dict[str, str]  # output: name in the graph
    kinds: dict[str, tuple[int, tuple[Any, ...]]]


def check_model(model: Any) -> None:
    """Raise if the estimator has no model that can be exported."""
    check_is_fitted(model)
    if not isinstance(getattr(model, "_model", None), AdditiveModel | SVMEnsemble):
        raise ValueError(
            f"model must be a fitted kboost estimator; got {type(model).__name__}; convert a "
            "Pipeline with skl2onnx.to_onnx after kboost.export.onnx.register()."
        )


def all_outputs(model: Any, b: Builder, X: str) -> Outputs:
    """All outputs of the estimator for prepared rows X, which are float64."""
    values = values_of(model, b, X)
    if is_classifier(model):
        return _classifier(model, b, class_scores(model, b, values))
    if is_outlier_detector(model):
        return _outliers(model, b, values)
    flat = getattr(model, "_flat", True)
    name, shape = _narrowed(b, values, len(model._model.bias), flat)
    return Outputs({"prediction": name}, {"prediction": (TYPES[b.dtype], shape)})


def values_of(model: Any, b: Builder, X: str) -> str:
    """The values of the model at prepared rows, on the scale of the targets."""
    inner = getattr(model, "estimator_", model) if hasattr(model, "preparation_") else model
    values = model_values(inner, InputRows(b, X, inner.n_features_in_))
    scale = getattr(model, "target_scale_", None)
    return values if scale is None else _inverted(scale, b, values)


def _inverted(scale: TargetScale, b: Builder, values: str) -> str:
    """The means on the original scale, as `TargetScale.invert`."""
    if scale.kind == "identity":
        return values
    moved = b.op("Add", values, b.double([scale.residuals]))
    moved = b.op("Clip", moved, b.double(-REACH), b.double(REACH))
    grown = b.op("Exp", moved)
    if scale.kind == "asinh":  # Sinh has no float64 kernel
        grown = b.op("Mul", b.op("Sub", grown, b.op("Exp", b.op("Neg", moved))), b.double(0.5))
    shift = scale.shift if scale.kind == "asinh" else -scale.shift
    plain = b.op("Add", b.op("Mul", grown, b.double(scale.spread)), b.double(shift))
    mean = b.op("Div", b.total(plain, 1, keep=True), b.double(len(scale.residuals)))
    return b.op("Clip", mean, b.double(scale.bounds[0]), b.double(scale.bounds[1]))


def _calibrated(head: Probabilities, b: Builder, values: str) -> str:
    """`A f + b` of each row; of two classes the difference."""
    if len(head.offsets) > 2:
        mixed = b.op("MatMul", values, b.double(head.matrix.T))
        return b.op("Add", mixed, b.double(head.offsets))
    scaled = b.op("Mul", values, b.double(head.slope))
    first = b.op("Sub", b.double(head.offsets[0]), scaled)
    return b.op("Sub", b.op("Add", scaled, b.double(head.offsets[1])), first)


def class_scores(model: Any, b: Builder, values: str) -> str:
    """One column per class, or one for two classes; scores as in data/multiclass.py."""
    if hasattr(model, "probabilities_"):
        return _calibrated(model.probabilities_, b, values)
    problems, n_classes = getattr(model, "_binary_problems", None), len(model.classes_)
    if problems is None or n_classes == 2:
        return values
    positive_of = np.zeros((len(problems), n_classes))
    negative_of = np.zeros((len(problems), n_classes))
    for k, problem in enumerate(problems):
        positive_of[k, problem.positive] = 1.0
        if problem.negative is not None:
            negative_of[k, problem.negative] = 1.0
    if not (positive_of + negative_of).any(axis=0).all():
        raise ValueError("model must have seen rows of every class; one of them had no weight.")
    difference = b.double(positive_of - negative_of)
    sums = b.op("MatMul", values, difference)
    if not negative_of.any():
        return sums
    is_positive = b.cast(b.op("Greater", values, b.double(0.0)), DOUBLE)
    # wins = is_positive positive_of + (1 - is_positive) negative_of
    wins = b.op("Add", b.op("MatMul", is_positive, difference), b.double(negative_of.sum(axis=0)))
    size = b.op("Mul", b.op("Add", b.op("Abs", sums), b.double(1.0)), b.double(3.0))
    return b.op("Add", wins, b.op("Div", sums, size))


def probabilities(model: Any, b: Builder, values: str) -> str:
    """As `predict_proba`, float64."""
    if hasattr(model, "calibration_") or hasattr(model, "probabilities_"):
        slope = model.calibration_.slope if hasattr(model, "calibration_") else 1.0
        scores = values
        if len(model.classes_) == 2:  # (0, f)
            scores = b.op("Pad", values, b.whole([0, 1, 0, 0]), b.double(0.0))
        return b.op("Softmax", b.op("Mul", scores, b.double(slope)), axis=1)
    if len(model.classes_) == 2:
        values = b.op("Concat", b.op("Neg", values), values, axis=1)
    # log 1 / (1 + exp(-f)) = min(f, 0) - log(1 + exp(-|f|)); Softplus has no float64 kernel
    small = b.op("Exp", b.op("Neg", b.op("Abs", values)))
    tail = b.op("Log", b.op("Add", small, b.double(1.0)))
    logs = b.op("Sub", b.op("Min", values, b.double(0.0)), tail)
    return b.op("Softmax", logs, axis=1)


def label(model: Any, b: Builder, values: str) -> tuple[str, int]:
    """The class of each row, (n,), and its type."""
    classes = model.classes_
    if classes.dtype.kind == "O" and not all(isinstance(c, str) for c in classes):
        raise ValueError(f"classes_ must be all strings or all numbers; got {classes.tolist()!r}.")
    if classes.dtype.kind in "iub":
        classes = classes.astype(np.int64)
    if len(classes) > 2:
        codes = b.op("ArgMax", values, axis=1, keepdims=0)
    else:
        codes = b.cast(b.reshape(b.op("Greater", values, b.double(0.0)), -1), INT)
    kind = STRING if classes.dtype.kind in "UO" else _number(classes.dtype)
    return b.op("Gather", b.constant(classes), codes), kind


def _number(dtype: Any) -> int:
    return {"int64": INT, **TYPES}[dtype.name]


def _classifier(model: Any, b: Builder, values: str) -> Outputs:
    n_classes, kind = len(model.classes_), TYPES[b.dtype]
    labels, label_kind = label(model, b, values)
    decision, shape = _narrowed(b, values, n_classes, n_classes == 2)
    names = {"label": labels, "decision": decision}
    kinds: dict[str, Any] = {"label": (label_kind, ("n",)), "decision": (kind, shape)}
    if hasattr(model, "predict_proba"):
        names["probabilities"] = b.to_real(probabilities(model, b, values))
        kinds["probabilities"] = (kind, ("n", n_classes))
    return Outputs(names, kinds)


def _outliers(model: Any, b: Builder, values: str) -> Outputs:
    away = b.op("Sub", values, b.double(model.offset_))
    decision, shape = _narrowed(b, away, 1, True)
    return Outputs(
        {"label": outlier_label(b, away), "decision": decision},
        {"label": (INT, ("n",)), "decision": (TYPES[b.dtype], shape)},
    )


def outlier_label(b: Builder, away: str) -> str:
    """1 or -1, (n,)."""
    inside = b.reshape(b.op("GreaterOrEqual", away, b.double(0.0)), -1)
    return b.op("Where", inside, b.whole(1), b.whole(-1))


def _narrowed(b: Builder, values: str, width: int, flat: bool) -> tuple[str, tuple[Any, ...]]:
    """Values in the dtype of the output; a single column may become a vector."""
    out = b.to_real(values)
    return (b.reshape(out, -1), ("n",)) if flat else (out, ("n", width))
