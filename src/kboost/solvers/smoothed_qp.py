"""The margin QP with its corners rounded off around given duals, and Newton steps on it.

With duals u, and multipliers z for the bounds on x (names as in box_qp.py),

    minimise over x, o   1/2 |x|^2 + price'o + sum_i hinge_i(x, o) + sum_j bound_j(x)

where hinge_i is the hinge loss rounded off so that its slope is

    w_i = clip(u_i + sharpness yard_i (target - G x - O o)_i, 0, cap_i),

once differentiable and piecewise quadratic; yard_i is the size of a dual, mostly its cap. One
Newton step with E, the rows with w inside, D = 1 / (sharpness yard), and T = 1 / (1 + stiffness
[bound j binds]):

    rows space, |E| + offsets:      (D + G_E T G_E') dw + O_E do = -G_E T residual
    columns space, k + offsets:     (1/T + G_E' D^-1 G_E) dx + ... = residual

whichever is smaller, then a line search. A faint pull towards their last values keeps the offsets
in place where no row inside speaks of them. At the minimum w is the next dual.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve

from kboost._typing import FloatArray
from kboost.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from kboost.solvers.margin_qp import MarginQP

_STIFF = 10.0  # of the bounds, for a sharpness of 1
_PROXIMAL = 1e-11  # weight of an offset's distance from its last value, of the duals' mass
_INNER = 0.1  # what a smooth problem may be left with, of the move of the duals
_FLAT = 0.2  # slope a line search may leave, of that at its start
_JITTER = 1e-14  # on the diagonal of a system, relative
_EPS = 1e-13  # promises below this are near rounding, relative
_REST = 1e-10  # residual that needs no refinement, of the point
_SPARE = 1e-12  # margins are stretched by so much more than they must, for their rounding
_STEPS = 200  # in one smooth problem
_ROUNDING = 1e-5  # gaps are relative to the objective, or to this share of what it is made of


@dataclass(frozen=True)
class Candidate:
    """Duals, the coefficients they name, and how far the two are apart."""

    x: FloatArray  # (k,)
    offsets: FloatArray  # (p,)
    duals: FloatArray  # (r,)
    gap: float


class SmoothedQP:
    """The problem with its corners rounded off around given duals, and a point of it."""

    def __init__(self, qp: MarginQP) -> None:
        self.qp, self.k = qp, len(qp.x)
        self.unit, self.yard = qp.unit(), qp.yardstick()
        p = len(qp.offset_values)
        self.stiff = np.concatenate([np.ones(self.k), np.full(p, qp.rows.upper.sum() / self.unit)])
        self.prices = np.concatenate([np.zeros(self.k), qp.offset_prices])
        self.bounded = qp.bounded
        self.v = np.concatenate([qp.x, qp.offset_values])
        self.w = qp.duals
        self.refresh()
        self._shrink()
        self.pull = np.where(self.bounded, np.maximum(self.prices - self.edges, 0.0), 0.0)
        self.keep()

    @property
    def mass(self) -> float:
        """Of the duals, as they are or may become; caps far beyond them say nothing."""
        return float(max(self.yard.sum(), self.w.sum()))

    def refresh(self) -> None:
        """Compute afresh what the steps only update."""
        self.reached = self.qp.margins(self.v[: self.k], self.v[self.k :])
        self.edges = self.qp.edges(self.w)

    def keep(self) -> None:
        """Remember this point as the one to go back to."""
        self._kept = self.v, self.w, self.pull

    def back(self) -> None:
        """Return to the point kept."""
        self.v, self.w, self.pull = self._kept
        self.refresh()

    def _shrink(self) -> None:
        """Take the best multiple of the duals: new columns charge for their edges."""
        gain, charge = float(self.qp.rows.targets @ self.w), self._charge()
        if charge > gain > 0.0:
            self.w, self.edges = self.w * (gain / charge), self.edges * (gain / charge)

    def _charge(self) -> float:
        """The square of the edges that the dual charges for."""
        charged = np.where(self.bounded, np.maximum(self.edges, 0.0), self.edges)[: self.k]
        return float(charged @ charged)

    def renew(self, sharpness: float) -> None:
        """Take what was found as the duals to round off around."""
        self.steep = sharpness / self.unit * self.yard  # (r,)
        self.stiffness = np.where(self.bounded, _STIFF * sharpness, 0.0) * self.stiff
        self.duals, self.multipliers = self.w, self.pull
        weak = np.full(len(self.prices) - self.k, _PROXIMAL * self.mass / self.unit)
        self.curvature = np.concatenate([np.ones(self.k), weak])
        self.center = np.concatenate([np.zeros(self.k), self.v[self.k :]])
        self._look()

    def _slopes(self, v: FloatArray, reached: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of the rounded hinges and of the rounded bounds."""
        rows = self.qp.rows
        w = self.duals + self.steep * (rows.targets - reached)
        pull = np.maximum(self.multipliers - self.stiffness * v, 0.0)
        return np.clip(w, 0.0, rows.upper), pull

    def _look(self) -> None:
        """Slopes, sets and gradient at the point."""
        w, self.pull = self._slopes(self.v, self.reached)
        self.edges = self.edges + self.qp.edges(w - self.w)
        self.w = w
        self.inside = (w > 0.0) & (w < self.qp.rows.upper)
        self.binding = self.pull > 0.0
        self.residual = (
            self.edges + self.pull - self.prices - self.curvature * (self.v - self.center)
        )

    def candidate(self) -> Candidate:
        """The duals w as a solution, with the certificate at the head of box_qp.py."""
        qp, k = self.qp, self.k
        v = np.where(self.bounded, np.maximum(self.v, 0.0), self.v)
        x, offsets = v[:k], v[k:]
        reached = qp.margins(x, offsets) if self.bounded.any() else self.reached
        primal, stretch = self._primal(v, reached, 1.0), self._stretch(reached)
        stretched = self._primal(v, reached, stretch)
        if stretched <= primal + 10.0 * _SPARE * abs(primal):
            primal, x, offsets = stretched, stretch * x, stretch * offsets
        dual = float(qp.rows.targets @ self.w) - 0.5 * self._charge()
        excess = self.edges[k:] - qp.offset_prices
        missed = np.where(qp.offset_bounded, np.maximum(excess, 0.0), np.abs(excess))
        gap = primal - dual + float(missed @ (np.abs(offsets) + self.unit))
        size = max(abs(primal), abs(dual), _ROUNDING * self.mass * self.unit)
        return Candidate(x, offsets, self.w, gap / size)

    def _primal(self, v: FloatArray, reached: FloatArray, length: float) -> float:
        """The objective at a multiple of v, whose margins are known."""
        x, rows = length * v[: self.k], self.qp.rows
        slack = np.maximum(rows.targets - length * reached, 0.0)
        return 0.5 * float(x @ x) + length * float(self.prices @ v) + float(rows.upper @ slack)

    def _stretch(self, reached: FloatArray) -> float:
        """The multiple at which margins that fall short by little do so no more.

        Where errors are so dear that there are none, the price of what rounding leaves of a slack
        would be more than the objective.
        """
        targets = self.qp.rows.targets
        short = (reached > 0.0) & (reached < (1.0 + 0.5 * _SPARE) * targets)
        most = float(np.max(targets[short] / reached[short], initial=0.0))
        return (1.0 + _SPARE) * most if most > 0.0 else 1.0

    def minimise(self, ends: float, *, careful: bool) -> int:
        """Newton steps until they promise little against the move of the duals; their number.

        With care it is one at least: without a step the new duals belong to old coefficients.
        """
        small, last, rest = _EPS * self.mass * self.unit, np.inf, np.inf
        rough = careful
        for step in range(1, _STEPS + 1):
            if time.monotonic() > ends:
                raise OutOfTimeError("max_seconds reached inside the quadratic program")
            dv = self._direction()
            promise = float(self.residual @ dv)
            moved = float(np.sum((self.w - self.duals) ** 2 / self.steep))
            stuck = promise < small and promise > 0.1 * last  # rounding
            if (not promise > _INNER * moved or stuck) and not rough:
                return step
            last = promise
            ahead = self.qp.margins(dv[: self.k], dv[self.k :])
            length = self._search(dv, ahead, promise)
            self.v = self.v + length * dv
            self.reached = self.reached + length * ahead
            inside, binding = self.inside, self.binding
            self._look()
            same = np.array_equal(inside, self.inside) and np.array_equal(binding, self.binding)
            before, rest = rest, float(np.linalg.norm(self.residual))
            rough = _REST * float(np.linalg.norm(self.v)) < rest < 0.5 * before
            if length == 1.0 and same and not rough:
                return step  # quadratic between the two points: the minimum, as refined as can be
        return _STEPS

    def _direction(self) -> FloatArray:
        """The Newton step, in the space of the rows inside or in that of the variables."""
        qp, k = self.qp, self.k
        inner = np.flatnonzero(self.inside)
        curvature = self.curvature + self.stiffness * self.binding
        offsets, D = qp.offsets[inner], 1.0 / self.steep[inner]
        if len(inner) > k:
            A = np.hstack([qp.sample_rows(inner), offsets]) / np.sqrt(D)[:, None]
            return _solve(_gram(A.T), curvature, self.residual)
        T = 1.0 / curvature[:k]
        pulled = T * self.residual[:k]
        bound = bool(self.binding[:k].any())
        products = None if bound else qp.products(inner)
        G = None
        if products is None:
            G = qp.sample_rows(inner)
            products, reach = _gram(G * np.sqrt(T) if bound else G), G @ pulled
        else:
            reach = qp.margins(pulled, np.zeros(len(curvature) - k))[inner]
        found = _solve(products, D, np.column_stack([-reach, offsets]))
        plain, along = found[:, 0], found[:, 1:]
        border = offsets.T @ along + np.diag(curvature[k:])
        do = np.linalg.solve(border, offsets.T @ plain + self.residual[k:])
        dw = plain - along @ do
        if G is None:
            every = np.zeros(len(self.w))
            every[inner] = dw
            return np.concatenate([pulled + T * qp.edges(every)[:k], do])
        return np.concatenate([pulled + T * (dw @ G), do])

    def _search(self, dv: FloatArray, ahead: FloatArray, promise: float) -> float:
        """A step length where the slope along dv is nearly 0; 1 wherever it is not yet positive."""
        linear = float(dv @ (self.prices + self.curvature * (self.v - self.center)))
        square = float(dv @ (self.curvature * dv))

        def slope(length: float) -> float:
            w, pull = self._slopes(self.v + length * dv, self.reached + length * ahead)
            return linear + length * square - float(w @ ahead) - float(pull @ dv)

        low, high, below, above = 0.0, 1.0, -promise, slope(1.0)
        if above <= _FLAT * promise:
            return 1.0
        length = 1.0
        for _ in range(100):
            length = low + (high - low) * min(0.9, max(0.1, below / (below - above)))
            now = slope(length)
            if abs(now) <= _FLAT * promise:
                break
            if now < 0.0:
                low, below = length, now
            else:
                high, above = length, now
        return length


def _gram(rows: FloatArray) -> FloatArray:
    """`rows rows'`, its lower triangle."""
    if not rows.size:
        return np.zeros((len(rows), len(rows)))
    product: FloatArray = blas.dsyrk(1.0, rows.T, trans=1, lower=1)
    return product


def _solve(gram: FloatArray, diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with `gram + diag(diagonal)`, the latter lifted above rounding."""
    place = np.diag_indices(len(gram))
    gram[place] += np.maximum(diagonal, _JITTER * gram[place])
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    solved: FloatArray = cho_solve(factor, right, check_finite=False)
    return solved
