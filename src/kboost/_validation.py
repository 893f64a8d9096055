"""Checks of X, y, sample weights and validation rows; an estimator unchanged by a failed fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from kboost._typing import FloatArray
from kboost.kernels.rows import as_rows

HEAVIEST = 1e305  # sum of weights
HEAVIEST_SQUARES = 1e100  # if weights are multiplied by squares


def check_table(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    reset: bool,
    y_numeric: bool = False,
    multi_output: bool = False,
    keep_dtype: bool = False,
) -> Any:
    """Check X (and y) with scikit-learn: float64, dense or CSR, finite, consistent feature names.

    `keep_dtype` keeps float32 and the memory order, so that nothing is copied. Kernel matrices may
    be stacked along the third axis, (n, m, P), so that cross-validation can index their rows; they
    are copied side by side.
    """
    if getattr(X, "ndim", 2) == 3 and get_tags(estimator).input_tags.pairwise:
        n, m, P = X.shape
        if reset and n != m:
            raise ValueError(
                "X must have shape (n, n, P) for P kernel matrices stacked along the third axis; "
                f"got shape {X.shape}."
            )
        X = np.moveaxis(np.asarray(X), 2, 1).reshape(n, P * m)
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
    if keep_dtype:
        options["dtype"] = [np.float64, np.float32]
    else:
        options["order"] = "C"
    if y_numeric:
        options["y_numeric"] = True
        check_numeric(y, "y")
    if multi_output:
        options["multi_output"] = True
    try:
        if y is None and (not reset or not requires_y(estimator)):
            return as_rows(validate_data(estimator, X, **options))
        X, y = validate_data(estimator, X, y, **options)
        return as_rows(X), y
    except np.exceptions.DTypePromotionError as error:
        raise ValueError(f"X must be numeric; {str(error).rstrip('.')}.") from error
    except TypeError as error:
        if "NA is ambiguous" in str(error):
            raise ValueError("y must not contain missing values; got pandas.NA.") from error
        raise
    except ValueError as error:
        if "could not convert string to float" in str(error):
            raise ValueError(
                f"X must be numeric; {error}; encode such features first, for example with "
                "OneHotEncoder."
            ) from error
        raise


def plain_rows(X: Any, n_features: int) -> FloatArray | None:
    """An array of finite numbers as float64, in C order; None for all else, valid or not."""
    if type(X) is not np.ndarray or X.dtype.kind not in "fiub" or X.ndim != 2:
        return None
    if X.shape[1] != n_features or not X.shape[0]:
        return None
    rows: FloatArray = np.ascontiguousarray(X, dtype=np.float64)
    return rows if np.isfinite(rows).all() else None


def check_numeric(values: Any, name: str) -> None:
    """Raise if the values contain strings that are not numbers; nothing else is checked."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "OSU":
            array.astype(np.float64)
    except (TypeError, ValueError) as error:
        if "could not convert string to float" in str(error):
            raise ValueError(f"{name} must be numeric; {error}.") from error


def requires_y(estimator: Any) -> bool:
    """Whether `fit` requires targets."""
    return bool(get_tags(estimator).target_tags.required)


def check_validation(
    estimator: Any, X_val: Any, y_val: Any, sample_weight_val: Any, *, y_numeric: bool = False
) -> tuple[Any, Any, FloatArray] | None:
    """Check the validation rows passed to `fit`; None if there are none."""
    if not has_validation(X_val, y_val, sample_weight_val):
        return None
    try:
        X, y = check_table(estimator, X_val, y_val, reset=False, y_numeric=y_numeric)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"X_val and y_val must have the form of X and y; {reason}.") from error
    return X, y, check_weights(sample_weight_val, X.shape[0], name="sample_weight_val")


def has_validation(X_val: Any, y_val: Any, sample_weight_val: Any) -> bool:
    """Whether validation rows are given to `fit`; raises unless they are complete."""
    arguments = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
    present = [name for name, value in arguments.items() if value is not None]
    if present and not {"X_val", "y_val"} <= set(present):
        raise ValueError(
            f"X_val and y_val must be given together; got only {' and '.join(present)}."
        )
    return bool(present)


def check_weights(
    sample_weight: Any, n_rows: int, name: str = "sample_weight", heaviest: float = HEAVIEST
) -> FloatArray:
    """Check one finite, nonnegative weight per row, not all zero; None means ones."""
    if sample_weight is None:
        return np.ones(n_rows)
    shape = np.asarray(sample_weight).shape
    if len(shape) != 1:
        raise ValueError(
            f"{name} must have one value per row; got shape {shape} for {n_rows} rows."
        )
    check_numeric(sample_weight, name)
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name=name)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one value per row; got shape {weight.shape} for {n_rows} rows."
        )
    if (weight < 0).any():
        raise ValueError(f"{name} must not be negative; got {weight.min():g}.")
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if total > heaviest:
        raise ValueError(f"{name} must have a sum of at most {heaviest:g}; got {total:g}.")
    if not weight.any():
        raise ValueError(f"{name} must not be zero for every row; got all zeros.")
    result: FloatArray = weight
    return result


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of the estimator if an exception is raised inside.

    After Ctrl-C the message says so, and a MemoryError without a message ("std::bad_alloc") gets
    one.
    """
    before = vars(estimator).copy()
    try:
        yield
    except BaseException as error:
        vars(estimator).clear()
        vars(estimator).update(before)
        if isinstance(error, KeyboardInterrupt) and not error.args:
            error.args = ("interrupted; nothing has changed.",)
        if isinstance(error, MemoryError) and " " not in str(error):
            error.args = ("the process has too little memory for this fit; nothing has changed.",)
        raise
