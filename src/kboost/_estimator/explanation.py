"""Predictions of an additive model split into exact shares.

    f(x) = intercept + sum_j sum_t coef_j h_jt(x)

j are the columns, t the terms of their kernels. Summed over all columns of a kernel, over all terms
on the same features, or over all columns with the same centre, the shares of a split add up to f(x)
in each case, to rounding. Nothing is approximated, and no background data are needed.

Boosted SVMs are a sum over rounds, `f(x) = sum_t weight_t s_t(x)` with `s_t` the sign of an SVM
of one kernel. So they split exactly by kernel, by group (the features of a kernel, all
together) and by round; a sign is not a sum, so there is no split by training row. Where several
kernels vote in a round there is none by kernel either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.feature_attribution import FeatureExplanation, FeatureMixin
from kboost._rules import check_params, one_of
from kboost._typing import FloatArray
from kboost._validation import check_table
from kboost.columns.hypothesis import stack_rows
from kboost.columns.terms import Features
from kboost.core.model import AdditiveModel
from kboost.kernels.rows import group_rows

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Explanation:
    """Predictions and three ways to split each of them; what ``explain`` returns.

    With one output the arrays have no last axis.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, n_outputs)
        What is explained: the decision values, or the predictions of a regressor; one against one,
        the values of the binary problems.
    intercept : float or ndarray of shape (n_outputs,)
        The share that is in every value.
    by_kernel : ndarray of shape (n, n_kernels) or (n, n_kernels, n_outputs)
        The share of each kernel.
    kernels : tuple of str
        Their names, as in ``columns_per_kernel_``.
    by_group : ndarray of shape (n, n_groups) or (n, n_groups, n_outputs)
        The share of each group of features. A term of a kernel belongs to the features that it
        looks at (``columns=``), all of them together.
    groups : tuple of str
        Their names.
    by_center : ndarray of shape (n, n_centers) or (n, n_centers, n_outputs)
        The share of each `piece`: training rows that are centres, over all kernels; halfspaces or
        rounds where these are what is added up.
    centers : ndarray or CSR matrix of shape (n_centers, n_features), or None
        These rows (their numbers, for precomputed kernels).
    outputs : tuple
        The classes, the numbers of the targets, or the pairs of classes ("b over a").
    piece : {"center", "halfspace", "round"}
        What `by_center` is about.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost import KernelBoostClassifier
    >>> from kboost.kernels import Gaussian, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> library = [Linear(columns=[0, 1], on="standard"), Gaussian(on="standard")]
    >>> explanation = KernelBoostClassifier(library, C=1.0).fit(X, y).explain(X[:2])
    >>> explanation.groups
    ('0, 1', 'all features')
    >>> total = explanation.intercept + explanation.by_group.sum(axis=1)
    >>> bool(abs(total - explanation.values).max() < 1e-8)
    True
    """

    values: FloatArray
    intercept: Any
    by_kernel: FloatArray
    kernels: tuple[str, ...]
    by_group: FloatArray
    groups: tuple[str, ...]
    by_center: FloatArray
    centers: Any
    outputs: tuple[Any, ...]
    piece: str = "center"

    def to_frame(self) -> Any:
        """Return all shares as a pandas data frame, one a line.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``output``, ``split`` ("intercept", "kernel", "group" and the `piece`),
            ``name`` and ``share``. The lines of one split, and the intercept, add up to a value.
        """
        import pandas as pd

        lines = [line for row in range(len(self.values)) for line in self._lines(row)]
        return pd.DataFrame(lines, columns=["row", "output", "split", "name", "share"])

    def _splits(self) -> Iterator[tuple[str, Sequence[Any], FloatArray]]:
        yield "kernel", self.kernels, self.by_kernel
        yield "group", self.groups, self.by_group
        yield self.piece, range(self.by_center.shape[1]), self.by_center

    def _lines(self, row: int) -> Iterator[tuple[int, Any, str, Any, float]]:
        offsets = np.ravel(self.intercept)
        for number, output in enumerate(self.outputs):
            yield row, output, "intercept", "intercept", float(offsets[number])
            for split, names, shares in self._splits():
                flat = shares[row].reshape(len(names), len(self.outputs))
                for name, share in zip(names, flat[:, number].tolist(), strict=True):
                    yield row, output, split, name, share

    def __repr__(self) -> str:
        lines = [f"Explanation of {len(self.values)} rows; the first:"]
        if not len(self.values):
            return f"Explanation of {len(self.values)} rows"
        values, offsets = self.values[0].reshape(-1), np.ravel(self.intercept)
        top = int(np.argmax(values))
        of = f" of {self.outputs[top]!r}" if len(self.outputs) > 1 else ""
        lines.append(f"  value{of} {values[top]:.4g} = intercept {offsets[top]:.4g}, and")
        for split, names, shares in self._splits():
            flat = shares[0].reshape(len(names), len(self.outputs))[:, top]
            order = np.argsort(-np.abs(flat), kind="stable")[:_SHOWN]
            rest = len(flat) - len(order)
            terms = [f"{names[j]} {flat[j]:+.4g}" for j in order.tolist()]
            more = f"; {rest} more" if rest else ""
            lines.append(f"    by {split}: " + "; ".join(terms) + more)
        return "\n".join(lines)


class ExplainMixin(FeatureMixin):
    """`explain` for estimators whose `_model` is an additive one."""

    kernels_: Sequence[Any]

    def explain(self, X: Any, by: str = "term") -> Explanation | FeatureExplanation:
        """Split each prediction into shares that add up to it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, n_features)
            Rows; few, as there is a number for each of them and each centre.
        by : {"term", "feature"}, default="term"
            "term" adds up the terms of the model: by kernel, by group of features and by training
            row (by round, for boosted SVMs), exactly. "feature" gives each feature its Shapley
            value relative to the rows that the model keeps: exact if the kernels use one or two
            features at a time, otherwise sampled with a fixed seed.

        Returns
        -------
        Explanation or FeatureExplanation
            The shares add up to `decision_function`, or to `predict` of a regressor; "term": to the
            values of `estimator_` for AutoKernel estimators, to the mean margins of the binary
            problems for boosted SVMs of several classes. There, several kernels voting in a round
            have no terms, which raises ValueError.
        """
        check_is_fitted(self, "n_columns_")
        check_params({"by": by}, {"by": one_of("term", "feature")})
        return self._by_term(X) if by == "term" else self._by_feature(X)

    def _by_term(self, X: Any) -> Explanation:
        return _explained(self._sum(), self._checked_rows(X), self._splitting(), self._offset())

    def _checked_rows(self, X: Any) -> Any:
        return check_table(self, X, reset=False)

    def _sum(self) -> AdditiveModel:
        """The model as a sum of parts, each of one kernel of the library."""
        model: AdditiveModel = self._model
        return model

    def _offset(self) -> float:
        """What is subtracted from the value of the model."""
        return float(getattr(self, "offset_", 0.0))

    def _outputs(self) -> tuple[Any, ...]:
        """What the values are of."""
        n = len(self._model.bias)
        names = getattr(self, "classes_", np.arange(n)).tolist()
        return tuple(names if n > 1 else names[-1:])

    def _splitting(self) -> Splitting:
        own: Any = self
        outputs = self._outputs()
        return Splitting(
            tuple(_kernel_names(self)),
            tuple(self.kernels_),
            getattr(own, "feature_names_in_", range(own.n_features_in_)),
            outputs,
            flat=bool(getattr(own, "_flat", len(outputs) == 1)),
        )


@dataclass(frozen=True)
class Splitting:
    """The names of what values are split into."""

    names: tuple[str, ...]  # of the kernels
    kernels: tuple[Any, ...]
    features: Sequence[Any]  # names or numbers
    outputs: tuple[Any, ...]
    flat: bool

    def kernel(self, part: Any) -> int:
        """The place of a part's kernel; parts of other kinds have one name."""
        return self.kernels.index(part.kernel) if hasattr(part, "kernel") else 0

    def group(self, features: Features) -> str:
        """The name of a group of features."""
        if features is None:
            return "all features"
        d = len(self.features)
        chosen = sorted({f % d for f in features})
        return (
            "all features" if len(chosen) == d else ", ".join(str(self.features[f]) for f in chosen)
        )


def _explained(model: AdditiveModel, rows: Any, splitting: Splitting, offset: float) -> Explanation:
    n, q = rows.shape[0], len(model.bias)
    by_kernel = np.zeros((n, len(splitting.names), q))
    by_group: dict[str, FloatArray] = {}
    by_column = np.zeros((n, model.n_columns, q))
    start = 0
    parts: Sequence[Any] = model.parts
    for part in parts:
        columns = slice(start, start + len(part.coef))
        start = columns.stop
        for term in part.terms_at(rows):
            shares = term.values[:, :, None] * part.coef  # (n, m, q)
            by_column[:, columns] += shares
            total = shares.sum(axis=1)
            by_kernel[:, splitting.kernel(part)] += total
            group = splitting.group(term.features)
            by_group[group] = by_group.get(group, 0.0) + total
    by_center, centers = _by_center(parts, by_column)
    bias = model.bias - offset
    grouped = np.stack(list(by_group.values()), axis=1) if by_group else np.zeros((n, 0, q))
    arrays = [bias + by_column.sum(axis=1), by_kernel, grouped, by_center]
    values, by_kernel, grouped, by_center = (a[..., 0] if splitting.flat else a for a in arrays)
    return Explanation(
        values,
        float(bias[0]) if splitting.flat else bias,
        by_kernel,
        splitting.names,
        grouped,
        tuple(by_group),
        by_center,
        centers,
        splitting.outputs,
        "center" if centers is not None or not parts else "halfspace",
    )


def _by_center(parts: Sequence[Any], by_column: FloatArray) -> tuple[FloatArray, Any]:
    """Columns with one centre together, in the order of the first."""
    if not parts or not hasattr(parts[0], "centers"):
        return by_column, None
    centers = stack_rows([part.centers for part in parts])
    first, group = group_rows(centers)
    order = np.argsort(first)
    center_of_column = np.argsort(order)[group]
    summed = np.zeros((len(first), by_column.shape[0], by_column.shape[2]))
    np.add.at(summed, center_of_column, by_column.transpose(1, 0, 2))
    return summed.transpose(1, 0, 2), centers[first[order]]


def _kernel_names(estimator: Any) -> Sequence[str]:
    counts = getattr(estimator, "columns_per_kernel_", None)
    return list(counts) if counts is not None else [repr(k) for k in estimator.kernels_]
