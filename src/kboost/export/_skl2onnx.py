"""Converters for skl2onnx: the graphs of `to_onnx`, copied into its containers.

Outputs are those of the scikit-learn estimators in skl2onnx: label and probabilities of a
classifier (decision values with the option `raw_scores`, or if there are no probabilities; (-f, f)
for two classes), a column of predictions of a regressor, label and scores of an outlier detector.
"""

from __future__ import annotations

from typing import Any

from onnx import helper, numpy_helper
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType
from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
from sklearn.base import is_classifier, is_outlier_detector

from kboost.export import _heads, _tables
from kboost.export._graph import INT, STRING, Builder
from kboost.persistence.registry import ESTIMATORS

_CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [False, True],
}


def register_all() -> None:
    """Register all kboost estimators, except those of kboost.dask."""
    for entry in ESTIMATORS:
        if entry.path.startswith("kboost.dask."):
            continue
        cls, sort = entry.cls, _sort(entry.cls)
        update_registered_converter(
            cls,
            f"Kboost{cls.__name__}",
            _SHAPES[sort],
            _CONVERTERS[sort],
            overwrite=True,
            options=_CLASSIFIER_OPTIONS if sort == "classifier" else None,
        )


def _sort(cls: Any) -> str:
    empty = cls()
    if is_classifier(empty):
        return "classifier"
    return "outliers" if is_outlier_detector(empty) else "regressor"


def _real(operator: Any) -> Any:
    """The type of the numbers that come out."""
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    return DoubleTensorType if double else FloatTensorType


def _regressor_shapes(operator: Any) -> None:
    n = operator.inputs[0].get_first_dimension()
    width = len(operator.raw_operator._model.bias)
    operator.outputs[0].set_type(_real(operator)([n, width]))


def _outlier_shapes(operator: Any) -> None:
    n = operator.inputs[0].get_first_dimension()
    operator.outputs[0].set_type(Int64TensorType([n]))
    operator.outputs[1].set_type(_real(operator)([n, 1]))


def _start(scope: Any, operator: Any) -> tuple[Any, Builder, str]:
    """The estimator, a builder and the model's values."""
    model = operator.raw_operator
    _heads.check_model(model)
    dtype = "float64" if _real(operator) is DoubleTensorType else "float32"
    b = Builder(scope.get_unique_variable_name("kboost"), dtype)
    if len(_tables.graph_inputs(model, dtype)) != 1 or len(operator.inputs) != 1:
        raise ValueError(
            f"{type(model).__name__} must have been fitted to numbers in a pipeline for ONNX; got "
            "columns of other kinds, which kboost.export.onnx.to_onnx converts."
        )
    X = _tables.prepared(model, b, operator.inputs[0].full_name)
    return model, b, _heads.values_of(model, b, X)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    model, b, values = _start(scope, operator)
    raw = container.get_options(model, {"raw_scores": False})["raw_scores"]
    values = _heads.class_scores(model, b, values)
    label, kind = _heads.label(model, b, values)
    if kind not in (INT, STRING):
        raise ValueError(f"classes_ must be strings or integers; got {model.classes_.tolist()!r}.")
    if raw or not hasattr(model, "predict_proba"):
        single = len(model.classes_) == 2
        second = b.op("Concat", b.op("Neg", values), values, axis=1) if single else values
    else:
        second = _heads.probabilities(model, b, values)
    _finish(b, operator, container, [label, b.to_real(second)])


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    _, b, values = _start(scope, operator)
    _finish(b, operator, container, [b.to_real(values)])


def _convert_outliers(scope: Any, operator: Any, container: Any) -> None:
    model, b, values = _start(scope, operator)
    away = b.op("Sub", values, b.double(model.offset_))
    _finish(b, operator, container, [_heads.outlier_label(b, away), b.to_real(away)])


def _finish(b: Builder, operator: Any, container: Any, outputs: list[str]) -> None:
    """Name the outputs and move everything into the container."""
    for variable, name in zip(operator.outputs, outputs, strict=True):
        b.op("Identity", name, out=variable.full_name)
    for tensor in b.constants:
        array = numpy_helper.to_array(tensor)
        container.add_initializer(
            tensor.name, tensor.data_type, list(tensor.dims), array.ravel().tolist()
        )
    for node in b.nodes:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        container.add_node(
            node.op_type, list(node.input), list(node.output), name=node.name, **attributes
        )


_SHAPES = {
    "classifier": calculate_linear_classifier_output_shapes,
    "regressor": _regressor_shapes,
    "outliers": _outlier_shapes,
}
_CONVERTERS = {
    "classifier": _convert_classifier,
    "regressor": _convert_regressor,
    "outliers": _convert_outliers,
}
