"""Rules for saved transformers of scikit-learn: their arrays fit the features.

Numbers that become indices or sizes have rules of their own: a one-hot encoder writes sparse rows
from the numbers it holds, polynomial features allocate their stated size, a number of jobs is a
number of processes, and a step that a file repeats is work for every repetition. A transformer that
has one attribute of a fit must have those listed here; what else scikit-learn's classes rely on,
they check or compute with in NumPy.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from kboost._rules import INTEGER

MAX_JOBS = 1024
MAX_FEATURES = 1 << 24
PER_FEATURE = {  # arrays whose last axis are the features; None where a parameter turns them off
    "KBinsDiscretizer": ("bin_edges_", "n_bins_"),
    "MaxAbsScaler": ("scale_",),
    "MinMaxScaler": ("min_", "scale_"),
    "PCA": ("components_", "mean_"),
    "PowerTransformer": ("lambdas_",),
    "QuantileTransformer": ("quantiles_",),
    "RobustScaler": ("center_", "scale_"),
    "SimpleImputer": ("statistics_",),
    "StandardScaler": ("mean_", "scale_"),
    "TfidfTransformer": ("idf_",),
    "TruncatedSVD": ("components_",),
    "VarianceThreshold": ("variances_",),
}
STEPS = {"steps": 2, "transformer_list": 2, "transformers": 3, "transformers_": 3}  # and sizes
MAY_BE_NONE = {  # by the parameter that turns them off
    ("RobustScaler", "center_"): "with_centering",
    ("RobustScaler", "scale_"): "with_scaling",
    ("StandardScaler", "mean_"): "with_mean",
    ("StandardScaler", "scale_"): "with_std",
    ("TfidfTransformer", "idf_"): "use_idf",
}


def transformer_fits(instance: Any) -> bool:
    """The sizes that a transformer holds follow from its other attributes."""
    jobs = vars(instance).get("n_jobs")
    if not (jobs is None or (INTEGER.holds(jobs) and abs(jobs) <= MAX_JOBS)):
        return False
    if not _steps_fit(instance):
        return False
    if "n_features_in_" in vars(instance) and not _arrays_fit(instance):
        return False
    if type(instance).__name__ == "OneHotEncoder" and "categories_" in vars(instance):
        return _one_hots_fit(instance)
    if type(instance).__name__ == "PolynomialFeatures" and "n_output_features_" in vars(instance):
        return _products_fit(instance)
    return True


def _steps_fit(instance: Any) -> bool:
    """Whether the steps of a pipeline, and what it unites, are transformers of different names."""
    for attribute, length in STEPS.items():
        steps = vars(instance).get(attribute, [])
        if not isinstance(steps, list) or not all(_is_step(step, length) for step in steps):
            return False
        if len({step[0] for step in steps}) < len(steps):
            return False
        objects = [id(step[1]) for step in steps if hasattr(step[1], "fit")]
        if attribute == "transformers_" and len(set(objects)) < len(objects):  # each is a copy
            return False
    return True


def _is_step(step: Any, length: int) -> bool:
    if not (isinstance(step, tuple) and len(step) == length and isinstance(step[0], str)):
        return False
    return step[1] is None or isinstance(step[1], str) or hasattr(step[1], "fit")


def _arrays_fit(instance: Any) -> bool:
    """Whether the arrays with a number per feature have as many, and are there."""
    kind, d = type(instance).__name__, instance.n_features_in_
    if not (INTEGER.holds(d) and 0 < d < 1 << 31):
        return False
    for name in PER_FEATURE.get(kind, ()):
        array = vars(instance).get(name)
        if array is None:
            if getattr(instance, MAY_BE_NONE.get((kind, name), ""), True) is not False:
                return False
        elif not (isinstance(array, np.ndarray) and array.ndim and array.shape[-1] == d):
            return False
    return True


def _one_hots_fit(instance: Any) -> bool:
    """Every category has a column of the output, and no more."""
    d = instance.n_features_in_
    dropped, grouped = instance._drop_idx_after_grouping, instance._infrequent_enabled
    if not (
        isinstance(instance.categories_, list)
        and len(instance.categories_) == d
        and all(isinstance(each, np.ndarray) and each.ndim == 1 for each in instance.categories_)
        and (dropped is None or (isinstance(dropped, np.ndarray) and dropped.shape == (d,)))
    ):
        return False
    sizes = [len(each) for each in instance.categories_]
    if grouped:
        found = list(map(_n_groups, sizes, instance._default_to_infrequent_mappings))
        if None in found or len(found) != d or not _infrequent_fit(instance, sizes):
            return False
        sizes = [size for size in found if size is not None]
    for i, index in enumerate([] if dropped is None else dropped):
        if index is not None and not (INTEGER.holds(index) and 0 <= index < sizes[i]):
            return False
        sizes[i] -= index is not None
    return bool(instance._n_features_outs == sizes)


def _infrequent_fit(instance: Any, sizes: list[int]) -> bool:
    infrequent = instance._infrequent_indices
    return len(infrequent) == len(sizes) and all(
        each is None or (_are_indices(each) and len(each) and each.min() >= 0 and each.max() < size)
        for each, size in zip(infrequent, sizes, strict=True)
    )


def _n_groups(size: int, mapping: Any) -> int | None:
    """The number of columns of a feature whose infrequent categories share one."""
    if mapping is None:
        return size
    if not (_are_indices(mapping) and len(mapping) == size and size):
        return None
    groups = np.unique(mapping)
    return len(groups) if groups[0] == 0 and groups[-1] == len(groups) - 1 else None


def _are_indices(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i"


def _products_fit(instance: Any) -> bool:
    """The numbers of products are those of the degrees."""
    d, low, high = instance.n_features_in_, instance._min_degree, instance._max_degree
    if not (all(map(INTEGER.holds, (d, low, high))) and 0 <= low <= high < 1 << 10 and d < 1 << 24):
        return False
    options = (instance.interaction_only, bool(instance.include_bias))
    full, kept = (_n_products(d, lowest, high, *options) for lowest in (0, low))
    return bool(instance._n_out_full == full < MAX_FEATURES and instance.n_output_features_ == kept)


def _n_products(d: int, low: int, high: int, distinct: bool, bias: bool) -> int:
    start = max(1, low)
    if distinct:
        return bias + sum(comb(d, k) for k in range(start, min(high, d) + 1))
    return bias + comb(d + high, high) - comb(d + start - 1, start - 1)
