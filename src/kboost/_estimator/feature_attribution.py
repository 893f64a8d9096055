"""What each feature does in a model, and in one prediction: the same for every estimator.

Both compare the model with itself, at the rows that it keeps (background.py): importances are total
effects (total_effects.py), predictions are split by Shapley values (shapley.py). No data are
needed, and nothing is stored with the model.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from kboost._estimator.background import is_sum_of_pairs, kept_rows
from kboost._estimator.players import Players
from kboost._estimator.shapley import reference_rows, shapley_values
from kboost._estimator.total_effects import total_effects
from kboost._typing import FloatArray
from kboost.kernels.functions import Precomputed
from kboost.kernels.rows import as_dense

_SHOWN = 5
_known: WeakKeyDictionary[Any, tuple[Any, FloatArray]] = WeakKeyDictionary()  # importances by model


@dataclass(frozen=True, eq=False)
class FeatureExplanation:
    """Predictions split by feature; what ``explain(X, by="feature")`` returns.

    With one output the arrays have no last axis.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, n_outputs)
        What is explained: ``decision_function(X)``, or ``predict(X)`` of a regressor.
    baseline : float or ndarray of shape (n_outputs,)
        The mean of these values over rows that the model keeps.
    by_feature : ndarray of shape (n, n_features) or (n, n_features, n_outputs)
        The share of each feature. With the baseline, the shares of a row add up to its value.
    features : tuple of str
        Names of the features; of the columns of the table for AutoKernel estimators.
    outputs : tuple
        The classes, or the numbers of the targets.
    exact : bool
        Whether the shares are known to be exact Shapley values: the model is a sum of functions of
        one or two features. Otherwise they are averages over sampled orders of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kboost import SparseKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseKernelRegressor(["linear"], ridge=1.0, max_columns=10).fit(X, y)
    >>> explanation = model.explain(X[:2], by="feature")
    >>> explanation.exact
    True
    >>> total = explanation.baseline + explanation.by_feature.sum(axis=1)
    >>> bool(abs(total - model.predict(X[:2])).max() < 1e-8)
    True
    """

    values: FloatArray
    baseline: Any
    by_feature: FloatArray
    features: tuple[str, ...]
    outputs: tuple[Any, ...]
    exact: bool

    def to_frame(self) -> Any:
        """Return the shares as a pandas data frame, one a line.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``output``, ``name`` ("baseline", then the features) and ``share``. The
            lines of a row and output add up to its value.
        """
        import pandas as pd

        n, q = len(self.values), len(self.outputs)
        base = np.broadcast_to(np.reshape(self.baseline, (1, 1, q)), (n, 1, q))
        shares = np.concatenate([base, self.by_feature.reshape(n, -1, q)], axis=1)
        row, name, output = (index.ravel() for index in np.indices(shares.shape))
        names = np.array(["baseline", *self.features], dtype=object)
        outputs = np.array([*self.outputs, None], dtype=object)[:-1]
        columns = {"row": row, "output": outputs[output], "name": names[name]}
        return pd.DataFrame({**columns, "share": shares.ravel()})

    def __repr__(self) -> str:
        text = f"FeatureExplanation of {len(self.values)} rows"
        if not len(self.values):
            return text
        values, base = self.values[0].reshape(-1), np.ravel(self.baseline)
        top = int(np.argmax(values))
        of = f" of {self.outputs[top]!r}" if len(self.outputs) > 1 else ""
        shares = self.by_feature[0].reshape(len(self.features), -1)[:, top]
        order = np.argsort(-np.abs(shares), kind="stable")[:_SHOWN].tolist()
        parts = [f"{self.features[j]} {shares[j]:+.4g}" for j in order]
        more = f"; {len(shares) - len(order)} more" if len(shares) > len(order) else ""
        return (
            f"{text}; the first:\n  value{of} {values[top]:.4g} = baseline {base[top]:.4g}, and\n"
            f"    {'; '.join(parts)}{more}"
        )


class FeatureMixin:
    """`feature_importances_` and the splits by feature, for estimators with a `_model`."""

    _model: Any
    n_features_in_: int
    n_columns_: int

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the variation of the model (total effects); they add up to 1.

        The model is compared with itself at the rows that it keeps, its centres. All are 0 if the
        model is constant, or keeps one row only.
        """
        if not hasattr(self, "n_columns_"):
            raise AttributeError(
                f"feature_importances_ requires a fitted {type(self).__name__}; call fit first."
            )
        model, known = self._model, _known.get(self)
        if known is None or known[0] is not model:
            rows = self._kept_rows(AttributeError)
            shares = total_effects(self._values_at, rows, self._players(), self.n_columns_)
            shares.flags.writeable = False
            known = _known[self] = (model, shares)
        return known[1]

    def _by_feature(self, X: Any) -> FeatureExplanation:
        """The answers at the rows of X, split by feature."""
        rows, players = self._checked_rows(X), self._players()
        references = reference_rows(self._kept_rows(ValueError), players, self.n_columns_)
        if not references.shape[0]:
            references = rows[:1]  # a constant model
        rows = sparse.csr_matrix(rows) if sparse.issparse(references) else as_dense(rows)
        values = self._answers(rows)
        shares = shapley_values(self._answers, rows, references, players)
        n = references.shape[0]
        baseline = self._answers(references).mean(axis=0) if n else np.zeros(values.shape[1])
        outputs = self._answer_names()
        exact = players.count <= 2 or (self._is_sum() and is_sum_of_pairs(self._model))
        if len(outputs) == 1 and getattr(self, "_flat", True):
            values, shares, baseline = values[:, 0], shares[..., 0], float(baseline[0])
        return FeatureExplanation(values, baseline, shares, self._feature_names(), outputs, exact)

    def _kept_rows(self, error: type[Exception]) -> Any:
        is_matrix = any(isinstance(k, Precomputed) for k in getattr(self, "kernels_", ()))
        rows = None if is_matrix else kept_rows(self._model, self._n_inputs())
        if rows is None:
            raise error(
                "Features must be values of rows; got kernels='precomputed' or own columns."
            )
        return rows

    # Overridden by estimators ---------------------------------------------------------------

    @abstractmethod
    def _values_at(self, rows: Any) -> FloatArray:
        """The values of the model at checked rows, (n, n_outputs)."""

    def _answers(self, rows: Any) -> FloatArray:
        """`decision_function` or `predict` at checked rows, (n, n_answers)."""
        return self._values_at(rows) - float(getattr(self, "offset_", 0.0))

    def _answer_names(self) -> tuple[Any, ...]:
        """What the answers are of."""
        classes: Any = getattr(self, "classes_", None)
        if classes is None:
            return tuple(range(len(self._model.bias)))
        return tuple(classes.tolist()[1:] if len(classes) == 2 else classes.tolist())

    def _is_sum(self) -> bool:
        """Whether answers are linear in the values of the model."""
        return True

    @abstractmethod
    def _checked_rows(self, X: Any) -> Any:
        """Rows as the model reads them."""

    def _n_inputs(self) -> int:
        """How many features the model reads."""
        return self.n_features_in_

    def _players(self) -> Players:
        """What importances and shares belong to."""
        return Players(self.n_features_in_)

    def _feature_names(self) -> tuple[str, ...]:
        d = self.n_features_in_
        return tuple(map(str, getattr(self, "feature_names_in_", range(d))))
