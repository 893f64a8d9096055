"""The training rows on which kernels are resolved; views and widths are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from kboost._typing import FloatArray, Matrix
from kboost.kernels.rows import as_rows, as_weights, names_of
from kboost.kernels.transforms import TRANSFORMS, Transform
from kboost.kernels.views import View
from kboost.kernels.widths import width


class Sample:
    """Weighted rows and their feature names; rows of weight 0 are dropped."""

    X: Matrix
    weights: FloatArray
    names: tuple[str, ...] | None

    def __init__(
        self, X: Any, sample_weight: Any = None, feature_names: Sequence[str] | None = None
    ) -> None:
        self.names = names_of(X, feature_names)
        self.X = as_rows(X)
        self.weights = as_weights(sample_weight, self.X.shape[0])
        if not self.weights.all():
            keep = np.flatnonzero(self.weights)
            self.X, self.weights = self.X[keep], self.weights[keep]
        self._views: dict[tuple[Any, Any], View] = {}
        self._rows: dict[View, Matrix] = {}
        self._widths: dict[tuple[str, str, View], float] = {}

    @property
    def n_features(self) -> int:
        """Number of features of the raw rows."""
        return int(self.X.shape[1])

    def view(self, columns: Any, on: Any) -> View:
        """Return the view given by ``columns=`` and ``on=``, with its transform fitted."""
        index = self.indices(columns)
        if not (on is None or isinstance(on, Transform) or on in tuple(TRANSFORMS)):
            raise ValueError(
                f"on must be None, 'standard', 'ranks' or a fitted transform; got on={on!r}."
            )
        key = (index, on)
        if key not in self._views:
            self._views[key] = View(index, self._transform(index, on))
        return self._views[key]

    def rows(self, view: View) -> Matrix:
        """Return the rows seen through a view."""
        if view not in self._rows:
            self._rows[view] = view.apply(self.X)
        return self._rows[view]

    def width(self, rule: str, metric: str, view: View) -> float:
        """Return ``gamma`` by a rule on the rows seen through a view."""
        key = (rule, metric, view)
        if key not in self._widths:
            self._widths[key] = width(rule, metric, self.rows(view), self.weights)
        return self._widths[key]

    def indices(self, columns: Any) -> tuple[int, ...] | None:
        """Return feature indices; None for all features in order."""
        if columns is None:
            return None
        if not isinstance(columns, tuple) or not columns:
            raise ValueError(
                f"columns must be a non-empty list of names or indices; got columns={columns!r}."
            )
        index = tuple(self._index(c) for c in columns)
        if len(set(index)) < len(index):
            raise ValueError(f"columns must name each feature once; got columns={columns!r}.")
        return None if index == tuple(range(self.n_features)) else index

    def _index(self, column: Any) -> int:
        d = self.n_features
        if isinstance(column, str):
            if self.names is None:
                raise ValueError(
                    f"columns must be indices because X has no feature names; got {column!r}."
                )
            if column not in self.names:
                raise ValueError(f"columns must be feature names of X; got {column!r}.")
            return self.names.index(column)
        if isinstance(column, bool | np.bool_) or not isinstance(column, Integral):
            raise ValueError(f"columns must contain names or indices; got {column!r}.")
        if not -d <= int(column) < d:
            raise ValueError(
                f"columns must be indices below {d}, the number of features of X; got {column!r}."
            )
        return int(column) % d

    def _transform(
        self, index: tuple[int, ...] | None, on: str | Transform | None
    ) -> Transform | None:
        if on is None:
            return None
        if isinstance(on, str):
            return TRANSFORMS[on].fit(self.rows(View(index)), self.weights)
        d = self.n_features if index is None else len(index)
        if on.n_features != d:
            raise ValueError(
                f"on must be fitted on the {d} features that columns selects; got {on!r}."
            )
        return on
