"""The margin LP smoothed by barriers, a function of bias, width and coefficients (barrier.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from kboost._typing import FloatArray, IntArray
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty

_LEAST = 1e-9  # of mu: least first value of nonnegative variables
_NEGLIGIBLE = 1e-12  # of the largest curvature: samples below it are left out


class SmoothedLP:
    """A function of x = (bias, margin width, coefficients), the first two if there are any."""

    def __init__(
        self,
        columns: FloatArray,
        rows: MarginRows,
        penalty: MarginPenalty,
        barrier: float,
        mu: float,
    ) -> None:
        self._columns, self._rows = columns, rows
        self._barrier, self._mu = barrier, mu
        self._n_bias, self._n_width = (
            int(penalty.intercept != "none"),
            int(rows.margin_width is not None),
        )
        self._head = self._n_bias + self._n_width
        k = columns.shape[1]
        cost = np.concatenate([np.zeros(self._head), np.ones(k)])
        one_sided = np.concatenate([np.zeros(self._head), np.full(k, penalty.nonnegative)]) > 0
        if penalty.intercept == "penalized":
            cost[0] = 1.0
        if rows.margin_width is not None:
            cost[self._n_bias], one_sided[self._n_bias] = rows.margin_width.cost, True
        self._cost, self._one, self._two = cost, one_sided, ~one_sided & (cost > 0)
        self._at: FloatArray | None = None
        self._z: FloatArray = np.zeros(0)

    def join(self, bias: float, margin_width: float, coef: FloatArray) -> FloatArray:
        """The point x of these values, moved into the domain."""
        head = [bias] * self._n_bias + [margin_width] * self._n_width
        x = np.concatenate([head, coef])
        x[self._one] = np.maximum(x[self._one], _LEAST * self._mu / self._cost[self._one])
        return x

    def split(self, x: FloatArray) -> tuple[float, float, FloatArray]:
        """Bias, margin width and coefficients of x."""
        bias = float(x[0]) if self._n_bias else 0.0
        return bias, (float(x[self._n_bias]) if self._n_width else 0.0), x[self._head :]

    def duals(self, x: FloatArray) -> FloatArray:
        """`u_r`, the derivatives of the losses by z_r."""
        duals: FloatArray = self._rows.slack_costs * expit(self._distances(x) / self._barrier)
        return duals

    def value(self, x: FloatArray) -> float:
        mu, one, root = self._mu, x[self._one], np.hypot(self._mu, x[self._two])
        losses = self._rows.slack_costs @ np.logaddexp(0.0, self._distances(x) / self._barrier)
        plain = self._cost[self._one] @ one - mu * np.log(one).sum()
        return float(self._barrier * losses + plain + (root - mu * np.log(root + mu)).sum())

    def gradient(self, x: FloatArray) -> FloatArray:
        rows, duals, mu, two = self._rows, self.duals(x), self._mu, self._two
        weights = rows.weights(duals)
        out = np.empty(len(x))
        if self._n_bias:
            out[0] = -weights.sum()
        if rows.margin_width is not None:
            out[self._n_bias] = -rows.margin_width.sign * duals.sum()
        out[self._head :] = -(self._columns.T @ weights)
        out[self._one] += self._cost[self._one] - mu / x[self._one]
        out[two] += x[two] / (np.hypot(mu, x[two]) + mu)
        return out

    def reach(self, x: FloatArray, direction: FloatArray) -> float:
        """The longest step that keeps nonnegative variables in the domain."""
        falling = self._one & (direction < 0)
        return float(np.min(-x[falling] / direction[falling], initial=np.inf))

    def curvature(self, x: FloatArray) -> Any:
        """Second derivatives by f per sample, mixed with the width, and by the width; and x."""
        rows, duals = self._rows, self.duals(x)
        bend = duals * (1.0 - duals / rows.slack_costs) / self._barrier
        by_sample = _per_sample(rows, bend)
        kept = np.flatnonzero(by_sample > _NEGLIGIBLE * by_sample.max(initial=0.0))
        sign = 0.0 if rows.margin_width is None else rows.margin_width.sign
        with_width = sign * rows.weights(bend)[kept]
        return kept, by_sample[kept], with_width, float(bend.sum()), x

    def block(self, curvature: Any, rows: IntArray, columns: IntArray) -> FloatArray:
        kept, by_sample, with_width, by_width, x = curvature
        left, right = self._design(kept, rows), self._design(kept, columns)
        out: FloatArray = left.T @ (by_sample[:, None] * right)
        if self._n_width:
            row, column = rows == self._n_bias, columns == self._n_bias
            out[row] += with_width @ right
            out[:, column] += (with_width @ left)[:, None]
            out[np.ix_(row, column)] += by_width
        out[rows[:, None] == columns] += self._penalty_curvature(x)[np.intersect1d(rows, columns)]
        return out

    def product(self, curvature: Any, direction: FloatArray) -> FloatArray:
        """Second derivatives times a direction."""
        kept, by_sample, with_width, by_width, x = curvature
        bias, margin_width, coef = self.split(direction)
        columns = self._columns[kept]
        change = by_sample * (columns @ coef + bias) + with_width * margin_width
        out = self._penalty_curvature(x) * direction
        out[self._head :] += columns.T @ change
        if self._n_bias:
            out[0] += change.sum()
        if self._n_width:
            out[self._n_bias] += with_width @ (columns @ coef + bias) + by_width * margin_width
        return out

    def _penalty_curvature(self, x: FloatArray) -> FloatArray:
        """Second derivatives of the penalties; variables added after x are at 0, or at mu."""
        mu, at = self._mu, np.zeros(len(self._cost))
        at[: len(x)] = x
        at[len(x) :][self._one[len(x) :]] = mu
        root = np.hypot(mu, at)
        return np.where(
            self._one,
            mu / np.where(self._one, at, 1.0) ** 2,
            np.where(self._two, mu / (root * (root + mu)), 0.0),
        )

    def _design(self, kept: IntArray, which: IntArray) -> FloatArray:
        """The columns of the variables `which` at the samples `kept`; 0 for the margin width."""
        out = np.zeros((len(kept), len(which)), order="F")
        is_column = which >= self._head
        out[:, is_column] = self._columns[np.ix_(kept, which[is_column] - self._head)]
        if self._n_bias:
            out[:, which == 0] = 1.0
        return out

    def _distances(self, x: FloatArray) -> FloatArray:
        """`z_r`, the distance of each row to its target; the last values are cached."""
        if self._at is None or not np.array_equal(x, self._at):
            bias, margin_width, coef = self.split(x)
            rows = self._rows
            reached = rows.signs * rows.per_row(self._columns @ coef + bias)
            if rows.margin_width is not None:
                reached = reached + rows.margin_width.sign * margin_width
            self._at, self._z = x.copy(), rows.targets - reached
        return self._z


def _per_sample(rows: MarginRows, values: FloatArray) -> FloatArray:
    """Sums of row values per sample."""
    if rows.sample is None:
        return values
    summed = np.bincount(rows.sample, weights=values, minlength=rows.n_samples)
    return summed.astype(np.float64)
