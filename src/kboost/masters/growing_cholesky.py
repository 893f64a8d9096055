"""The SYB master: a loss of shared columns for one or many outputs, penalised in the RKHS.

    minimise  sum_i w_i sum_k loss(y_ik, f_ik) + ridge/2 sum_k z_k' Omega z_k

    f = offset + bias + F z,    F (n, m) columns, z (m, q) coefficients, outputs k = 1 ... q

A column is a kernel column, or a base learner `sum_s a_s k(., c_s)` over the S basis vectors of one
step (SYB (8)). Omega holds inner products, 0 across kernels. Centres are training rows, so a
learner's inner product with any column of its kernel is that column at its centres, combined:

    Omega[m, l] = sum_s a_s F[row of c_s, l]           (SYB (11), without a further kernel value)

One growing factor serves all outputs and all losses, whose second derivative `bound` caps:

    G = bound [1 F]' W [1 F] + ridge diag(0, Omega) = L L'

For the squared loss it is the normal matrix (SYB (12), (32)). For the others it preconditions
Newton's method. The penalty is not read off it (`ridge Omega z = L L'z - bound [1 F]'W [1 F] z` is
a small difference of large numbers): `Omega z` is `F z` at the rows of the centres, and Omega is
kept where columns are learners or of several kernels.

Columns that nearly depend on each other give the factor a jitter, and the normal equations square
their condition. A solution by which the objective rises is therefore none; the coefficients are
then found from those before them, as for the other losses.

    update "full"    all coefficients together; with one basis vector a step that is (6)
           "one"     the new coefficient alone, (31); F is not kept

(Where every basis vector of a large step is to be a column of its own: joint.py.)

With q outputs a learner has a combination for each, (25) or (29): q columns, which all outputs
share. Weights for the oracle are `w` times minus the derivative of the loss.
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
_STEPS = 50  # of it, at most
_RISE = 1 + 1e-6  # of the objective: what rounding explains


@dataclass(frozen=True)
class CholeskyMaster:
    """Squared, logistic or squared-hinge loss with a ridge in the RKHS."""

    loss: Loss = Squared()  # noqa: RUF009  it has no state
    ridge: float = 1.0
    fit_intercept: bool = True
    update: Update = "full"
    combine: bool = False  # the columns of a step are one base learner
    combination: Combination = "boost"
    shrinkage: float = 1.0  # with "one": how much of the new coefficient is taken, (30)
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
            capacity = min(capacity, 64)  # learners are few, and grow when they are not
        if master.update == "one":
            capacity = 0
        self._design = DesignMatrix(candidates, capacity, master.budget, made=not master.combine)
        self._kinds: IntArray = np.zeros(0, dtype=np.intp)  # the kernel of each column
        self._centers: IntArray = np.zeros(0, dtype=np.intp)  # rows of columns that are no learners
        self._omega: FloatArray | None = None  # where these do not tell it
        if master.combine or not candidates.is_single_rkhs:
            self._omega = np.zeros((0, 0))
        self._mixes: list[FloatArray] = []  # (S, q) a learner
        self._parts: FloatArray | None = None  # with "one": the function of each kernel at the rows
        if master.update == "one":
            self._parts = np.zeros((len(candidates.kernels), candidates.n_rows, self._n_outputs))
        self._factor = GrowingCholesky()
        self._right = np.zeros((0, self._n_outputs))  # [1 F]'W (y - offset)
        self._penalty = 0.0  # with "one": ridge/2 sum_k |f_k|^2
        self._raw: FloatArray = np.zeros((0, self._n_outputs))  # bias, if any, then coefficients
        self._own: list[FloatArray] = []  # with "one": coefficients (S, q) of each step
        if master.fit_intercept:
            self._grow_factor(np.ones((candidates.n_rows, 1)), np.zeros((0, 1)), np.zeros((1, 1)))
        self._deadline = NO_LIMIT
        self._solve()  # the bias alone, so that there is a model whatever the time
        self._deadline = deadline
        self.fit = self._describe()

    # What the oracle asks ------------------------------------------------------------------------

    def price_of(self, ids: IntArray, values: FloatArray, rule: PriceRule) -> FloatArray:
        """What columns at hand are worth: the drop of the objective, others fixed ("mp": (28)).

        "boost" is the steepest descent in the RKHS (27); "full" the drop when all coefficients
        are fitted again. For a loss that is not squared they are bounds of that.
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
        """`c' G^-1 c` of columns that are not in the model."""
        cross = self._cross(
            values, self._candidates.kernel_of(ids), self._candidates.rows_of(ids), None
        )
        half = self._factor.half_solve(cross)
        explained: FloatArray = np.einsum("ij,ij->j", half, half)
        return explained

    def _function_at(self, ids: IntArray) -> FloatArray:
        """`<k_p(., c_j), f_p> = f_p(c_j)` for each column, (k, q)."""
        rows, kinds = self._candidates.rows_of(ids), self._candidates.kernel_of(ids)
        if self._parts is not None:
            return self._parts[kinds, rows]
        if len(self._candidates.kernels) == 1:
            return self._function[rows]
        same = kinds[:, None] == self._kinds[None, :]
        out: FloatArray = (self._design.at(rows) * same) @ self._raw[self._first :]
        return out

    # Growing -----------------------------------------------------------------------------------

    def extend(self, proposal: Proposal) -> None:
        ids, values = proposal.ids, proposal.values
        mix = self._combination(ids, values) if self._master.combine else None
        if self._master.update == "one":
            self._take_one(ids, values, mix)
        else:
            self._take(ids, values, mix)
            self._solve()
        self.fit = self._describe()

    def _combination(self, ids: IntArray, values: FloatArray) -> FloatArray:
        """(25), or (29), scaled by (26); a combination for each output, (S, q)."""
        master, w = self._master, self._rows.sample_weight
        pull = values.T @ self.fit.weights - master.ridge * self._function_at(ids)  # (24)
        gram = values[self._candidates.rows_of(ids)]
        if master.combination == "mp":
            gram = master.ridge * gram + master.loss.bound * (values.T @ (w[:, None] * values))
        gram = (gram + gram.T) / 2
        gram[np.diag_indices(len(gram))] += _JITTER * max(float(np.trace(gram)), 1e-300)
        mix: FloatArray = cho_solve(_positive(gram), pull)
        made = values @ mix
        power = master.loss.bound * (w @ made**2)
        size = np.divide(
            np.sum(made * self.fit.weights, axis=0), power, out=np.ones_like(power), where=power > 0
        )
        return mix * np.where(size != 0, size, 1.0)

    def _take(self, ids: IntArray, values: FloatArray, mix: FloatArray | None) -> None:
        """Columns into the design, the factor and the right-hand sides."""
        rows, kinds = self._candidates.rows_of(ids), self._candidates.kernel_of(ids)
        new = self._design.stored(values if mix is None else values @ mix)
        if mix is None:
            corner = new[rows] * (kinds[:, None] == kinds[None, :])
            new_kinds, new_ids = kinds, ids
        else:
            corner = mix.T @ new[rows]
            new_kinds = np.full(new.shape[1], kinds[0])
            new_ids = np.full(new.shape[1], -1)
            self._mixes.append(mix)
        corner = (corner + corner.T) / 2 + self._added(ids, mix)
        if self._omega is None:
            self._centers = np.concatenate([self._centers, rows])
        else:
            inner = self._inner(kinds, rows, mix)
            self._omega = np.block([[self._omega, inner.T], [inner, corner]])
        cross = self._cross(new, kinds, rows, mix)
        self._grow_factor(new, cross, self._master.ridge * corner)
        self._design.append(new, new_ids)
        self._kinds = np.concatenate([self._kinds, new_kinds])

    def _cross(
        self, new: FloatArray, kinds: IntArray, rows: IntArray, mix: FloatArray | None
    ) -> FloatArray:
        """`bound [1 F]'W new + ridge Omega`, the columns of the factor that are there already."""
        weighted = self._master.loss.bound * self._rows.sample_weight[:, None] * new
        parts = []
        if self._master.fit_intercept:
            parts.append(weighted.sum(axis=0, keepdims=True))
        if self._design.size:
            inner = self._inner(kinds, rows, mix)
            parts.append(self._design.transposed_times(weighted) + self._master.ridge * inner.T)
        return np.vstack(parts) if parts else np.zeros((0, new.shape[1]))

    def _inner(self, kinds: IntArray, rows: IntArray, mix: FloatArray | None) -> FloatArray:
        """Inner products of columns centred at `rows`, or of a learner of them, with all there are.

        (S, m), or (q, m).
        """
        inner: FloatArray = self._design.at(rows) * (kinds[:, None] == self._kinds[None, :])
        return inner if mix is None else np.asarray(mix.T @ inner)

    def _added(self, ids: IntArray, mix: FloatArray | None) -> FloatArray:
        """What a matrix that is rounded has more on its diagonal, (S, S) or (q, q)."""
        nugget = self._candidates.nugget(ids)
        return np.diag(nugget) if mix is None else np.asarray(mix.T @ (nugget[:, None] * mix))

    def _pull(self, coef: FloatArray, function: FloatArray) -> FloatArray:
        """`Omega coef`, from `F coef` where that has it."""
        pull: FloatArray = function[self._centers] if self._omega is None else self._omega @ coef
        return pull

    def _grow_factor(self, new: FloatArray, cross: FloatArray, corner: FloatArray) -> None:
        weighted = self._rows.sample_weight[:, None] * new
        self._factor.append(cross, self._master.loss.bound * (new.T @ weighted) + corner)
        self._right = np.vstack([self._right, weighted.T @ (self._rows.targets - self._offset)])

    def _take_one(self, ids: IntArray, values: FloatArray, mix: FloatArray | None) -> None:
        """(31), output by output; a learner's k-th combination serves its k-th output."""
        assert self._parts is not None
        master, rows = self._master, self._candidates.rows_of(ids)
        kind = int(self._candidates.kernel_of(ids)[0])
        new = values if mix is None else values @ mix  # (n, 1) or (n, q)
        mixing = np.ones((1, 1)) if mix is None else mix
        function = self._parts[kind]
        inner = np.sum(mixing * function[rows], axis=0)  # <f_new, f>
        norm = np.sum(mixing * (new[rows] + self._candidates.nugget(ids)[:, None] * mixing), axis=0)
        gain = np.sum(new * self.fit.weights, axis=0) - master.ridge * inner
        curvature = master.ridge * norm + master.loss.bound * (self._rows.sample_weight @ new**2)
        step = np.divide(gain, curvature, out=np.zeros_like(gain), where=curvature > 0)
        step *= master.shrinkage
        self._penalty += 0.5 * master.ridge * float(np.sum(step * (2 * inner + step * norm)))
        self._parts[kind] = function + new * step
        self._own.append(mixing * step)

    # Solving -----------------------------------------------------------------------------------

    def _solve(self) -> None:
        """All coefficients together; the function without its bias at the rows."""
        old, new = self._raw, self._factor.size - len(self._raw)
        start = np.vstack([old, np.zeros((new, self._n_outputs))])
        if self._master.loss.quadratic:
            self._raw = self._factor.solve(self._right) if len(start) else start
            self._function = self._design.times(self._raw[self._first :])
            if not len(old) or self._objective() <= _RISE * self.fit.objective:
                return
        self._raw, _ = minimise(
            self._around,
            self._factor.solve,
            start,
            tol=_TOL,
            max_steps=1 if self._master.loss.quadratic else _STEPS,
            before_step=self._deadline.check,
        )
        self._function = self._design.times(self._raw[self._first :])

    def _around(self, raw: FloatArray) -> Model:
        """The objective around coefficients, by products with F."""
        loss, ridge, coef = self._master.loss, self._master.ridge, raw[self._first :]
        w, y = self._rows.sample_weight[:, None], self._rows.targets
        function = self._design.times(coef)
        pull = self._pull(coef, function)
        decision = self._offset + function + self._bias(raw)
        penalty = 0.5 * ridge * float(np.sum(coef * pull))
        value = float(np.sum(w * loss.value(y, decision))) + max(0.0, penalty)
        gradient = -self._apply_transposed(w * loss.slope(y, decision))
        gradient[self._first :] += ridge * pull
        bend = w * loss.curvature(y, decision)

        def hessian_times(v: FloatArray) -> FloatArray:
            own = self._design.times(v[self._first :])
            out = self._apply_transposed(bend * (own + self._bias(v)))
            out[self._first :] += ridge * self._pull(v[self._first :], own)
            return out

        return Model(value, gradient, hessian_times)

    def _apply_transposed(self, right: FloatArray) -> FloatArray:
        out = self._design.transposed_times(right)
        return np.vstack([right.sum(axis=0, keepdims=True), out]) if self._first else out

    def _describe(self) -> Fit:
        loss, w, y = self._master.loss, self._rows.sample_weight[:, None], self._rows.targets
        if self._parts is not None:
            self._function = self._parts.sum(axis=0)
            coef = np.concatenate([np.zeros((0, self._n_outputs)), *self._own])
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
        """At the coefficients and the function as they stand."""
        loss, w, y = self._master.loss, self._rows.sample_weight[:, None], self._rows.targets
        penalty = self._penalty
        if self._parts is None:
            coef = self._raw[self._first :]
            pull = self._pull(coef, self._function)
            penalty = 0.5 * self._master.ridge * max(0.0, float(np.sum(coef * pull)))
        return float(np.sum(w * loss.value(y, self._decision))) + penalty

    def _expanded(self, coef: FloatArray) -> FloatArray:
        """Coefficients of learners as those of their basis vectors."""
        if not self._master.combine:
            return coef
        q = self._n_outputs
        pieces = [mix @ coef[q * m : q * (m + 1)] for m, mix in enumerate(self._mixes)]
        return np.concatenate([np.zeros((0, q)), *pieces])

    @property
    def _first(self) -> int:
        """Where the coefficients begin after the bias."""
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
