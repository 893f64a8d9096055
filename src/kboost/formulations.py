"""What a task makes of its targets: rows for a master.

Margin rows serve every linear-slack problem,

    sign_r f(x_s) + level_sign * level + slack_r >= target_r,     s = sample of row r,

with a price `cap_r` on each slack and, where there is one, a price on the level, a variable of at
least 0 that all rows share:

    hinge         one row a sample      sign y,  target 1,       cap C w
    epsilon tube  two rows a sample     sign +-, target +-y - epsilon, cap C w
    nu tube       the tube's rows       target +-y, level = epsilon, its price C nu W
    nu-SVM        the hinge's rows      target 0, level = rho (sign -1), its price -nu, cap w/W

Target rows serve the least-squares family.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-6  # of a slack, against the numbers it is the difference of


@dataclass(frozen=True)
class MarginWidth:
    """A variable >= 0 shared by all rows: its sign in each of them and its price."""

    sign: float
    cost: float


@dataclass(frozen=True)
class MarginRows:
    """`sign_r f(x_s) + level_sign * level >= target_r - slack_r`; slacks cost `cap_r` each."""

    signs: FloatArray  # (r,), +1 or -1
    targets: FloatArray  # (r,)
    slack_costs: FloatArray  # (r,)
    sample: IntArray | None = None  # (r,), the sample each row speaks of; None: its own
    margin_width: MarginWidth | None = None

    @property
    def n_samples(self) -> int:
        return len(self.signs) if self.sample is None else int(self.sample.max()) + 1

    def slack(self, decision: FloatArray, margin_width: float = 0.0) -> FloatArray:
        """How far each row is from its target."""
        reached = self.signs * self.per_row(decision)
        if self.margin_width is not None:
            reached = reached + self.margin_width.sign * margin_width
        return np.maximum(0.0, self.targets - reached)

    def errors(self, decision: FloatArray, margin_width: float = 0.0) -> BoolArray:
        """The samples with a positive slack, (n,); rounding at the margin is not one."""
        size = np.abs(self.targets) + np.abs(self.per_row(decision)) + abs(margin_width)
        wrong = self.slack(decision, margin_width) > _ROUNDING * size
        if self.sample is None:
            return wrong
        return np.bincount(self.sample[wrong], minlength=self.n_samples) > 0

    def with_scaled_costs(self, factor: float) -> MarginRows:
        """The same rows with other prices of slack and level."""
        margin_width = (
            None
            if self.margin_width is None
            else MarginWidth(self.margin_width.sign, factor * self.margin_width.cost)
        )
        return replace(self, slack_costs=factor * self.slack_costs, margin_width=margin_width)

    def signed(self, columns: FloatArray) -> FloatArray:
        """Columns (n, k) as the rows see them, (r, k)."""
        if self.sample is None:
            return self.signs[:, None] * columns
        signed = np.take(columns.T, self.sample, axis=1)
        signed *= self.signs
        return signed.T  # each column in one piece

    def per_row(self, values: FloatArray) -> FloatArray:
        """Values of samples, repeated for each row."""
        return values if self.sample is None else values[self.sample]

    def weights(self, duals: FloatArray) -> FloatArray:
        """One signed number a sample: what the oracle correlates columns with."""
        signed = self.signs * duals
        if self.sample is None:
            return signed
        summed = np.bincount(self.sample, weights=signed, minlength=self.n_samples)
        return summed.astype(np.float64)


@dataclass(frozen=True)
class TargetRows:
    """Rows of a loss of several outputs, `sum_i w_i sum_k loss(y_ik, f_ik)`, f from `offset` on."""

    targets: FloatArray  # (n, q)
    sample_weight: FloatArray  # (n,)
    offset: FloatArray  # (n, q)

    @classmethod
    def of(cls, targets: FloatArray, sample_weight: FloatArray) -> TargetRows:
        """Rows that start from nothing."""
        return cls(targets, sample_weight, np.zeros_like(targets))


def hinge(signs: FloatArray, sample_weight: FloatArray, C: float) -> MarginRows:
    """Rows of `C sum_i w_i max(0, 1 - y_i f(x_i))` for labels -1, +1."""
    return MarginRows(signs, np.ones_like(signs), C * sample_weight)


def tube(y: FloatArray, sample_weight: FloatArray, C: float, epsilon: float) -> MarginRows:
    """Rows of `C sum_i w_i max(0, |y_i - f(x_i)| - epsilon)` (CG-Boost (13), SRE (6))."""
    signs, targets, slack_costs, sample = _both_sides(y, C * sample_weight)
    return MarginRows(signs, targets - epsilon, slack_costs, sample)


def nu_tube(y: FloatArray, sample_weight: FloatArray, C: float, nu: float) -> MarginRows:
    """The tube with its width found: `+ C nu W epsilon` in the objective (SRE (7))."""
    signs, targets, slack_costs, sample = _both_sides(y, C * sample_weight)
    price = C * nu * float(sample_weight.sum())
    return MarginRows(signs, targets, slack_costs, sample, MarginWidth(1.0, price))


def nu_margin(signs: FloatArray, sample_weight: FloatArray, nu: float) -> MarginRows:
    """Rows of the nu-SVM: `-nu rho + 1/W sum_i w_i max(0, rho - y_i f(x_i))`."""
    slack_costs = sample_weight / float(sample_weight.sum())
    return MarginRows(signs, np.zeros_like(signs), slack_costs, margin_width=MarginWidth(-1.0, -nu))


def _both_sides(
    y: FloatArray, slack_costs: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    n = len(y)
    signs = np.repeat([1.0, -1.0], n)
    return signs, signs * np.tile(y, 2), np.tile(slack_costs, 2), np.tile(np.arange(n), 2)
