"""The objective of a fit of all coefficients, evaluated by products with the columns.

    E(z) = sum_i w_i sum_k loss(y_ik, f_ik) + ridge/2 sum_k z_k' Q z_k,    f = offset + [1 F] z

with F (n, m) and Q (m, m). Centres are training rows, so `Q z` is `F z` at their rows. For several
kernels, or a rounded kernel matrix (whose Q gets a nugget), it is not, and Q is stored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.columns.design_matrix import SAMPLE_ROWS, design_matrix_for
from kboost.core.protocols import Fit, Proposal
from kboost.formulations import TargetRows
from kboost.masters.losses import Loss
from kboost.solvers.irls import reweighted_solve
from kboost.solvers.newton_cg import Model
from kboost.solvers.ridge import basis_solve


class JointObjective:
    """F (in `design`) and Q; `raw` is the bias, if any, followed by the coefficients."""

    def __init__(
        self,
        candidates: CandidateColumns,
        rows: TargetRows,
        loss: Loss,
        ridge: float,
        *,
        fit_intercept: bool,
        capacity: int,
        budget: int,
    ) -> None:
        self._candidates, self._rows, self._loss, self._ridge = candidates, rows, loss, ridge
        self.first = int(fit_intercept)  # position of the first coefficient
        self.design = design_matrix_for(candidates, capacity, budget)
        self._ids: IntArray = np.zeros(0, dtype=np.intp)
        self._inner: FloatArray | None = None  # Q, if `F z` does not give `Q z`
        if not candidates.is_single_rkhs:
            self._inner = np.zeros((0, 0))

    def take(self, proposal: Proposal) -> FloatArray:
        """Append columns; return their inner products with all, (all, new)."""
        ids, size = proposal.ids, self.design.size
        if proposal.values.shape[1]:
            self.design.append(proposal.values, ids)
        else:  # the oracle did not evaluate them
            self.design.make(ids)
        self._ids = np.concatenate([self._ids, ids])
        inner = self.inner_products(size)
        if self._inner is not None:
            cross, corner = inner[:size], inner[size:]
            self._inner = np.block([[self._inner, cross], [cross.T, corner]])
        return inner

    def optimum(
        self, start: FloatArray, go_on: Callable[[], bool]
    ) -> tuple[FloatArray, FloatArray, float]:
        """A direct solution: coefficients, `F z`, and the remaining gain if it ended early."""
        F, rows, bias = self._candidates.values(self._ids), self._rows, bool(self.first)
        at_centers = F[self._candidates.rows_of(self._ids)]
        Q = (at_centers + at_centers.T) / 2 if self._inner is None else self._inner
        y, w, gain = rows.targets, rows.sample_weight, 0.0
        if self._loss.quadratic:
            raw = basis_solve(F, Q, y - rows.offset, w, self._ridge, bias=bias)
        else:
            raw, gain = reweighted_solve(
                F, Q, y, rows.offset, w, self._ridge, self._loss, start, bias=bias, go_on=go_on
            )
        return raw, F @ raw[self.first :], gain

    def bias(self, raw: FloatArray) -> FloatArray:
        return raw[0] if self.first else np.zeros(self._rows.targets.shape[1])

    def inner_products(self, size: int) -> FloatArray:
        """`Q` of the columns after the first `size` with all, (all, new)."""
        ids = self._ids[size:]
        inner: FloatArray = self.design.at(self._candidates.rows_of(ids)).T
        if self._inner is not None:
            inner = inner * (
                self._candidates.kernel_of(self._ids)[:, None] == self._candidates.kernel_of(ids)
            )
        inner[size:] = (inner[size:] + inner[size:].T) / 2
        if self._inner is not None:
            inner[np.arange(size, len(inner)), np.arange(len(ids))] += self._candidates.nugget(ids)
        return inner

    def normal_times(self, v: FloatArray, curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`F v`, and `[1 F]' curvature [1 F] v + ridge (0, Q v)`, in one pass over F."""
        shift = v[0] if self.first else 0.0
        whole = np.broadcast_to(curvature, self._rows.targets.shape)
        F_v, image = self.design.normal_product(
            v[self.first :], lambda rows, u: whole[rows] * (u + shift), rough=True
        )
        image += self._ridge * self.gram_times(v[self.first :], F_v)
        if self.first:
            top = np.sum(whole * (F_v + shift), axis=0, keepdims=True)
            image = np.vstack([top, image])
        return F_v, image

    def model_at(self, raw: FloatArray) -> Model:
        function, gradient, value = self.evaluate(raw)
        start = self._rows.offset + (raw[0] if self.first else 0.0)
        bend = self._loss.curvature(self._rows.targets, start + function)
        curvature = self._rows.sample_weight[:, None] * bend
        return Model(value, gradient, lambda v: self.normal_times(v, curvature)[1])

    def evaluate(self, raw: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """`F z`, the gradient and the objective at `raw`, in float64 and one pass over F."""
        loss, ridge = self._loss, self._ridge
        w, y = self._rows.sample_weight[:, None], self._rows.targets
        start = self._rows.offset + (raw[0] if self.first else 0.0)
        slope = np.empty_like(y)

        def change(rows: slice, F_v: FloatArray) -> FloatArray:
            slope[rows] = w[rows] * loss.slope(y[rows], start[rows] + F_v)
            return slope[rows]

        function, image = self.design.normal_product(raw[self.first :], change)
        Q_z = self.gram_times(raw[self.first :], function)
        penalty = 0.5 * ridge * float(np.sum(raw[self.first :] * Q_z))
        value = float(np.sum(w * loss.value(y, start + function))) + max(0.0, penalty)
        gradient = ridge * Q_z - image
        if self.first:
            if not self.design.size:  # `change` was not called
                slope = w * loss.slope(y, start)
            gradient = np.vstack([-slope.sum(axis=0, keepdims=True), gradient])
        return function, gradient, value

    def gram_times(self, coef: FloatArray, function: FloatArray) -> FloatArray:
        """`Q coef`, from `F coef` if that gives it."""
        if self._inner is not None:
            return self._inner @ coef
        return function[self._candidates.rows_of(self._ids)]

    def function_at(self, ids: IntArray, raw: FloatArray, function: FloatArray) -> FloatArray:
        """`f_p(c_j)` for each column, (k, q)."""
        rows = self._candidates.rows_of(ids)
        if self._inner is None:
            return function[rows]
        same = self._candidates.kernel_of(ids)[:, None] == self._candidates.kernel_of(self._ids)
        out: FloatArray = (self.design.at(rows) * same) @ raw[self.first :]
        return out

    def sampled_loss(self, raw: FloatArray) -> float:
        """The loss at the first rows, from columns computed in float64."""
        rows, coef = slice(0, min(SAMPLE_ROWS, self._candidates.n_rows)), raw[self.first :]
        columns = self._candidates.values(self._ids[: len(coef)], rows)
        decision = self._rows.offset[rows] + columns @ coef + self.bias(raw)
        value = self._loss.value(self._rows.targets[rows], decision)
        return float(np.sum(self._rows.sample_weight[rows, None] * value))

    def fit_of(self, raw: FloatArray, function: FloatArray) -> Fit:
        """The fit of coefficients `raw` with `F z` = `function`."""
        loss, w, y = self._loss, self._rows.sample_weight[:, None], self._rows.targets
        bias, coef = self.bias(raw), raw[self.first :]
        decision = self._rows.offset + function + bias
        penalty = 0.5 * self._ridge * float(np.sum(coef * self.gram_times(coef, function)))
        return Fit(
            coef=coef,
            bias=bias,
            decision=decision,
            weights=w * loss.slope(y, decision),
            objective=float(np.sum(w * loss.value(y, decision))) + max(0.0, penalty),
        )
