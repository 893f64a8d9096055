"""Rules for saved estimators: a fitted one has what its methods use, and all of it fits its model.

A fit sets all of its attributes, so an estimator that has one of them must have those that are
listed here. Other attributes are for users to read, and no method relies on them.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from kboost._rules import BOOLEAN, INTEGER, Rule, one_of, optional
from kboost.boosting.svm_ensemble import SVMEnsemble
from kboost.core.model import AdditiveModel
from kboost.data.multiclass import BinaryProblem
from kboost.kernels.base import Kernel
from kboost.persistence.rules import FINITE, VECTOR, WHOLE, model_sees
from kboost.selection.calibration import Calibration

_MAX_FEATURES = 1 << 31
FEATURES = Rule("a number of features", lambda v: WHOLE.holds(v) and 0 < v < _MAX_FEATURES)
KERNEL_LIST = Rule(
    "a list of kernels", lambda v: isinstance(v, list) and all(isinstance(k, Kernel) for k in v)
)
COUNTS = Rule(
    "counts by name",
    lambda v: isinstance(v, dict) and all(isinstance(k, str) and WHOLE.holds(v[k]) for k in v),
)
LABELS = Rule("labels", lambda v: isinstance(v, np.ndarray) and v.ndim == 1 and _are_labels(v))
CALIBRATION = Rule("a calibration", lambda v: isinstance(v, Calibration))
JOBS = optional(Rule("an integer", lambda v: INTEGER.holds(v) and abs(v) < 1 << 31))

PRESENT = {  # of a fitted estimator
    "n_features_in_": FEATURES,
    "n_columns_": WHOLE,
    "kernels_": KERNEL_LIST,
}
PRESENT_IN = {
    "CalibratedMixin": {"calibration_": CALIBRATION},
    "SparseKernelRegressor": {"_flat": BOOLEAN},
    "KernelBoostNovelty": {"offset_": FINITE},
    "MKBoostClassifier": {"estimator_weights_": Rule("weights", lambda v: True)},
    "BoostedSVMClassifier": {"estimator_weights_": Rule("weights", lambda v: True)},
}
IF_PRESENT = {
    "n_jobs": JOBS,
    "calibration_": CALIBRATION,
    "columns_per_kernel_": optional(COUNTS),
    "offset_": FINITE,
    "_predict_dtype": one_of("float64", "float32"),
}


def estimator_fits(instance: Any) -> bool:
    """A fitted estimator has a model of the right features and classes; others have none."""
    attributes = vars(instance)
    if not _hold(attributes, {k: v for k, v in IF_PRESENT.items() if k in attributes}):
        return False
    if not is_fitted(instance):
        return True
    model = attributes.get("_model")
    classes = [cls.__name__ for cls in type(instance).__mro__]
    needed = [PRESENT, *(PRESENT_IN[name] for name in classes if name in PRESENT_IN)]
    return (
        isinstance(model, AdditiveModel | SVMEnsemble)
        and all(_hold(attributes, rules) for rules in needed)
        and names_fit(attributes)
        and model_sees(model, attributes["n_features_in_"])
        and _kernels_fit(attributes, model)
        and _outputs_fit(instance, model)
    )


def is_fitted(instance: Any) -> bool:
    """Whether an estimator has more than its parameters."""
    names = set(vars(instance)) - set(type(instance)._get_param_names())
    return any(name.endswith("_") or name == "_model" for name in names)


def names_fit(attributes: dict[str, Any]) -> bool:
    """Whether there is a name for each feature, or none at all."""
    names = attributes.get("feature_names_in_")
    if names is None:
        return "feature_names_in_" not in attributes
    return (
        isinstance(names, np.ndarray)
        and names.shape == (attributes["n_features_in_"],)
        and all(isinstance(name, str) for name in names)
    )


def _hold(attributes: dict[str, Any], rules: dict[str, Rule]) -> bool:
    return all(name in attributes and rule.holds(attributes[name]) for name, rule in rules.items())


def _kernels_fit(attributes: dict[str, Any], model: AdditiveModel | SVMEnsemble) -> bool:
    """Each part has a kernel of the list, and each kernel a number of columns."""
    kernels, counts = attributes["kernels_"], attributes.get("columns_per_kernel_")
    if isinstance(model, SVMEnsemble):
        return len(model.kernels) == len(kernels)
    parts: Any = model.parts
    own = [part.kernel for part in parts if hasattr(part, "kernel")]
    if own and not (counts is None or len(counts) == len(kernels)):
        return False
    mixed = "_binary_problems" in attributes  # parts are sums of the kernels
    weights = attributes.get("kernel_weights_")
    if weights is not None and not (
        isinstance(weights, np.ndarray)
        and weights.dtype.kind == "f"
        and weights.shape in ((len(kernels),), (len(model.bias), len(kernels)))
    ):
        return False
    return (counts is None or bool(counts) or not parts) and (
        mixed or all(kernel in kernels for kernel in own)
    )


def _outputs_fit(instance: Any, model: AdditiveModel | SVMEnsemble) -> bool:
    """As many outputs as classes, binary problems or targets."""
    attributes = vars(instance)
    n_outputs = len(model.n_rounds if isinstance(model, SVMEnsemble) else model.bias)
    if attributes.get("_flat", False) and n_outputs != 1:
        return False
    if isinstance(model, SVMEnsemble) and not _weights_fit(attributes, model):
        return False
    if not hasattr(type(instance), "predict_proba") and "classes_" not in attributes:
        return n_outputs >= 1
    return _classes_fit(attributes, n_outputs)


def _weights_fit(attributes: dict[str, Any], model: SVMEnsemble) -> bool:
    """Every round of every output has a finite weight."""
    weights, problems = attributes["estimator_weights_"], attributes.get("_binary_problems")
    if not isinstance(problems, list | tuple):
        return False
    each = [weights] if len(problems) == 1 else weights
    return (
        isinstance(each, list)
        and all(VECTOR.holds(w) and bool(np.isfinite(w).all()) for w in each)
        and [len(w) for w in each] == list(model.n_rounds)
        and len(set(map(id, model.groups))) == len(model.groups)
    )


def _classes_fit(attributes: dict[str, Any], n_outputs: int) -> bool:
    """Whether there are as many outputs as classes, or as binary problems of them."""
    classes: Any = attributes.get("classes_")
    problems = attributes.get("_binary_problems")
    if not LABELS.holds(classes):
        return False
    if problems is not None and not _separate(problems, len(classes)):
        return False
    n_problems = len(classes) if problems is None else len(problems)
    return n_outputs == (1 if len(classes) == 2 else n_problems)


def _separate(problems: Any, n_classes: int) -> bool:
    """Whether these are binary problems, of classes that exist."""
    return isinstance(problems, list | tuple) and all(
        isinstance(problem, BinaryProblem)
        and 0 <= problem.positive < n_classes
        and (problem.negative is None or 0 <= problem.negative < n_classes)
        for problem in problems
    )


def _are_labels(values: Any) -> bool:
    """Two or more, all text, or all numbers or truth values."""
    if len(values) < 2:
        return False
    if values.dtype.kind != "O":
        return True
    return all(isinstance(v, str) for v in values) or all(isinstance(v, Real) for v in values)
