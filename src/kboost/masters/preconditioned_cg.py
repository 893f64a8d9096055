"""All coefficients of all basis vectors together, by preconditioned conjugate gradients.

    minimise  E(z) = sum_i w_i sum_k loss(y_ik, f_ik) + ridge/2 sum_k z_k' Q z_k,
    f = offset + [1 F] z,    F (n, m) kernel columns,    Q_jl = k_p(c_j, c_l), 0 across kernels

Weights for the oracle are `w` times minus the derivative of the loss, (n, q); the price of a column
is the drop of E with the others fixed (`price_of`); there is no certificate.

The normal matrix of all rows costs n m^2, most of the time of plain least squares. Here it is
formed on a sample of r = 1.5 m rows, as a preconditioner P (_sampled_preconditioner.py): P is then
close to the true matrix in every direction (eigenvalues of a sample covariance), some twenty-five
iterations suffice, and each is one pass over F. The sample is the first r rows, which must be in
random order (canonical order is: data/indexed_rows.py). Gradients are computed in float64 from all
rows, so the result does not depend on the sample. z is warm from step to step: two iterations per
step keep the residual accurate enough to select by.

A large F is stored as float32, and so are the products inside the iterations, which restart from
float64 gradients until these are small enough. The effect of rounding F on the model is measured at
the end; if it is not small against the residual (tiny ridges, exact data), F is computed again in
float64 and the iteration restarts from the bias alone. Without the time for that, the model is that
of the step with the lowest loss at some rows, in float64: coefficients that fit the rounded columns
may be of no use with the exact ones, which predict.

The preconditioned square of the last gradient estimates the remaining gain, as far as P is close to
the true matrix; for a basis of outlying rows, which a sample hardly contains, it is not. If the
remaining gain is large when the iterations end, the fit reports it (`solver_gap`).

Nearly dependent columns give P a jitter, which hides directions with a gain. In both cases a small
problem is solved directly at the end (solvers/ridge.py, which forms no squares).

For other than the squared loss these are the inner iterations of Newton's method. Their curvature
is below that of P, most of all for rows beyond their margin or a tiny ridge: CG then meets its
limit and Newton's steps become short. A small problem is solved at the end by solvers/irls.py; for
a large one a longer CG estimates the remaining gain (it saw between a twelfth and all of it where
the optimum was known; a quarter is assumed).

The columns and the objective are in _joint_objective.py; this file has the iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.columns.design_matrix import root_mean_square
from kboost.core.base_run import BaseRun
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.protocols import Fit, PriceRule, Problem, Proposal
from kboost.data.kernel_checks import check_psd
from kboost.exceptions import OutOfTimeError
from kboost.formulations import TargetRows
from kboost.masters._joint_objective import JointObjective
from kboost.masters._sampled_preconditioner import SampledPreconditioner
from kboost.masters.losses import Loss, Squared
from kboost.solvers.newton_cg import minimise, remaining_gain

_ROUGH: dict[str, Any] = {
    "tol": 1e-3,
    "max_steps": 2,
    "max_inner": 6,
    "inner_tol": 1e-2,
}  # between steps
_FINE: dict[str, Any] = {
    "tol": 1e-7,
    "max_steps": 50,
    "max_inner": 50,
    "inner_tol": 1e-4,
}  # at the end
_BRIEF = _FINE | {"max_steps": 5}  # if a direct solution may follow
_GAIN_STEPS, _GAIN_SHARE = 200, 0.25  # CG iterations that estimate the gain, and their share of it
_FEW_STEPS, _LARGE_TOL = 2, 1e-4  # of a large F: iterations between steps, tolerance at the end
_MANY_STEPS = 80  # of a large F: iterations at the end, at most
_RESTARTS = 5
_LARGE_GAIN = 1e-2  # of the objective: a remaining gain that is reported
_DEPENDENT = 1e-6  # least pivot over its diagonal, below which columns are nearly dependent
_FAINT, _VISIBLE = 1e-3, 0.03  # rounding over the residual: negligible, and too much
_GROSS = 0.3  # rounding above which F is computed for every product, if it does not fit
_MAX_WORK, _MAX_BYTES = 1e10, 1 << 26  # products, and bytes of F, of a direct solution
_REPEATS = 5  # systems of Newton's method counted per output


@dataclass(frozen=True)
class PCGMaster:
    """A loss with a ridge in the RKHS, for many columns per step."""

    loss: Loss = Squared()  # noqa: RUF009  it has no state
    ridge: float = 1.0
    fit_intercept: bool = True
    capacity: int = 1000  # columns expected
    budget: int = 1 << 30  # bytes of F

    def start(self, problem: Problem[CandidateColumns, TargetRows]) -> PCGRun:
        check_psd(problem.columns.kernels)
        return PCGRun(self, problem.columns, problem.rows, problem.deadline)


class PCGRun(BaseRun):
    """The columns, the preconditioner and the last fit."""

    def __init__(
        self, master: PCGMaster, candidates: CandidateColumns, rows: TargetRows, deadline: Deadline
    ) -> None:
        self._master, self._candidates, self._rows = master, candidates, rows
        capacity = min(master.capacity, candidates.n_columns)
        self._objective = JointObjective(
            candidates,
            rows,
            master.loss,
            master.ridge,
            fit_intercept=master.fit_intercept,
            capacity=capacity,
            budget=master.budget,
        )
        self._design, self._first = self._objective.design, self._objective.first
        self._capacity, self._is_final = capacity, False
        self._preconditioner = SampledPreconditioner(
            self._design,
            rows.sample_weight,
            capacity,
            bound=master.loss.bound,
            ridge=master.ridge,
            fit_intercept=master.fit_intercept,
            single_factor=master.loss.quadratic,  # Newton's method has no other check of P
        )
        self._function: FloatArray = np.zeros_like(rows.targets)  # F z
        self._raw: FloatArray = np.zeros(
            (0, rows.targets.shape[1])
        )  # bias, if any, then coefficients
        self._residual: FloatArray | None = None  # minus the gradient there, if known
        self._newton_converged = True  # whether Newton's method, if used, reached its tolerance
        self._measured: tuple[FloatArray, float] | None = None  # coefficients and their rounding
        self._deadline = NO_LIMIT
        self._solve()  # the bias alone, so that there is a model without any time
        self._deadline = deadline
        self.fit = self._make_fit()
        self._rounds = bool(self._design.is_float32)
        self._steps: list[FloatArray] = [self._raw]  # of every step, if F is rounded
        self._is_outdated = False  # whether the coefficients are those of the rounded F

    def price_of(self, ids: IntArray, values: FloatArray, rule: PriceRule) -> FloatArray:
        """The drop of the objective with the others fixed, (28); for "boost" (27)."""
        ridge, bound, w = self._master.ridge, self._master.loss.bound, self._rows.sample_weight
        gain = values.T @ self.fit.weights - ridge * self._objective.function_at(
            ids, self._raw, self._function
        )
        norm = self._candidates.diagonal(ids)
        curvature = norm if rule == "boost" else ridge * norm + bound * (w @ values**2)
        usable = np.where(curvature > 0, curvature, np.inf)
        drop: FloatArray = 0.5 * np.sum(gain**2, axis=1) / usable
        return drop

    def extend(self, proposal: Proposal) -> None:
        size = self._design.size
        if not self._preconditioner.grow(size, self._objective.take(proposal)):
            self._preconditioner.restart(self._objective.inner_products(0))
        self._is_final = self._design.is_float32 and self._design.size >= self._capacity
        self._solve(fine=self._is_final)  # the last step is solved accurately at once
        self.fit = self._make_fit()
        if self._rounds:
            self._steps.append(self._raw)

    def finish(self) -> Fit:
        loss = self._master.loss
        if not loss.quadratic and self._is_small and self._is_dependent:
            self._deadline.check()  # the direct solution replaces this one
        elif not self._is_final:
            self._solve(fine=True)
        rounding = self._rounding()
        if rounding > _VISIBLE:
            self._deadline.check()  # computing F again takes long
            self._is_outdated = self._design.promote(made=rounding > _GROSS)
        if self._is_outdated:  # still, if Ctrl-C came between
            self._solve_again()
            self._is_outdated = False
        gain_left = self._remaining_gain() if loss.quadratic or not self._is_small else 0.0
        if self._is_small and (
            gain_left > _LARGE_GAIN or not self._newton_converged or self._is_dependent
        ):
            gain_left = self._solve_directly(gain_left)
        self._residual = None  # the coefficients may have changed
        self.fit = replace(
            self._make_fit(), solver_gap=gain_left if gain_left > _LARGE_GAIN else None
        )
        return self.fit

    def _remaining_gain(self) -> float:
        """An estimate of the remaining gain, relative to the objective."""
        if self._newton_converged and self._residual is None:
            return 0.0
        if self._residual is None:  # other losses have less curvature than P: longer CG
            model = self._objective.model_at(self._raw)
            gain = (
                remaining_gain(model, self._preconditioner.solve, _GAIN_STEPS, go_on=self._has_time)
                / _GAIN_SHARE
            )
        else:
            gain = 0.5 * float(np.sum(self._residual * self._preconditioner.solve(self._residual)))
        return gain / max(self._make_fit().objective, np.finfo(float).tiny)

    @property
    def _is_small(self) -> bool:
        """Whether a direct solution is affordable."""
        (n, q), m = self._rows.targets.shape, self._design.size
        systems = 1 if self._master.loss.quadratic else _REPEATS * q
        fits = 0 < 8 * n * m <= min(_MAX_BYTES, self._master.budget)
        return bool(fits and systems * n * m * m <= _MAX_WORK)

    @property
    def _is_dependent(self) -> bool:
        return self._preconditioner.least < _DEPENDENT

    def _has_time(self) -> bool:
        return self._deadline.remaining > 0

    def complete(self, fit: Fit) -> Fit:
        if fit is not self.fit or len(fit.coef) < self._design.size:  # interrupted in `extend`
            return self._undamaged(fit)
        try:
            return self.finish()
        except OutOfTimeError:
            return self._undamaged(fit)

    def _undamaged(self, fit: Fit) -> Fit:
        """The fit; if rounding F has spoilt it, the best step of fewer columns."""
        if not self._rounds:
            return fit
        raw = np.vstack([fit.bias[None], fit.coef]) if self._first else fit.coef
        best = self._best_of([*(step for step in self._steps if len(step) < len(raw)), raw])
        if best is raw:
            return fit
        whole = self._padded(best)
        better = self._objective.fit_of(whole, self._design.times(whole[self._first :]))
        return replace(better, coef=better.coef[: len(fit.coef)])

    def _best_of(self, raws: Sequence[FloatArray]) -> FloatArray:
        """The coefficients of the lowest loss at some rows in float64; the last if it is near."""
        losses = [self._objective.sampled_loss(raw) for raw in raws]
        near = losses[-1] <= (1.0 + _VISIBLE) * min(losses)
        return raws[-1 if near else int(np.argmin(losses))]

    def _padded(self, raw: FloatArray) -> FloatArray:
        """Coefficients of the first columns, followed by 0 for the others."""
        missing = self._design.size + self._first - len(raw)
        return np.vstack([raw, np.zeros((missing, raw.shape[1]))])

    def _solve_again(self) -> None:
        """Solve again, as coefficients of rounded columns are huge; keep the best."""
        old, solved = self._raw, False
        try:
            self._raw, self._function = self._padded(self._steps[0]), np.zeros_like(self._function)
            self._residual = None
            self._preconditioner.restart(self._objective.inner_products(0))
            self._solve(fine=True)
            self._solve(fine=True)  # now relative to the residual, not to the targets
            solved = True
        except OutOfTimeError:
            pass
        finally:  # also after Ctrl-C
            if not solved:
                old = self._padded(self._best_of([*self._steps, old]))
            function = self._design.times(old[self._first :])
            if not self._make_fit().objective <= self._objective.fit_of(old, function).objective:
                self._raw, self._function = old, function

    def _solve_directly(self, gain_left: float) -> float:
        """Solve without the preconditioner; keep the better solution, return the gain left."""
        old_raw, old_function = self._raw, self._function
        objective = self._make_fit().objective
        self._raw, self._function, gain = self._objective.optimum(old_raw, self._has_time)
        if self._make_fit().objective <= objective:
            return gain / max(self._make_fit().objective, np.finfo(float).tiny)
        self._raw, self._function = old_raw, old_function
        return max(gain_left, gain / max(objective, np.finfo(float).tiny))

    def _solve(self, *, fine: bool = False) -> None:
        new = np.zeros((self._preconditioner.size - len(self._raw), self._raw.shape[1]))
        self._raw = np.vstack([self._raw, new])
        if not len(self._raw):
            return
        if self._master.loss.quadratic:
            self._solve_quadratic(fine)
        else:
            self._raw, self._newton_converged = minimise(
                self._objective.model_at,
                self._preconditioner.solve,
                self._raw,
                before_step=self._deadline.check,
                **((_BRIEF if self._is_small else _FINE) if fine else _ROUGH),
            )
            self._function = self._design.times(self._raw[self._first :])

    def _solve_quadratic(self, fine: bool) -> None:
        """Conjugate gradients, restarted until converged: float32 products drift."""
        single = self._design.is_float32
        if not fine:
            self._iterate(_ROUGH["tol"], _FEW_STEPS if single else _ROUGH["max_inner"])
            return
        self._residual = None  # it may have been updated in float32
        if not single:
            self._iterate(_FINE["tol"], _FINE["max_inner"])
            return
        for attempt in range(_RESTARTS):
            done = self._iterate(_LARGE_TOL, _MANY_STEPS, exact_start=attempt > 0)
            if done == _MANY_STEPS and self._preconditioner.rough:
                self._preconditioner.restart(self._objective.inner_products(0))
            elif not done or self._rounding() <= _FAINT:
                return

    def _iterate(self, tol: float, max_steps: int, *, exact_start: bool = False) -> int:
        """Conjugate gradients from the present z; `F z` is updated along with it.

        The preconditioned square of the gradient is twice the remaining gain. Returns the number
        of iterations.
        """
        w = self._rows.sample_weight[:, None]
        if not self._design.size:  # the bias alone
            distance = self._rows.targets - self._rows.offset
            self._raw = np.sum(w * distance, axis=0, keepdims=True) / w.sum()
            self._function = np.zeros_like(distance)
            return 0
        if exact_start:
            self._function, gradient, objective = self._objective.evaluate(self._raw)
            residual = -gradient
        else:
            fit = self._make_fit()
            objective, residual = fit.objective, self._first_residual(fit.weights)
        self._residual = None  # until the iterations end
        search, power = np.zeros_like(residual), np.zeros(residual.shape[1])
        for done in range(max_steps):
            preconditioned = self._preconditioner.solve(residual)
            new = np.maximum(np.einsum("ij,ij->j", residual, preconditioned), 0.0)
            if new.sum() <= tol * max(objective, np.finfo(float).tiny):
                self._residual = residual
                return done
            self._deadline.check()
            ratio = np.divide(new, power, out=np.zeros_like(new), where=power > 0)
            search, power = preconditioned + ratio * search, new
            image_rows, image = self._objective.normal_times(search, w)
            curvature = np.einsum("ij,ij->j", search, image)
            length = np.divide(power, curvature, out=np.zeros_like(power), where=curvature > 0)
            self._raw = self._raw + length * search
            self._function = self._function + length * image_rows
            residual = residual - length * image
        self._residual = residual
        return max_steps

    def _first_residual(self, weights: FloatArray) -> FloatArray:
        """Minus the gradient; if that of earlier columns is known, computed for new ones only."""
        known = np.zeros((0, weights.shape[1])) if self._residual is None else self._residual
        after = max(0, len(known) - self._first)
        gram_times = self._objective.gram_times(self._raw[self._first :], self._function)[after:]
        new = self._design.transposed_times(weights, after=after, rough=True)
        new -= self._master.ridge * gram_times
        if self._first and not len(known):
            known = weights.sum(axis=0, keepdims=True)
        return np.vstack([known, new])

    def _rounding(self) -> float:
        """The effect of rounding F on the function, relative to the weighted residual."""
        if not self._design.is_float32:
            return 0.0
        if self._measured is not None and self._measured[0] is self._raw:
            return self._measured[1]
        targets = self._rows.targets - self._rows.offset
        residual = root_mean_square(
            targets - self._function - self._objective.bias(self._raw), self._rows.sample_weight
        )
        least = np.finfo(float).eps * root_mean_square(targets) + np.finfo(float).tiny
        distance: FloatArray = self._design.rounding(self._raw[self._first :])
        self._measured = self._raw, float(np.max(distance / np.maximum(residual, least)))
        return self._measured[1]

    def _make_fit(self) -> Fit:
        return self._objective.fit_of(self._raw, self._function)
