"""Formulations: the rows of an optimisation problem, made from targets and weights.

Margin rows serve every problem with linear slacks,

    sign_r f(x_s) + width_sign * margin_width + slack_r >= target_r,     s = sample of row r,

with a cost per unit of slack and, in nu formulations, a cost of `margin_width >= 0`, one variable
shared by all rows:

    hinge         one row per sample    sign y,  target 1,             slack cost C w
    epsilon tube  two rows per sample   sign +-, target +-y - epsilon, slack cost C w
    nu tube       the rows of the tube  target +-y, margin_width = epsilon at cost C nu W
    pinball       the rows of the tube  target +-y, slack cost tau C w above f and (1 - tau) C w
                                        below it
    nu-SVM        the rows of the hinge target 0, margin_width = rho (sign -1) at cost -nu,
                                        slack cost w/W

Pinball rows are quantile regression. With residuals u above the function and v below it,

    minimise  sum_j |coef_j| + C sum_i w_i (tau u_i + (1 - tau) v_i),   y_i - f(x_i) = u_i - v_i,

and its dual, one number d_i per sample (the difference of the duals of its two rows), is

    maximise  sum_i y_i d_i   with   -(1 - tau) C w_i <= d_i <= tau C w_i,   |sum_i d_i h_ij| <= 1,

for every column j, and sum_i d_i = 0 for a free bias. d_i is tau C w_i for samples above f and
-(1 - tau) C w_i below, so the row of the bias says that f leaves a share tau of the weight below
it, up to samples on f. Any d in the box with sum 0 gives the bound of masters/margin.py,

    optimum >= sum_i y_i d_i / max(1, max_j |sum_i d_i h_ij|).

Target rows serve the least-squares family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-6  # slack below this share of its terms is rounding


@dataclass(frozen=True)
class MarginWidth:
    """A variable >= 0 shared by all rows: its sign in each row and its cost."""

    sign: float
    cost: float


@dataclass(frozen=True)
class MarginRows:
    """`sign_r f(x_s) + width_sign * margin_width + slack_r >= target_r` with a cost per slack."""

    signs: FloatArray  # (r,), +1 or -1
    targets: FloatArray  # (r,)
    slack_costs: FloatArray  # (r,)
    sample: IntArray | None = None  # (r,), the sample of each row; None: row r is sample r
    margin_width: MarginWidth | None = None

    @property
    def n_samples(self) -> int:
        return len(self.signs) if self.sample is None else int(self.sample.max()) + 1

    def slack(self, decision: FloatArray, margin_width: float = 0.0) -> FloatArray:
        """By how much each row misses its target, (r,)."""
        reached = self.signs * self.per_row(decision)
        if self.margin_width is not None:
            reached = reached + self.margin_width.sign * margin_width
        return np.maximum(0.0, self.targets - reached)

    def errors(self, decision: FloatArray, margin_width: float = 0.0) -> BoolArray:
        """The samples with a positive slack beyond rounding, (n,)."""
        size = np.abs(self.targets) + np.abs(self.per_row(decision)) + abs(margin_width)
        wrong = self.slack(decision, margin_width) > _ROUNDING * size
        if self.sample is None:
            return wrong
        return np.bincount(self.sample[wrong], minlength=self.n_samples) > 0

    def with_scaled_costs(self, factor: float) -> MarginRows:
        """The rows with `factor` times the costs of slack and margin width."""
        margin_width = (
            None
            if self.margin_width is None
            else MarginWidth(self.margin_width.sign, factor * self.margin_width.cost)
        )
        return replace(self, slack_costs=factor * self.slack_costs, margin_width=margin_width)

    def signed(self, columns: FloatArray) -> FloatArray:
        """Columns (n, k) times the signs of the rows, (r, k)."""
        if self.sample is None:
            return self.signs[:, None] * columns
        signed = np.take(columns.T, self.sample, axis=1)
        signed *= self.signs
        return signed.T  # columns are contiguous

    def per_row(self, values: FloatArray) -> FloatArray:
        """Values per sample, (n,), as values per row, (r,)."""
        return values if self.sample is None else values[self.sample]

    def weights(self, duals: FloatArray) -> FloatArray:
        """Duals (r,) as one signed number per sample, (n,): what the oracle correlates with."""
        signed = self.signs * duals
        if self.sample is None:
            return signed
        summed = np.bincount(self.sample, weights=signed, minlength=self.n_samples)
        return summed.astype(np.float64)


@dataclass(frozen=True)
class TargetRows:
    """Rows of `sum_i w_i sum_k loss(y_ik, f_ik)` over outputs k; f starts from `offset`."""

    targets: FloatArray  # (n, q)
    sample_weight: FloatArray  # (n,)
    offset: FloatArray  # (n, q)

    @classmethod
    def of(cls, targets: FloatArray, sample_weight: FloatArray) -> TargetRows:
        """Rows with an offset of 0."""
        return cls(targets, sample_weight, np.zeros_like(targets))


def hinge(signs: FloatArray, sample_weight: FloatArray, C: float) -> MarginRows:
    """Rows of `C sum_i w_i max(0, 1 - y_i f(x_i))` for labels -1, +1."""
    return MarginRows(signs, np.ones_like(signs), C * sample_weight)


def tube(y: FloatArray, sample_weight: FloatArray, C: float, epsilon: float) -> MarginRows:
    """Rows of `C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)` (CG-Boost (13), SRE (6))."""
    signs, targets, slack_costs, sample = _both_sides(y, C * sample_weight)
    return MarginRows(signs, targets - epsilon, slack_costs, sample)


def nu_tube(y: FloatArray, sample_weight: FloatArray, C: float, nu: float) -> MarginRows:
    """The tube with its half-width as a variable: `+ C nu W epsilon` (SRE (7))."""
    signs, targets, slack_costs, sample = _both_sides(y, C * sample_weight)
    cost = C * nu * float(sample_weight.sum())
    return MarginRows(signs, targets, slack_costs, sample, MarginWidth(1.0, cost))


def pinball(y: FloatArray, sample_weight: FloatArray, C: float, quantile: float) -> MarginRows:
    """Rows of `C sum_i w_i max(tau r_i, (tau - 1) r_i)`, r = y - f(x), tau the quantile."""
    signs, targets, slack_costs, sample = _both_sides(y, C * sample_weight)
    shares = np.where(signs > 0, quantile, 1.0 - quantile)
    return MarginRows(signs, targets, shares * slack_costs, sample)


def nu_margin(signs: FloatArray, sample_weight: FloatArray, nu: float) -> MarginRows:
    """Rows of the nu-SVM: `-nu rho + 1/W sum_i w_i max(0, rho - y_i f(x_i))`."""
    slack_costs = sample_weight / float(sample_weight.sum())
    return MarginRows(signs, np.zeros_like(signs), slack_costs, margin_width=MarginWidth(-1.0, -nu))


def nu_classification(
    nu: float, *, free: bool
) -> Callable[[FloatArray, FloatArray, float], MarginRows]:
    """The nu problem of signs and weights; C is not used; `free`: the bias is not penalised."""

    def formulate(signs: FloatArray, weight: FloatArray, C: float) -> MarginRows:
        lighter = min(weight[signs > 0].sum(), weight[signs < 0].sum()) / weight.sum()
        if free and nu > 2 * lighter:
            raise ValueError(
                f"nu must be at most twice the weight fraction of the smaller class, "
                f"{2 * lighter:.3g}, with a free intercept; got nu={nu!r}."
            )
        return nu_margin(signs, weight, nu)

    return formulate


def _both_sides(
    y: FloatArray, slack_costs: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    n = len(y)
    signs = np.repeat([1.0, -1.0], n)
    return signs, signs * np.tile(y, 2), np.tile(slack_costs, 2), np.tile(np.arange(n), 2)
