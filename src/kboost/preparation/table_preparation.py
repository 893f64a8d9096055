"""The transformer: any table in, a matrix of numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_consistent_length,
    check_is_fitted,
)

from kboost._rules import COUNT, check_params, one_of
from kboost._typing import FloatArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.rows import as_weights
from kboost.preparation import reading
from kboost.preparation.categories import ENCODINGS, means_of
from kboost.preparation.fitting import MIDDLE, FittedColumn, fit_columns
from kboost.preparation.matrices import are_numbers, fit_matrix, is_matrix
from kboost.preparation.number_texts import with_numbers
from kboost.preparation.numbers import check_finite
from kboost.preparation.prepared_column import PreparedColumn
from kboost.preparation.readable import readable
from kboost.preparation.sparse_rows import encode_sparse, fit_sparse
from kboost.preparation.target import Target, target_columns
from kboost.preparation.training_rows import TrainingRows
from kboost.preparation.typed_column import TypedColumn

_RULES = {
    "many": one_of("auto", *ENCODINGS),
    "max_levels": COUNT,
    "n_text": COUNT,
    "target_type": one_of("auto", "classification", "regression"),
}
_SHOWN = 8  # names in a message


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turn a table of any kinds of columns into a matrix of numbers.

    Frames (pandas, polars, pyarrow, ...), NumPy arrays of numbers, strings or objects, structured
    arrays and sparse matrices are accepted. Numbers are not scaled. Sample weights count as
    repeated rows, and the result does not depend on the order of the rows.

    Parameters
    ----------
    many : {"auto", "target", "mean", "frequency", "one-hot", "both"}, default="auto"
        Encoding of categories with more than `max_levels` values: "target" is the shrunken mean of
        the target (of each of at most 10 classes) and log(1 + rows) of each value; "mean" and
        "frequency" are one of these; "one-hot" is one 0/1 column for each of the most frequent
        values; "both" is "one-hot" and "target". "auto" compares the first four on rows left out,
        and "one-hot" with "both" for categories of 21 to `max_levels` values. Without `y` there are
        frequencies in place of means.
    max_levels : int, default=30
        Values up to which a category has one 0/1 column per value.
    n_text : int, default=10
        Columns of a text, besides its length.
    target_type : {"auto", "classification", "regression"}, default="auto"
        How `y` is read. By default, numbers with fractions or more than 20 different values are a
        regression.

    Attributes
    ----------
    columns_ : list of PreparedColumn
        Name, kind, missing values, note, output columns and encoding of each column of the table.
    one_hot_ : ndarray of bool of shape (n_outputs,)
        The output columns that contain only 0 and 1, and should not be standardised.
    categorical_ : ndarray of bool of shape (n_outputs,)
        The output columns that were made from a category or a boolean.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names, if there are any.

    Notes
    -----
    ``fit_transform(X, y)`` and ``fit(X, y).transform(X)`` differ where a mean of the target encodes
    a category: `fit_transform` encodes each row by the targets of other rows. Use `fit_transform`
    for training, as a pipeline does.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.preparation import TablePreparation
    >>> X = np.array([[3.5, "red"], [np.nan, "blue"], [4.0, "red"], [1.0, "green"]], dtype=object)
    >>> prepare = TablePreparation()
    >>> prepare.fit_transform(X)
    array([[3.5, 0. , 0. , 0. , 1. ],
           [3.5, 1. , 1. , 0. , 0. ],
           [4. , 0. , 0. , 0. , 1. ],
           [1. , 0. , 0. , 1. , 0. ]])
    >>> prepare.get_feature_names_out().tolist()
    ['x0', 'x0:missing', 'x1=blue', 'x1=green', 'x1=red']
    >>> [column.kind for column in prepare.columns_]
    ['number', 'category']
    """

    def __init__(
        self,
        *,
        many: str = "auto",
        max_levels: int = 30,
        n_text: int = 10,
        target_type: str = "auto",
    ) -> None:
        self.many = many
        self.max_levels = max_levels
        self.n_text = n_text
        self.target_type = target_type

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TablePreparation:
        """Find out the kind of each column, and fit its encoding.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            A frame, an array, a structured array, a list of rows or a sparse matrix.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Targets, for the encoding of categories with many values.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        TablePreparation
            This object.
        """
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and encode the same rows without an influence of a row's target on its own encoding.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            See `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            See `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            See `fit`.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_outputs)
            Numbers without missing values; sparse if X is sparse.
        """
        return self._fit_transform(X, y, sample_weight, NO_LIMIT)

    def _fit_transform(self, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Any:
        """`fit_transform`; encodings are compared until the deadline."""
        X, rows = self._fit(X, y, sample_weight, deadline)
        if rows is None:
            return self._encode_matrix(X)
        out = self._encode(rows.columns)
        for j, encoding in enumerate(self._encodings):
            first, end = means_of(encoding)
            means = rows.crossfitted_means(j) if end > first else None
            if means is not None:
                start = self.columns_[j].output.start
                out[:, start + first : start + end] = means
        return out

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            With the columns of `fit`; those of a frame may be in any order, among others.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_outputs)
            Numbers without missing values; sparse if X is sparse.
        """
        check_is_fitted(self)
        X = reading.as_table(X)
        if self._is_matrix and is_matrix(X):
            self._check_n_columns(X)
            return self._encode_matrix(X)
        if sparse.issparse(X):
            X = X.toarray()
        return self._encode(reading.typed_columns(X, self._places(X)))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the output columns: ``age``, ``age:missing``, ``job=nurse``, ``seen:days``, ...

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, if the table had none.

        Returns
        -------
        ndarray of str
            One name per output column.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        out = [e.names(str(name)) for name, e in zip(names, self._encodings, strict=True) if e]
        return np.array([name for each in out for name in each], dtype=object)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, deadline: Deadline = NO_LIMIT
    ) -> tuple[Any, TrainingRows | None]:
        """Fit; return the table as read and, unless it is a matrix of numbers, its columns."""
        check_params(self.get_params(deep=False), _RULES)
        X = reading.as_table(X)
        weight = as_weights(sample_weight, reading.len_of(X)[0])
        if y is not None:
            check_consistent_length(X, y)
        names = reading.column_names(X)
        rows = None
        if sparse.issparse(X):
            fitted = fit_sparse(X, weight)
        else:
            columns = [with_numbers(column, weight) for column in reading.typed_columns(X)]
            if names is None and isinstance(X, np.ndarray) and are_numbers(columns):
                X = X if is_matrix(X) else np.column_stack([column.values for column in columns])
                fitted = fit_matrix(columns, weight)
            else:
                target = self._target(columns, y, weight)
                rows = TrainingRows.of(columns, target, weight)
                fitted = fit_columns(rows, self.many, self.max_levels, self.n_text, deadline)
        self._set_fitted(fitted)
        self._is_matrix = rows is None and all(e is not None for e in self._encodings)
        if rows is None and not self._is_matrix:  # a column has no values
            rows = TrainingRows.of(columns, None, weight)
        self.n_features_in_ = len(fitted)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return X, rows

    def _target(self, columns: Sequence[TypedColumn], y: Any, weight: FloatArray) -> Target | None:
        """The target, if a category may need it."""
        most = min(MIDDLE, self.max_levels) if self.many == "auto" else self.max_levels
        used = self.many not in ("one-hot", "frequency")
        needed = used and any(len(column.levels) > most for column in columns)
        return target_columns(y, weight, self.target_type) if needed else None

    def _set_fitted(self, fitted: Sequence[FittedColumn]) -> None:
        if all(column.encoding is None for column in fitted):
            raise ValueError("X must have a usable column; all columns were left out.")
        self._encodings = [column.encoding for column in fitted]
        flags = [[] if e is None else e.one_hot for e in self._encodings]
        ends = np.cumsum([len(each) for each in flags]).tolist()
        self.columns_ = [
            PreparedColumn(c.name, c.kind, c.n_missing, c.note, slice(end - len(each), end), c.how)
            for c, each, end in zip(fitted, flags, ends, strict=True)
        ]
        self.one_hot_ = np.array([flag for each in flags for flag in each], dtype=bool)
        self.categorical_ = np.zeros(len(self.one_hot_), dtype=bool)
        for column in self.columns_:
            self.categorical_[column.output] = column.kind in ("category", "boolean")

    def _places(self, X: Any) -> list[int]:
        """Where the columns that are used are in X: by name if there are names, else in order."""
        used = [j for j, encoding in enumerate(self._encodings) if encoding is not None]
        given = reading.column_names(X)
        if given is None or not hasattr(self, "feature_names_in_"):
            self._check_n_columns(X)
            return used
        place = {name: j for j, name in enumerate(given)}
        names = self.feature_names_in_[used].tolist()
        if missing := [name for name in names if name not in place]:
            shown = ", ".join(given[:_SHOWN]) + ", …" * (len(given) > _SHOWN)
            raise ValueError(
                f"X must have the columns of fit; {missing[0]!r} is missing; got {shown}."
            )
        return [place[name] for name in names]

    def _check_n_columns(self, X: Any) -> None:
        n = reading.len_of(X)[1]
        if n != self.n_features_in_:
            raise ValueError(
                f"X must have the columns of fit: X has {n} features, but {type(self).__name__} is "
                f"expecting {self.n_features_in_} features as input."
            )

    def _encode(self, columns: Sequence[TypedColumn]) -> FloatArray:
        """The output for the columns that are used, or for all columns."""
        used = [
            (prepared, encoding)
            for prepared, encoding in zip(self.columns_, self._encodings, strict=True)
            if encoding is not None or len(columns) == len(self.columns_)
        ]
        out = np.empty((len(columns[0].values), len(self.one_hot_)))
        for column, (prepared, encoding) in zip(columns, used, strict=True):
            if encoding is not None:
                out[:, prepared.output] = encoding.encode(readable(column, encoding))
        return out

    def _encode_matrix(self, X: Any) -> Any:
        """The output for numbers only: X itself if it has no missing values and never had."""
        starts = np.array([c.output.start for c in self.columns_] + [len(self.one_hot_)])
        if sparse.issparse(X):
            return encode_sparse(X, self._encodings, starts)
        X = X.astype(np.float64, copy=False)
        for j in np.flatnonzero(np.isinf(X).any(axis=0)):
            check_finite(self.columns_[j].name, X[:, j])
        missing = np.isnan(X)
        if missing.any():
            X = np.where(missing, [encoding.fill for encoding in self._encodings], X)
        if starts[-1] == X.shape[1]:
            return X
        out = np.empty((X.shape[0], starts[-1]))
        out[:, starts[:-1]] = X
        marked = np.array([encoding.has_indicator for encoding in self._encodings])
        out[:, starts[:-1][marked] + 1] = missing[:, marked]
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
