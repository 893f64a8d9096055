"""All coefficients of all basis vectors together, by a preconditioned iteration.

    minimise  E(z) = sum_i w_i sum_k loss(y_ik, f_ik) + ridge/2 sum_k z_k' Q z_k,
    f = offset + [1 F] z,    F (n, m) kernel columns,    Q_jl = k_p(c_j, c_l), 0 across kernels

The normal matrix of all rows costs n m^2 and is what plain least squares spends its time on. Here
it is formed on a sample of r rows only, as a preconditioner P (masters/_sampled_preconditioner.py), with r twice
m: then P is like the true matrix in every direction (the eigenvalues of a sample covariance), some
twenty iterations are enough, and each is one pass over F. The sample are the first r rows, which
must stand in random order (canonical order is one: see data/indexed_rows.py); they need no memory of
their own. Gradients are formed in float64 from all rows, so the answer does not
depend on the sample. As z is warm from step to step, two iterations a step keep the residual good
enough to choose by.

A large F is in float32, and so are the products inside the iterations, which are restarted from
gradients in float64, unless rounding is nothing against the residual, until these are as small as
asked for. What rounding F does to the model is measured at the end; where that is not small against
the residual, F is made again in float64 (tiny ridges, exact data), and the iteration begins again
from nothing.

The preconditioned square of the last gradient says what is left to gain, as far as P is like the
true matrix; a basis of outlying rows, which a sample hardly has, is where it is not. If much is
left when the iteration comes to its limit, the fit says so (`loose`).

Columns that nearly depend on each other give P a jitter, which hides directions in which there is
still something to gain. Where either happens and the problem is small, its coefficients come in the
end from solvers/ridge.py, which forms no squares.

For losses that are not squared these are the inner iterations of Newton's method. They bend less
than P, most of all where rows are beyond their margin or a ridge is tiny: then CG meets its limit
and Newton's steps crawl. A small problem comes in the end from solvers/irls.py; of a large
one a longer CG tells what may be left (it saw a twelfth to all of it where the optimum was known,
and is taken for a quarter).

The columns, and the objective by products with them, are in _joint_basis.py; here is the iteration,
and its end.
"""

from __future__ import annotations

from contextlib import suppress
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
from kboost.masters._sampled_preconditioner import SampledNormal
from kboost.masters.losses import Loss, Squared
from kboost.solvers.newton_cg import left_at, minimise

_ROUGH: dict[str, Any] = {
    "tol": 1e-3,
    "max_steps": 2,
    "max_inner": 6,
    "inner_tol": 1e-2,
}  # on the way
_FINE: dict[str, Any] = {
    "tol": 1e-7,
    "max_steps": 50,
    "max_inner": 50,
    "inner_tol": 1e-4,
}  # at the end
_BRIEF = _FINE | {"max_steps": 5}  # where a direct solution may follow
_LOOKS, _SEEN = 200, 0.25  # iterations of CG that see what is left, and how much of it
_FEW_STEPS, _ENOUGH = 2, 1e-4  # of a large F: iterations on the way, gain at the end
_RESTARTS = 5
_SHORT = 1e-2  # of the objective: what may be left to gain without a word
_DEPENDENT = 1e-6  # least pivot, over its diagonal, at which columns nearly depend on each other
_FAINT, _VISIBLE = 1e-3, 0.03  # of the residual: rounding that is nothing, or too much
_GROSS = 0.3  # rounding that is worth to make F for every product, where there is no room
_DIRECT, _SMALL = 1e10, 1 << 26  # products, and bytes of F, of what may be solved directly
_REPEATS = 5  # what Newton's method, of many systems, may cost over one solution


@dataclass(frozen=True)
class PCGMaster:
    """A loss with a ridge in the RKHS, many columns a step."""

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
        self._basis = JointObjective(
            candidates,
            rows,
            master.loss,
            master.ridge,
            fit_intercept=master.fit_intercept,
            capacity=capacity,
            budget=master.budget,
        )
        self._design, self._first = self._basis.design, self._basis.first
        self._capacity, self._is_final = capacity, False
        self._normal = SampledNormal(
            self._design,
            rows.sample_weight,
            capacity,
            bound=master.loss.bound,
            ridge=master.ridge,
            fit_intercept=master.fit_intercept,
        )
        self._function: FloatArray = np.zeros_like(rows.targets)  # F z
        self._raw: FloatArray = np.zeros(
            (0, rows.targets.shape[1])
        )  # bias, if any, then coefficients
        self._residual: FloatArray | None = None  # minus the gradient there, where it is known
        self._sound = True  # whether Newton's method, where there is one, came to its end
        self._measured: tuple[FloatArray, float] | None = None  # coefficients and their rounding
        self._deadline = NO_LIMIT
        self._solve()  # the bias alone, so that there is a model whatever the time
        self._deadline = deadline
        self.fit = self._describe()

    def price_of(self, ids: IntArray, values: FloatArray, rule: PriceRule) -> FloatArray:
        """The drop of the objective with the others fixed, (28); `rule` "boost": (27)."""
        ridge, bound, w = self._master.ridge, self._master.loss.bound, self._rows.sample_weight
        gain = values.T @ self.fit.weights - ridge * self._basis.function_at(
            ids, self._raw, self._function
        )
        norm = self._candidates.diagonal(ids)
        curvature = norm if rule == "boost" else ridge * norm + bound * (w @ values**2)
        usable = np.where(curvature > 0, curvature, np.inf)
        drop: FloatArray = 0.5 * np.sum(gain**2, axis=1) / usable
        return drop

    def extend(self, proposal: Proposal) -> None:
        size = self._design.size
        if not self._normal.grow(size, self._basis.take(proposal)):
            self._normal.start_again(self._basis.inner_products(0))
        self._is_final = self._design.is_float32 and self._design.size >= self._capacity
        self._solve(fine=self._is_final)  # the last step needs no rough solution first
        self.fit = self._describe()

    def finish(self) -> Fit:
        loss = self._master.loss
        if not loss.quadratic and self._is_small and self._is_dependent:
            self._deadline.check()  # the direct solution does without this one
        elif not self._is_final:
            self._solve(fine=True)
        rounding = self._rounding()
        if rounding > _VISIBLE and self._design.promote(made=rounding > _GROSS):
            self._begin_again()
        left = self._left() if loss.quadratic or not self._is_small else 0.0
        if self._is_small and (left > _SHORT or not self._sound or self._is_dependent):
            left = self._solve_directly(left)
        self._residual = None  # the coefficients may be others now
        self.fit = replace(self._describe(), solver_gap=left if left > _SHORT else None)
        return self.fit

    def _left(self) -> float:
        """What more iterations might gain, over the objective."""
        if self._sound and self._residual is None:
            return 0.0
        if self._residual is None:  # other losses bend less than P: CG looks further
            here = self._basis.around(self._raw)
            gain = left_at(here, self._normal.solve, _LOOKS, go_on=self._has_time) / _SEEN
        else:
            gain = 0.5 * float(np.sum(self._residual * self._normal.solve(self._residual)))
        return gain / max(self._describe().objective, np.finfo(float).tiny)

    @property
    def _is_small(self) -> bool:
        """Whether a direct solution is cheap enough."""
        (n, q), m = self._rows.targets.shape, self._design.size
        systems = 1 if self._master.loss.quadratic else _REPEATS * q
        fits = 0 < 8 * n * m <= min(_SMALL, self._master.budget)
        return bool(fits and systems * n * m * m <= _DIRECT)

    @property
    def _is_dependent(self) -> bool:
        return self._normal.least < _DEPENDENT

    def _has_time(self) -> bool:
        return self._deadline.remaining > 0

    def complete(self, fit: Fit) -> Fit:
        if fit is not self.fit or len(fit.coef) < self._design.size:  # interrupted in `extend`
            return fit
        try:
            return self.finish()
        except OutOfTimeError:
            return fit

    def _begin_again(self) -> None:
        """From nothing: coefficients that fit rounded columns are huge. The better ones stand."""
        found, kept = self._raw, self._design.times(self._raw[self._first :])
        self._function = kept
        objective = self._describe().objective
        self._raw, self._function = np.zeros_like(found), np.zeros_like(kept)
        with suppress(OutOfTimeError):
            self._normal.start_again(self._basis.inner_products(0))
            self._solve(fine=True)
            self._solve(fine=True)  # now small against what is left, not against the targets
        if not self._describe().objective <= objective:
            self._raw, self._function = found, kept

    def _solve_directly(self, left: float) -> float:
        """Without a preconditioner, which is not sound here; the better coefficients stand.

        Returns what is left to gain now.
        """
        found, kept = self._raw, self._function
        objective = self._describe().objective
        self._raw, self._function, gain = self._basis.optimum(found, self._has_time)
        if self._describe().objective <= objective:
            return gain / max(self._describe().objective, np.finfo(float).tiny)
        self._raw, self._function = found, kept
        return max(left, gain / max(objective, np.finfo(float).tiny))

    def _solve(self, *, fine: bool = False) -> None:
        new = np.zeros((self._normal.size - len(self._raw), self._raw.shape[1]))
        self._raw = np.vstack([self._raw, new])
        if not len(self._raw):
            return
        if self._master.loss.quadratic:
            self._iterate_again(fine)
        else:
            self._raw, self._sound = minimise(
                self._basis.around,
                self._normal.solve,
                self._raw,
                before_step=self._deadline.check,
                **((_BRIEF if self._is_small else _FINE) if fine else _ROUGH),
            )
            self._function = self._design.times(self._raw[self._first :])

    def _iterate_again(self, fine: bool) -> None:
        """Until there is nothing left to do: rough products drift, exact ones do not."""
        single = self._design.is_float32
        if not fine:
            self._iterate(_ROUGH["tol"], _FEW_STEPS if single else _ROUGH["max_inner"])
            return
        self._residual = None  # what was updated only, in float32 perhaps, is not for the end
        if not single:
            self._iterate(_FINE["tol"], _FINE["max_inner"])
            return
        for attempt in range(_RESTARTS):
            done = self._iterate(_ENOUGH, _FINE["max_inner"], exact_start=attempt > 0)
            if done == _FINE["max_inner"] and self._normal.rough:
                self._normal.start_again(self._basis.inner_products(0))
            elif not done or self._rounding() <= _FAINT:
                return

    def _iterate(self, tol: float, max_steps: int, *, exact_start: bool = False) -> int:
        """Conjugate gradients from where we are; `F z` comes along, so no pass is wasted.

        The preconditioned square of the gradient is twice what there is to gain. Returns how many
        iterations there were.
        """
        w = self._rows.sample_weight[:, None]
        if not self._design.size:  # the bias alone
            away = self._rows.targets - self._rows.offset
            self._raw = np.sum(w * away, axis=0, keepdims=True) / w.sum()
            self._function = np.zeros_like(away)
            return 0
        if exact_start:
            self._function, gradient, objective = self._basis.look(self._raw)
            residual = -gradient
        else:
            fit = self._describe()
            objective, residual = fit.objective, self._start(fit.weights)
        self._residual = None  # until the iteration has come to its end
        search, power = np.zeros_like(residual), np.zeros(residual.shape[1])
        for done in range(max_steps):
            ready = self._normal.solve(residual)
            new = np.maximum(np.einsum("ij,ij->j", residual, ready), 0.0)
            if new.sum() <= tol * max(objective, np.finfo(float).tiny):
                self._residual = residual
                return done
            self._deadline.check()
            ratio = np.divide(new, power, out=np.zeros_like(new), where=power > 0)
            search, power = ready + ratio * search, new
            own, image = self._basis.normal_times(search, w)
            bend = np.einsum("ij,ij->j", search, image)
            length = np.divide(power, bend, out=np.zeros_like(power), where=bend > 0)
            self._raw = self._raw + length * search
            self._function = self._function + length * own
            residual = residual - length * image
        self._residual = residual
        return max_steps

    def _start(self, weights: FloatArray) -> FloatArray:
        """Minus the gradient; where that of older columns is at hand, only F' of new ones."""
        known = np.zeros((0, weights.shape[1])) if self._residual is None else self._residual
        after = max(0, len(known) - self._first)
        pull = self._basis.pull(self._raw[self._first :], self._function)[after:]
        new = self._design.transposed_times(weights, after=after, rough=True)
        new -= self._master.ridge * pull
        if self._first and not len(known):
            known = weights.sum(axis=0, keepdims=True)
        return np.vstack([known, new])

    def _rounding(self) -> float:
        """What rounding F does to the function, over the residual as it is weighted."""
        if not self._design.is_float32:
            return 0.0
        if self._measured is not None and self._measured[0] is self._raw:
            return self._measured[1]
        targets = self._rows.targets - self._rows.offset
        residual = root_mean_square(
            targets - self._function - self._basis.bias(self._raw), self._rows.sample_weight
        )
        least = np.finfo(float).eps * root_mean_square(targets) + np.finfo(float).tiny
        away: FloatArray = self._design.rounding(self._raw[self._first :])
        self._measured = self._raw, float(np.max(away / np.maximum(residual, least)))
        return self._measured[1]

    def _describe(self) -> Fit:
        return self._basis.fit_of(self._raw, self._function)
