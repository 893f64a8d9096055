"""Rules for a saved AutoKernel estimator: its preparation, its model and its head fit together."""

from __future__ import annotations

from typing import Any

from kboost._rules import POSITIVE, Rule, one_of
from kboost.auto.intervals import LeftOutResiduals
from kboost.auto.probabilities import Probabilities
from kboost.auto.target_scale import TargetScale
from kboost.core.model import AdditiveModel
from kboost.persistence.estimator_rules import JOBS, LABELS, is_fitted, names_fit
from kboost.persistence.rules import FINITE, NUMBER, TABLE, VECTOR
from kboost.preparation import TablePreparation

_NUMBERS = Rule("a tuple of numbers", lambda v: isinstance(v, tuple) and all(map(NUMBER.holds, v)))
_PREDICT_DTYPE = one_of("float64", "float32")

FIELDS = {
    "intervals.LeftOutResiduals": {"lower": VECTOR, "upper": VECTOR, "total": POSITIVE},
    "probabilities.Probabilities": {"matrix": TABLE, "offsets": VECTOR},
    "target_scale.TargetScale": {
        "kind": one_of("identity", "log", "asinh"),
        "shift": FINITE,
        "spread": FINITE,
        "residuals": _NUMBERS,
        "bounds": _NUMBERS,
    },
}


def part_fits(instance: Any) -> bool:
    """A transform of the target has residuals and two bounds; quantiles are in pairs."""
    if isinstance(instance, LeftOutResiduals):
        return len(instance.lower) == len(instance.upper) > 0
    return not isinstance(instance, TargetScale) or bool(
        instance.residuals and len(instance.bounds) == 2
    )


def auto_fits(instance: Any) -> bool:
    """The model reads what the preparation writes, and the head what the model writes."""
    attributes = vars(instance)
    jobs = JOBS.holds(attributes["n_jobs"])
    if not is_fitted(instance):
        return jobs
    preparation, inner = attributes.get("preparation_"), attributes.get("estimator_")
    model = getattr(inner, "_model", None)
    if not (
        jobs
        and _PREDICT_DTYPE.holds(attributes.get("_predict_dtype", "float64"))
        and "n_columns_" in attributes
        and isinstance(preparation, TablePreparation)
        and hasattr(preparation, "one_hot_")
        and isinstance(model, AdditiveModel)
        and len(preparation.one_hot_) == inner.n_features_in_
        and preparation.n_features_in_ == attributes.get("n_features_in_")
        and names_fit(attributes)
    ):
        return False
    classes, n_outputs = attributes.get("classes_"), len(model.bias)
    if not hasattr(type(instance), "predict_proba"):
        scale, residuals = attributes.get("target_scale_"), attributes.get("residuals_")
        of_known_types = isinstance(scale, TargetScale) and isinstance(residuals, LeftOutResiduals)
        return of_known_types and n_outputs == 1
    head = attributes.get("probabilities_")
    return (
        isinstance(head, Probabilities)
        and LABELS.holds(classes)
        and head.offsets.shape == classes.shape
        and head.matrix.shape == (len(classes), len(classes))
        and n_outputs == (1 if len(classes) == 2 else len(classes))
    )
