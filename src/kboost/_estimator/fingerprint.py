"""What identifies a fit: the estimator, its parameters and the data."""

from __future__ import annotations

import pickle
from typing import Any

import joblib


def fingerprint(estimator: Any, X: Any, y: Any, sample_weight: Any, validation: Any) -> str:
    """A hash of everything that a fit depends on."""
    params = estimator.get_params(deep=False)
    if params.get("random_state", 0) is None:
        raise ValueError(
            "checkpoint requires a random_state that can be repeated; got random_state=None."
        )
    name = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    try:
        return str(joblib.hash((name, params, X, y, sample_weight, validation), hash_name="sha1"))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"checkpoint requires parameters and data that can be pickled; got {error}."
        ) from error
