"""The SYB master: a loss of one or more outputs that share their columns, with a ridge in the RKHS.

    minimise  sum_i w_i sum_k loss(y_ik, f_ik) + ridge/2 sum_k z_k' Omega z_k

    f = offset + bias + F z,    F (n, m) columns, z (m, q) coefficients, outputs k = 1 ... q

A column is a kernel column, or a base learner `sum_s a_s k(., c_s)` over the S basis vectors of one
step (SYB (8)). Omega (m, m) holds inner products, 0 across kernels. Centres are training rows, so
the inner product of a learner with a column of its kernel is that column at its centres, combined:

    Omega[m, l] = sum_s a_s F[row of c_s, l]           (SYB (11), no further kernel value)

Weights for the oracle are `w` times minus the derivative of the loss, (n, q). The price of a column
is the drop of the objective with the others fixed (`price_of`); there is no certificate.

One growing factor serves all outputs and all losses, with `bound` >= the second derivative:

    G = bound [1 F]' W [1 F] + ridge diag(0, Omega) = L L'

For the squared loss it is the normal matrix (SYB (12), (32)), for the others the preconditioner of
Newton's method. The penalty is not computed from it, `L L'z - bound [1 F]'W [1 F] z` being a small
difference of large numbers: `Omega z` is `F z` at the rows of the centres, and Omega is stored if
columns are learners or belong to several kernels.

Nearly dependent columns give the factor a jitter, and the normal equations square their condition.
A solution that raises the objective is therefore rejected; the coefficients are then found from the
previous ones by Newton's method, as for the other losses.

    update "full"    all coefficients together; with one basis vector per step this is (6)
           "one"     the new coefficient alone, (31); F is not stored

(For large steps in which every basis vector is a column of its own: preconditioned_cg.py.)

With q outputs a learner has one combination per output, (25) or (29): q columns, which all outputs
share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.columns.design_matrix import DesignMatrix
from kboost.core.base_run import BaseRun
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.protocols import Fit, PriceRule, Problem, Proposal
from kboost.data.kernel_checks import check_psd
from kboost.formulations import TargetRows
from kboost.masters.losses import Loss, Squared
from kboost.solvers.growing_cholesky import GrowingCholesky
from kboost.solvers.newton_cg import Model, minimise

Update = Literal["full", "one"]
Combination = Literal["boost", "mp"]

_JITTER = 1e-10
_TOL = 1e-7  # of Newton's method, relative to the objective
_STEPS = 50  # of Newton's method
_RISE = 1 + 1e-6  # rise of the objective that counts as rounding


@dataclass(frozen=True)
class CholeskyMaster:
    """Squared, logistic or squared-hinge loss with a ridge in the RKHS."""

    loss: Loss = Squared()  # noqa: RUF009  it has no state
    ridge: float = 1.0
    fit_intercept: bool = True
    update: Update = "full"
    combine: bool = False  # the columns of a step form one base learner
    combination: Combination = "boost"
    shrinkage: float = 1.0  # with "one": factor on the new coefficient, (30)
    capacity: int = 1000  # columns expected
    budget: int = 1 << 30  # bytes of F

    def start(self, problem: Problem[CandidateColumns, TargetRows]) -> CholeskyRun:
        check_psd(problem.columns.kernels)
        return CholeskyRun(self, problem.columns, problem.rows, problem.deadline)


class CholeskyRun(BaseRun):
    """The factor, the columns and the last fit."""

    def __init__(
        self,
        master: CholeskyMaster,
        candidates: CandidateColumns,
        rows: TargetRows,
        deadline: Deadline,
    ) -> None:
        self._master, self._candidates, self._rows = master, candidates, rows
        self._n_outputs = rows.targets.shape[1]
        capacity = min(master.capacity, candidates.n_columns)
        if master.combine:
            capacity = min(capacity, 64)  # learners are few; the design grows if needed
        if master.update == "one":
            capacity = 0
        self._design = DesignMatrix(candidates, capacity, master.budget, made=not master.combine)
        self._kinds: IntArray = np.zeros(0, dtype=np.intp)  # the kernel of each column
        self._centers: IntArray = np.zeros(
            0, dtype=np.intp
        )  # rows of the centres of kernel columns
        self._omega: FloatArray | None = None  # if `F z` does not give it
        if master.combine or not candidates.is_single_rkhs:
            self._omega = np.zeros((0, 0))
        self._combinations: list[FloatArray] = []  # (S, q) per learner
        self._kernel_values: FloatArray | None = None  # with "one": values per kernel, (p, n, q)
        if master.update == "one":
            self._kernel_values = np.zeros(
                (len(candidates.kernels), candidates.n_rows, self._n_outputs)
            )
        self._factor = GrowingCholesky()
        self._right = np.zeros((0, self._n_outputs))  # [1 F]'W (y - offset)
        self._penalty = 0.0  # with "one": ridge/2 sum_k |f_k|^2
        self._raw: FloatArray = np.zeros((0, self._n_outputs))  # bias, if any, then coefficients
        self._step_coefs: list[FloatArray] = []  # with "one": coefficients (S, q) of each step
        if master.fit_intercept:
            self._grow_factor(np.ones((candidates.n_rows, 1)), np.zeros((0, 1)), np.zeros((1, 1)))
        self._deadline = NO_LIMIT
        self._solve()  # the bias alone, so that there is a model without any time
        self._deadline = deadline
        self.fit = self._make_fit()

    def price_of(self, ids: IntArray, values: FloatArray, rule: PriceRule) -> FloatArray:
        """The drop of the objective: "mp" with the other coefficients fixed, (28).

        "boost" is the steepest descent in the RKHS, (27); "full" the drop with all coefficients
        fitted again. For other than the squared loss these are lower bounds.
        """
        ridge, bound, w = self._master.ridge, self._master.loss.bound, self._rows.sample_weight
        gain = values.T @ self.fit.weights - ridge * self._function_at(ids)  # (k, q)
        norm = self._candidates.diagonal(ids)
        curvature = norm.copy()
        if rule != "boost":
            curvature = ridge * norm + bound * (w @ values**2)
        if rule == "full" and self._factor.size:
            curvature = np.maximum(curvature - self._explained(ids, values), 1e-12 * curvature)
        usable = np.where(curvature > 0, curvature, np.inf)
        drop: FloatArray = 0.5 * np.sum(gain**2, axis=1) / usable
        return drop

    def _explained(self, ids: IntArray, values: FloatArray) -> FloatArray:
        """`c' G^-1 c` of columns not in the model."""
        cross = self._cross(
            values, self._candidates.kernel_of(ids), self._candidates.rows_of(ids), None
        )
        half = self._factor.half_solve(cross)
        explained: FloatArray = np.einsum("ij,ij->j", half, half)
        return explained

    def _function_at(self, ids: IntArray) -> FloatArray:
        """`<k_p(., c_j), f_p> = f_p(c_j)` for each column, (k, q)."""
        rows, kinds = self._candidates.rows_of(ids), self._candidates.kernel_of(ids)
        if self._kernel_values is not None:
            return self._kernel_values[kinds, rows]
        if len(self._candidates.kernels) == 1:
            return self._function[rows]
        same = kinds[:, None] == self._kinds[None, :]
        out: FloatArray = (self._design.at(rows) * same) @ self._raw[self._first :]
        return out

    # Adding columns ----------------------------------------------------------------------------

    def extend(self, proposal: Proposal) -> None:
        ids, values = proposal.ids, proposal.values
        combination = self._combination(ids, values) if self._master.combine else None
        if self._master.update == "one":
            self._take_one(ids, values, combination)
        else:
            self._take(ids, values, combination)
            self._solve()
        self.fit = self._make_fit()

    def _combination(self, ids: IntArray, values: FloatArray) -> FloatArray:
        """(25) or (29), scaled by (26): one combination per output, (S, q)."""
        master, w = self._master, self._rows.sample_weight
        gain = values.T @ self.fit.weights - master.ridge * self._function_at(ids)  # (24)
        gram = values[self._candidates.rows_of(ids)]
        if master.combination == "mp":
            gram = master.ridge * gram + master.loss.bound * (values.T @ (w[:, None] * values))
        gram = (gram + gram.T) / 2
        gram[np.diag_indices(len(gram))] += _JITTER * max(float(np.trace(gram)), 1e-300)
        combination: FloatArray = cho_solve(_positive(gram), gain)
        made = values @ combination
        power = master.loss.bound * (w @ made**2)
        size = np.divide(
            np.sum(made * self.fit.weights, axis=0), power, out=np.ones_like(power), where=power > 0
        )
        return combination * np.where(size != 0, size, 1.0)

    def _take(self, ids: IntArray, values: FloatArray, combination: FloatArray | None) -> None:
        """Add columns to the design, the factor and the right-hand sides."""
        rows, kinds = self._candidates.rows_of(ids), self._candidates.kernel_of(ids)
        new = self._design.stored(values if combination is None else values @ combination)
        if combination is None:
            corner = new[rows] * (kinds[:, None] == kinds[None, :])
            new_kinds, new_ids = kinds, ids
        else:
            corner = combination.T @ new[rows]
            new_kinds = np.full(new.shape[1], kinds[0])
            new_ids = np.full(new.shape[1], -1)
            self._combinations.append(combination)
        corner = (corner + corner.T) / 2 + self._nugget(ids, combination)
        if self._omega is None:
            self._centers = np.concatenate([self._centers, rows])
        else:
            inner = self._inner(kinds, rows, combination)
            self._omega = np.block([[self._omega, inner.T], [inner, corner]])
        cross = self._cross(new, kinds, rows, combination)
        self._grow_factor(new, cross, self._master.ridge * corner)
        self._design.append(new, new_ids)
        self._kinds = np.concatenate([self._kinds, new_kinds])

    def _cross(
        self, new: FloatArray, kinds: IntArray, rows: IntArray, combination: FloatArray | None
    ) -> FloatArray:
        """`bound [1 F]'W new + ridge Omega`: new columns against those in the factor."""
        weighted = self._master.loss.bound * self._rows.sample_weight[:, None] * new
        parts = []
        if self._master.fit_intercept:
            parts.append(weighted.sum(axis=0, keepdims=True))
        if self._design.size:
            inner = self._inner(kinds, rows, combination)
            parts.append(self._design.transposed_times(weighted) + self._master.ridge * inner.T)
        return np.vstack(parts) if parts else np.zeros((0, new.shape[1]))

    def _inner(self, kinds: IntArray, rows: IntArray, combination: FloatArray | None) -> FloatArray:
        """Inner products with all columns: of centres `rows`, (S, m), or of a learner, (q, m)."""
        inner: FloatArray = self._design.at(rows) * (kinds[:, None] == self._kinds[None, :])
        return inner if combination is None else np.asarray(combination.T @ inner)

    def _nugget(self, ids: IntArray, combination: FloatArray | None) -> FloatArray:
        """The nugget of rounded kernel matrices, (S, S) or (q, q)."""
        nugget = self._candidates.nugget(ids)
        return (
            np.diag(nugget)
            if combination is None
            else np.asarray(combination.T @ (nugget[:, None] * combination))
        )

    def _omega_times(self, coef: FloatArray, function: FloatArray) -> FloatArray:
        """`Omega coef`, from `F coef` if that gives it."""
        omega_coef: FloatArray = (
            function[self._centers] if self._omega is None else self._omega @ coef
        )
        return omega_coef

    def _grow_factor(self, new: FloatArray, cross: FloatArray, corner: FloatArray) -> None:
        weighted = self._rows.sample_weight[:, None] * new
        self._factor.append(cross, self._master.loss.bound * (new.T @ weighted) + corner)
        self._right = np.vstack([self._right, weighted.T @ (self._rows.targets - self._offset)])

    def _take_one(self, ids: IntArray, values: FloatArray, combination: FloatArray | None) -> None:
        """(31) per output; the k-th combination of a learner serves output k."""
        assert self._kernel_values is not None
        master, rows = self._master, self._candidates.rows_of(ids)
        kind = int(self._candidates.kernel_of(ids)[0])
        new = values if combination is None else values @ combination  # (n, 1) or (n, q)
        factors = np.ones((1, 1)) if combination is None else combination
        function = self._kernel_values[kind]
        inner = np.sum(factors * function[rows], axis=0)  # <f_new, f>
        norm = np.sum(
            factors * (new[rows] + self._candidates.nugget(ids)[:, None] * factors),
            axis=0,
        )
        gain = np.sum(new * self.fit.weights, axis=0) - master.ridge * inner
        curvature = master.ridge * norm + master.loss.bound * (self._rows.sample_weight @ new**2)
        step = np.divide(gain, curvature, out=np.zeros_like(gain), where=curvature > 0)
        step *= master.shrinkage
        self._penalty += 0.5 * master.ridge * float(np.sum(step * (2 * inner + step * norm)))
        self._kernel_values[kind] = function + new * step
        self._step_coefs.append(factors * step)

    # Solving -----------------------------------------------------------------------------------

    def _solve(self) -> None:
        """Solve for all coefficients; update the function without bias at the rows."""
        old, new = self._raw, self._factor.size - len(self._raw)
        start = np.vstack([old, np.zeros((new, self._n_outputs))])
        if self._master.loss.quadratic:
            self._raw = self._factor.solve(self._right) if len(start) else start
            self._function = self._design.times(self._raw[self._first :])
            if not len(old) or self._objective() <= _RISE * self.fit.objective:
                return
        self._raw, _ = minimise(
            self._model_at,
            self._factor.solve,
            start,
            tol=_TOL,
            max_steps=1 if self._master.loss.quadratic else _STEPS,
            before_step=self._deadline.check,
        )
        self._function = self._design.times(self._raw[self._first :])

    def _model_at(self, raw: FloatArray) -> Model:
        """Value, gradient and Hessian of the objective, by products with F."""
        loss, ridge, coef = self._master.loss, self._master.ridge, raw[self._first :]
        w, y = self._rows.sample_weight[:, None], self._rows.targets
        function = self._design.times(coef)
        omega_coef = self._omega_times(coef, function)
        decision = self._offset + function + self._bias(raw)
        penalty = 0.5 * ridge * float(np.sum(coef * omega_coef))
        value = float(np.sum(w * loss.value(y, decision))) + max(0.0, penalty)
        gradient = -self._apply_transposed(w * loss.slope(y, decision))
        gradient[self._first :] += ridge * omega_coef
        bend = w * loss.curvature(y, decision)

        def hessian_times(v: FloatArray) -> FloatArray:
            own = self._design.times(v[self._first :])
            out = self._apply_transposed(bend * (own + self._bias(v)))
            out[self._first :] += ridge * self._omega_times(v[self._first :], own)
            return out

        return Model(value, gradient, hessian_times)

    def _apply_transposed(self, right: FloatArray) -> FloatArray:
        out = self._design.transposed_times(right)
        return np.vstack([right.sum(axis=0, keepdims=True), out]) if self._first else out

    def _make_fit(self) -> Fit:
        loss, w, y = self._master.loss, self._rows.sample_weight[:, None], self._rows.targets
        if self._kernel_values is not None:
            self._function = self._kernel_values.sum(axis=0)
            coef = np.concatenate([np.zeros((0, self._n_outputs)), *self._step_coefs])
        else:
            coef = self._expanded(self._raw[self._first :])
        decision = self._decision
        return Fit(
            coef=coef,
            bias=self._bias(self._raw),
            decision=decision,
            weights=w * loss.slope(y, decision),
            objective=self._objective(),
        )

    def _objective(self) -> float:
        """The objective at the present coefficients."""
        loss, w, y = self._master.loss, self._rows.sample_weight[:, None], self._rows.targets
        penalty = self._penalty
        if self._kernel_values is None:
            coef = self._raw[self._first :]
            omega_coef = self._omega_times(coef, self._function)
            penalty = 0.5 * self._master.ridge * max(0.0, float(np.sum(coef * omega_coef)))
        return float(np.sum(w * loss.value(y, self._decision))) + penalty

    def _expanded(self, coef: FloatArray) -> FloatArray:
        """Coefficients of basis vectors from those of learners."""
        if not self._master.combine:
            return coef
        q = self._n_outputs
        pieces = [
            combination @ coef[q * m : q * (m + 1)]
            for m, combination in enumerate(self._combinations)
        ]
        return np.concatenate([np.zeros((0, q)), *pieces])

    @property
    def _first(self) -> int:
        """The position of the first coefficient after the bias."""
        return int(self._master.fit_intercept)

    def _bias(self, raw: FloatArray) -> FloatArray:
        return raw[0] if self._first else np.zeros(self._n_outputs)

    @property
    def _decision(self) -> FloatArray:
        return self._offset + self._function + self._bias(self._raw)

    @property
    def _offset(self) -> FloatArray:
        return self._rows.offset


def _positive(gram: FloatArray) -> tuple[FloatArray, bool]:
    """A Cholesky factor, with as much jitter as it takes."""
    jitter = 0.0
    size = max(float(np.trace(gram)), 1e-300)
    while True:
        try:
            factor: tuple[FloatArray, bool] = cho_factor(
                gram + jitter * size * np.eye(len(gram)), lower=True
            )
        except np.linalg.LinAlgError:
            jitter = max(100 * jitter, _JITTER)
        else:
            return factor
