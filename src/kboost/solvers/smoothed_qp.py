"""The margin QP smoothed around given duals, and Newton steps on it.

With duals u, and multipliers z of the bounds on x (notation of margin_qp.py),

    minimise over x, o   1/2 |x|^2 + price'o + sum_i hinge_i(x, o) + sum_j bound_j(x)

where hinge_i is the hinge loss, smoothed so that its slope is

    w_i = clip(u_i + sharpness scale_i (target - G x - O o)_i, 0, upper_i),

once differentiable and piecewise quadratic; scale_i is that of a dual, mostly its upper bound. One
Newton step with E, the rows with w strictly inside its box, D = 1 / (sharpness scale), and
T = 1 / (1 + curvature of bound j if it binds):

    in the rows, |E| + offsets:       (D + G_E T G_E') dw + O_E do = -G_E T residual
    in the columns, k + offsets:      (1/T + G_E' D^-1 G_E) dx + ... = residual

whichever is smaller, then a line search. A weak proximal term keeps the offsets at their last
values if no row inside determines them. At the minimum w is the next dual.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import blas

from kboost._typing import FloatArray
from kboost.exceptions import OutOfTimeError
from kboost.solvers._small_cholesky import factor_lower, solve_factored

if TYPE_CHECKING:
    from kboost.solvers.margin_qp import MarginQP

_BOUND_CURVATURE = 10.0  # at a sharpness of 1
_PROXIMAL = 1e-11  # weight of the proximal term of offsets, relative to the sum of duals
_INNER = 0.1  # remaining decrease of a smooth problem, relative to the move of the duals
_FLAT = 0.2  # slope at the end of a line search, relative to its start
_JITTER = 1e-14  # on the diagonal of a system, relative
_EPS = 1e-13  # relative decrease below which rounding matters
_REST = 1e-10  # residual that needs no refinement, relative to the point
_SPARE = 1e-12  # margins are stretched by this much more, for rounding
_STEPS = 200  # in one smooth problem
_ROUNDING = 1e-5  # gaps are relative to the objective, or to this share of its terms


@dataclass(frozen=True)
class Candidate:
    """Duals, coefficients, and the relative gap between them."""

    x: FloatArray  # (k,)
    offsets: FloatArray  # (p,)
    duals: FloatArray  # (r,)
    gap: float


class SmoothedQP:
    """The QP smoothed around given duals, and a point of it."""

    def __init__(self, qp: MarginQP) -> None:
        self.qp, self.k = qp, len(qp.x)
        self.unit, self.dual_scale = qp.unit(), qp.dual_scale()
        p = len(qp.offset_values)
        self.bound_scale = np.concatenate(
            [np.ones(self.k), np.full(p, qp.rows.upper.sum() / self.unit)]
        )
        self.prices = np.concatenate([np.zeros(self.k), qp.offset_prices])
        self.bounded = qp.bounded
        self._any_bounded = bool(self.bounded.any())
        self._scale_sum = self.dual_scale.sum()
        self.v = np.concatenate([qp.x, qp.offset_values])
        self.w = qp.duals
        self.refresh()
        self._shrink()
        self.bound_duals = np.where(self.bounded, np.maximum(self.prices - self.edges, 0.0), 0.0)
        self.save()

    @property
    def mass(self) -> float:
        """The sum of the duals or of their scales, whichever is larger."""
        return float(max(self._scale_sum, self.w.sum()))

    def refresh(self) -> None:
        """Recompute what the steps only update."""
        self.reached = self.qp.margins(self.v[: self.k], self.v[self.k :])
        self.edges = self.qp.edges(self.w)

    def save(self) -> None:
        """Save this point."""
        self._saved = self.v, self.w, self.bound_duals

    def restore(self) -> None:
        """Return to the saved point."""
        self.v, self.w, self.bound_duals = self._saved
        self.refresh()

    def _shrink(self) -> None:
        """Scale the duals by the best factor: new columns are charged for their edges."""
        gain, charge = float(self.qp.rows.targets @ self.w), self._charge()
        if charge > gain > 0.0:
            self.w, self.edges = self.w * (gain / charge), self.edges * (gain / charge)

    def _charge(self) -> float:
        """The sum of squared edges in the dual."""
        charged = self._positive_if_bounded(self.edges)[: self.k]
        return float(charged @ charged)

    def _positive_if_bounded(self, values: FloatArray) -> FloatArray:
        """The values, with those of bounded variables at least 0."""
        if not self._any_bounded:
            return values
        return np.where(self.bounded, np.maximum(values, 0.0), values)

    def recenter(self, sharpness: float) -> None:
        """Smooth around the present duals."""
        self.row_curvature = sharpness / self.unit * self.dual_scale  # (r,)
        self.bound_curvature = (
            np.where(self.bounded, _BOUND_CURVATURE * sharpness, 0.0) * self.bound_scale
        )
        self.duals, self.old_bound_duals = self.w, self.bound_duals
        weak = np.full(len(self.prices) - self.k, _PROXIMAL * self.mass / self.unit)
        self.curvature = np.concatenate([np.ones(self.k), weak])
        self.center = np.concatenate([np.zeros(self.k), self.v[self.k :]])
        self._evaluate()

    def _slopes(self, v: FloatArray, reached: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The slopes of the smoothed hinges, (r,), and of the smoothed bounds."""
        rows = self.qp.rows
        w = self.duals + self.row_curvature * (rows.targets - reached)
        bound_duals = np.maximum(self.old_bound_duals - self.bound_curvature * v, 0.0)
        return np.clip(w, 0.0, rows.upper), bound_duals

    def _evaluate(self, slopes: tuple[FloatArray, FloatArray] | None = None) -> None:
        """Update slopes, unless they are given, sets and gradient at the point."""
        w, self.bound_duals = slopes or self._slopes(self.v, self.reached)
        self.edges = self.edges + self.qp.edges(w - self.w)
        self.w = w
        self.inside = (w > 0.0) & (w < self.qp.rows.upper)
        self.binding = self.bound_duals > 0.0
        self.residual = (
            self.edges + self.bound_duals - self.prices - self.curvature * (self.v - self.center)
        )

    def candidate(self) -> Candidate:
        """The duals w as a solution, with the certificate of margin_qp.py."""
        qp, k = self.qp, self.k
        v = self._positive_if_bounded(self.v)
        x, offsets = v[:k], v[k:]
        reached = qp.margins(x, offsets) if self._any_bounded else self.reached
        primal, stretch = self._primal(v, reached, 1.0), self._stretch(reached)
        stretched_primal = self._primal(v, reached, stretch)
        if stretched_primal <= primal + 10.0 * _SPARE * abs(primal):
            primal, x, offsets = stretched_primal, stretch * x, stretch * offsets
        dual = float(qp.rows.targets @ self.w) - 0.5 * self._charge()
        excess = self.edges[k:] - qp.offset_prices
        missed = np.where(qp.offset_bounded, np.maximum(excess, 0.0), np.abs(excess))
        gap = primal - dual + float(missed @ (np.abs(offsets) + self.unit))
        size = max(abs(primal), abs(dual), _ROUNDING * self.mass * self.unit)
        return Candidate(x, offsets, self.w, gap / size)

    def _primal(self, v: FloatArray, reached: FloatArray, length: float) -> float:
        """The objective at `length * v`, given the margins of v."""
        x, rows = length * v[: self.k], self.qp.rows
        slack = np.maximum(rows.targets - length * reached, 0.0)
        return 0.5 * float(x @ x) + length * float(self.prices @ v) + float(rows.upper @ slack)

    def _stretch(self, reached: FloatArray) -> float:
        """The factor at which margins that miss their target by rounding reach it.

        With very large slack costs, slacks due to rounding would cost more than the objective.
        """
        targets = self.qp.rows.targets
        short = (reached > 0.0) & (reached < (1.0 + 0.5 * _SPARE) * targets)
        most = float(np.max(targets[short] / reached[short], initial=0.0))
        return (1.0 + _SPARE) * most if most > 0.0 else 1.0

    def minimise(self, ends: float, *, careful: bool) -> int:
        """Newton steps until the predicted decrease is small; returns their number.

        With `careful` at least one: without a step the new duals belong to old coefficients.
        """
        small, last, residual_norm = _EPS * self.mass * self.unit, np.inf, np.inf
        rough = careful
        for step in range(1, _STEPS + 1):
            if time.monotonic() > ends:
                raise OutOfTimeError("max_seconds reached inside the quadratic program")
            dv = self._direction()
            decrease = float(self.residual @ dv)
            moved = float(np.sum((self.w - self.duals) ** 2 / self.row_curvature))
            stuck = decrease < small and decrease > 0.1 * last  # rounding
            if (not decrease > _INNER * moved or stuck) and not rough:
                return step
            last = decrease
            margin_step = self.qp.margins(dv[: self.k], dv[self.k :])
            length, slopes = self._search(dv, margin_step, decrease)
            self.v = self.v + length * dv
            self.reached = self.reached + length * margin_step
            inside, binding = self.inside, self.binding
            self._evaluate(slopes)
            same = bool((inside == self.inside).all() and (binding == self.binding).all())
            before, residual_norm = residual_norm, _norm(self.residual)
            rough = _REST * _norm(self.v) < residual_norm < 0.5 * before
            if length == 1.0 and same and not rough:
                return step  # quadratic between the two points: the exact minimum
        return _STEPS

    def _direction(self) -> FloatArray:
        """The Newton step, by a system in the rows inside or in the variables."""
        qp, k = self.qp, self.k
        inner = np.flatnonzero(self.inside)
        curvature = self.curvature + self.bound_curvature * self.binding
        offsets, D = qp.offsets[inner], 1.0 / self.row_curvature[inner]
        if len(inner) > k:
            A = np.hstack([qp.rows_of(inner), offsets]) / np.sqrt(D)[:, None]
            return _solve(_gram(A.T), curvature, self.residual)
        T = 1.0 / curvature[:k]
        scaled_residual = T * self.residual[:k]
        bound = bool(self.binding[:k].any())
        products = None if bound else qp.products(inner)
        G = None
        if products is None:
            G = qp.rows_of(inner)
            products, row_residual = _gram(G * np.sqrt(T) if bound else G), G @ scaled_residual
        else:
            row_residual = qp.margins(scaled_residual, np.zeros(len(curvature) - k))[inner]
        right = np.empty((len(inner), 1 + offsets.shape[1]))
        right[:, 0], right[:, 1:] = -row_residual, offsets
        solved = _solve(products, D, right)
        plain, along = solved[:, 0], solved[:, 1:]
        do, dw = self.residual[k:], plain
        if len(do):
            border = offsets.T @ along + np.diag(curvature[k:])
            do = np.linalg.solve(border, offsets.T @ plain + do)
            dw = plain - along @ do
        if G is None:
            every = np.zeros(len(self.w))
            every[inner] = dw
            return np.concatenate([scaled_residual + T * qp.edges(every)[:k], do])
        return np.concatenate([scaled_residual + T * (dw @ G), do])

    def _search(
        self, dv: FloatArray, margin_step: FloatArray, decrease: float
    ) -> tuple[float, tuple[FloatArray, FloatArray]]:
        """A step length with a slope along dv of nearly 0; 1 if the slope there is not positive.

        Returned with the slopes of hinges and bounds there.
        """
        linear = float(dv @ (self.prices + self.curvature * (self.v - self.center)))
        square = float(dv @ (self.curvature * dv))

        def slope(length: float) -> tuple[float, tuple[FloatArray, FloatArray]]:
            w, bound_duals = self._slopes(self.v + length * dv, self.reached + length * margin_step)
            fall = float(w @ margin_step)
            return linear + length * square - fall - float(bound_duals @ dv), (w, bound_duals)

        length = 1.0
        above, slopes = slope(length)
        if above <= _FLAT * decrease:
            return length, slopes
        low, high, below = 0.0, 1.0, -decrease
        for _ in range(100):
            length = low + (high - low) * min(0.9, max(0.1, below / (below - above)))
            now, slopes = slope(length)
            if abs(now) <= _FLAT * decrease:
                break
            if now < 0.0:
                low, below = length, now
            else:
                high, above = length, now
        return length, slopes


def _gram(rows: FloatArray) -> FloatArray:
    """`rows rows'`, its lower triangle."""
    if not rows.size:
        return np.zeros((len(rows), len(rows)))
    product: FloatArray = blas.dsyrk(1.0, rows.T, trans=1, lower=1)
    return product


def _solve(gram: FloatArray, diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with `gram + diag(diagonal)`, the diagonal raised above rounding."""
    on_diagonal = slice(None, None, len(gram) + 1)
    gram.flat[on_diagonal] += np.maximum(diagonal, _JITTER * gram.flat[on_diagonal])
    return solve_factored(factor_lower(gram), right)


def _norm(values: FloatArray) -> float:
    """The 2-norm, without the checks of NumPy's function."""
    return math.sqrt(values @ values)
