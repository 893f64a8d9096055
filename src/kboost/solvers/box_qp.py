"""The margin QP: a 2-norm penalty, linear slacks, columns that keep coming.

Primal, r rows, k columns (`g_ij = sign_i h_ij`), offsets o outside the penalty (a free bias, the
level), a penalised bias as one more column of ones whose sign is free:

    minimise    1/2 |x|^2 + price'o + sum_i cap_i slack_i
    subject to  G x + O o + slack >= target,   slack >= 0   [x >= 0]   [level >= 0]

Dual, and the way back from it:

    maximise    target'u - 1/2 |G'u|^2      (nonnegative x: the positive part of G'u)
    subject to  0 <= u <= caps,   O'u = price     (level: <=)
    x = G'u,  or its positive part

Certificate: for u that keeps its constraints, any x and o,

    gap = 1/2 |x|^2 + price'o + caps'slack - target'u + 1/2 |G'u|^2   >=   objective - optimum.

Few rows have a dual strictly inside its box (84 of 1000 on Forest at the optimum), and only these
enter a linear system. So not an interior point, whose systems hold all rows or all columns, but
the method of multipliers with semismooth Newton steps: with duals u, and z for the bounds on x,

    minimise over x, o   1/2 |x|^2 + price'o + sum_i hinge_i(x, o) + sum_j bound_j(x)

where hinge_i is the hinge loss rounded off so that its slope is

    w_i = cap_i clip(u_i / cap_i + sharpness (target - G x - O o)_i, 0, 1),

once differentiable and piecewise quadratic. One Newton step with E, the rows with w inside, and
D = 1 / (sharpness cap), T = 1 / (1 + stiffness [bound j binds]):

    rows space, |E| + offsets:      (D + G_E T G_E') dw + O_E do = -G_E T residual
    columns space, k + offsets:     (1/T + G_E' D^-1 G_E) dx + ... = residual

whichever is smaller, then an exact line search. At its minimum u = w is the next dual; sharpness
rises until the gap is closed. The sets settle after a few steps, and then a step is exact. A warm
start keeps u, x and o while columns are appended.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve

from kboost._errors import OutOfTimeError, SolverError
from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.solvers.lp import MarginData

_SHARP = 0.3  # sharpness times unit, for a gap of 1; it rises as the gap's inverse root
_PUSH = 2.0  # further rise where the gap has not fallen
_STIFF = 10.0  # of the bounds, for a sharpness of 1
_PROXIMAL = 1e-11  # weight of an offset's distance from its last value, of sum(caps)
_INNER = 0.1  # what a smooth problem may be left with, of the move of the duals
_FLAT = 0.2  # slope a line search may leave, of that at its start
_JITTER = 1e-14  # on the diagonal of a system, relative
_EPS = 1e-13  # promises below this are near rounding, relative
_STEPS = 200  # in one smooth problem
_SHARPEST = 1e9
_STALLS, _FINE = 40, 1e-7  # smooth problems without progress; two are enough below this gap
_USELESS = 1e-6  # a gap above which the solution is not to be had
_ROUNDING = 1e-5  # gaps are relative to the objective, or to this share of what it is made of


@dataclass(frozen=True)
class MarginOptimum:
    """The optimum of the margin QP over the columns so far."""

    coef: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (r,)
    level: float
    gap: float  # relative
    steps: int


class MarginQP:
    """Columns, and the solution that the next solve starts from."""

    def __init__(self, rows: MarginData, start: FloatArray, sample: IntArray | None = None) -> None:
        """Duals to start from, (r,); the sample each row speaks of (None: its own)."""
        self.rows, self.sample = rows, sample
        self.duals = start
        self.n_samples = len(rows.signs) if sample is None else int(sample.max()) + 1
        self.offsets, prices, bounded = _offsets(rows)
        self.offset_prices, self.offset_bounded = prices, bounded
        self.offset_values: FloatArray = np.zeros(len(prices))
        self._buffer = np.empty((self.n_samples, 64))
        self._size = 0
        self.x: FloatArray = np.zeros(0)
        self._lead = 1 if rows.intercept == "penalized" else 0
        if self._lead:
            self.extend(np.ones((self.n_samples, 1)))

    @property
    def all_columns(self) -> FloatArray:
        """With the one of a penalised bias, which comes first."""
        return self._buffer[:, : self._size]

    @property
    def columns(self) -> FloatArray:
        """The columns so far, (n, k)."""
        return self.all_columns[:, self._lead :]

    @property
    def bounded(self) -> BoolArray:
        """Which of all variables, offsets last, must not be negative."""
        columns = np.full(self._size, self.rows.nonnegative)
        columns[: self._lead] = False
        return np.concatenate([columns, self.offset_bounded])

    def extend(self, columns: FloatArray) -> None:
        """Append columns as they are at the samples, (n, k_new)."""
        new = columns.shape[1]
        size = self._size + new
        if size > self._buffer.shape[1]:
            grown = np.empty((self.n_samples, max(size, 2 * self._buffer.shape[1])))
            grown[:, : self._size] = self.all_columns
            self._buffer = grown
        self._buffer[:, self._size : size] = columns
        self._size = size
        self.x = np.concatenate([self.x, np.zeros(new)])

    def recap(self, rows: MarginData) -> None:
        """Go on with other slack prices; duals keep their share of them."""
        self.duals = self.duals * (rows.caps / self.rows.caps)
        self.rows = rows
        self.offsets, self.offset_prices, self.offset_bounded = _offsets(rows)

    def solve(self, seconds: float = np.inf, tol: float = 1e-10) -> MarginOptimum:
        """Go from the last solution to a relative gap of `tol`, or as near as rounding allows."""
        ends = time.monotonic() + seconds
        smooth, steps, push = Smooth(self), 0, _SHARP
        best, stalls = smooth.candidate(), 0
        while best.gap > tol and stalls < (_STALLS if best.gap > _FINE else 2):
            smooth.renew(min(_SHARPEST, push / math.sqrt(min(1.0, best.gap))))
            steps += smooth.minimise(ends)
            now = smooth.candidate()
            stalls += 1
            if now.gap < 0.9 * best.gap:
                stalls = 0
            else:
                smooth.refresh()
                push *= _PUSH
            best = min(best, now, key=lambda candidate: candidate.gap)
        if not best.gap <= _USELESS:
            raise SolverError(
                f"the quadratic program was solved to a relative gap of {best.gap:.1e} only; "
                "scale the features or the columns."
            )
        self.x, self.offset_values, self.duals = best.x, best.offsets, best.duals
        return self._optimum(best.gap, steps)

    def _optimum(self, gap: float, steps: int) -> MarginOptimum:
        rest = self.offset_values.tolist()
        bias = float(self.x[0]) if self._lead else 0.0
        if self.rows.intercept == "free":
            bias = rest.pop(0)
        level = rest.pop(0) if self.rows.level is not None else 0.0
        return MarginOptimum(self.x[self._lead :], bias, self.duals, level, gap, steps)

    # -- the matrix [G O] ------------------------------------------------------------------------

    def some_rows(self, which: IntArray) -> FloatArray:
        """G of some rows, (len(which), k)."""
        samples = which if self.sample is None else self.sample[which]
        return self.rows.signs[which][:, None] * self.all_columns[samples]

    def margins(self, x: FloatArray, offsets: FloatArray) -> FloatArray:
        """`G x + O o`, (r,)."""
        values = self.all_columns @ x
        seen = values if self.sample is None else values[self.sample]
        return self.rows.signs * seen + self.offsets @ offsets

    def edges(self, duals: FloatArray) -> FloatArray:
        """`[G O]' duals`; rows where they are 0 are left out if that saves work."""
        which = np.flatnonzero(duals)
        signed: FloatArray = self.rows.signs * duals
        if 3 * len(which) < self.n_samples:
            samples = which if self.sample is None else self.sample[which]
            edges = signed[which] @ self.all_columns[samples]
        else:
            edges = self._at_samples(signed) @ self.all_columns
        return np.concatenate([edges, duals @ self.offsets])

    def _at_samples(self, signed: FloatArray) -> FloatArray:
        """Signed duals of the rows, summed for each sample."""
        if self.sample is None:
            return signed
        return np.bincount(self.sample, signed, self.n_samples).astype(np.float64)

    def unit(self) -> float:
        """The size of a margin: of the targets, or where all are 0, what the duals can make."""
        size = float(np.abs(self.rows.targets).max())
        if size == 0.0:
            power = float(np.einsum("ij,ij->", self.all_columns, self.all_columns))
            size = power / self.n_samples * float(self.rows.caps.sum())
        return size if size > 0.0 else 1.0


@dataclass(frozen=True)
class _Candidate:
    """Duals, the coefficients they name, and how far the two are apart."""

    x: FloatArray  # (k,)
    offsets: FloatArray  # (p,)
    duals: FloatArray  # (r,)
    gap: float


class Smooth:
    """The problem with its corners rounded off around given duals, and a point of it."""

    def __init__(self, qp: MarginQP) -> None:
        self.qp, self.k = qp, len(qp.x)
        self.unit, self.mass = qp.unit(), float(qp.rows.caps.sum())
        p = len(qp.offset_values)
        weak = _PROXIMAL * self.mass / self.unit
        self.curvature = np.concatenate([np.ones(self.k), np.full(p, weak)])
        self.stiff = np.concatenate([np.ones(self.k), np.full(p, self.mass / self.unit)])
        self.prices = np.concatenate([np.zeros(self.k), qp.offset_prices])
        self.bounded = qp.bounded
        self.v = np.concatenate([qp.x, qp.offset_values])
        self.w = qp.duals
        self.refresh()
        self.pull = np.where(self.bounded, np.maximum(self.prices - self.edges, 0.0), 0.0)

    def refresh(self) -> None:
        """Compute afresh what the steps only update."""
        self.reached = self.qp.margins(self.v[: self.k], self.v[self.k :])
        self.edges = self.qp.edges(self.w)

    def renew(self, sharpness: float) -> None:
        """Take what was found as the duals to round off around."""
        self.sharpness = sharpness / self.unit
        self.stiffness = np.where(self.bounded, _STIFF * sharpness, 0.0) * self.stiff
        self.duals, self.multipliers = self.w, self.pull
        self.center = np.concatenate([np.zeros(self.k), self.v[self.k :]])
        self._look()

    def _slopes(self, v: FloatArray, reached: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of the rounded hinges and of the rounded bounds."""
        rows = self.qp.rows
        share = self.duals / rows.caps + self.sharpness * (rows.targets - reached)
        pull = np.maximum(self.multipliers - self.stiffness * v, 0.0)
        return rows.caps * np.clip(share, 0.0, 1.0), pull

    def _look(self) -> None:
        """Slopes, sets and gradient at the point."""
        w, self.pull = self._slopes(self.v, self.reached)
        self.edges = self.edges + self.qp.edges(w - self.w)
        self.w = w
        self.inside = (w > 0.0) & (w < self.qp.rows.caps)
        self.binding = self.pull > 0.0
        self.residual = (
            self.edges + self.pull - self.prices - self.curvature * (self.v - self.center)
        )

    def candidate(self) -> _Candidate:
        """The duals w as a solution, with the certificate at the head of this file."""
        qp, k = self.qp, self.k
        v = np.where(self.bounded, np.maximum(self.v, 0.0), self.v)
        x, offsets = v[:k], v[k:]
        reached = qp.margins(x, offsets) if self.bounded.any() else self.reached
        slack = np.maximum(qp.rows.targets - reached, 0.0)
        primal = 0.5 * float(x @ x) + float(self.prices @ v) + float(qp.rows.caps @ slack)
        charged = np.where(self.bounded, np.maximum(self.edges, 0.0), self.edges)[:k]
        dual = float(qp.rows.targets @ self.w) - 0.5 * float(charged @ charged)
        excess = self.edges[k:] - qp.offset_prices
        missed = np.where(qp.offset_bounded, np.maximum(excess, 0.0), np.abs(excess))
        gap = primal - dual + float(missed @ (np.abs(offsets) + self.unit))
        size = max(abs(primal), abs(dual), _ROUNDING * self.mass * self.unit)
        return _Candidate(x, offsets, self.w, gap / size)

    def minimise(self, ends: float) -> int:
        """Newton steps until they promise little against the move of the duals; their number."""
        caps, small = self.qp.rows.caps, _EPS * self.mass * self.unit
        last = np.inf
        for step in range(1, _STEPS + 1):
            if time.monotonic() > ends:
                raise OutOfTimeError("max_seconds reached inside the quadratic program")
            dv = self._direction()
            promise = float(self.residual @ dv)
            moved = float(np.sum((self.w - self.duals) ** 2 / caps)) / self.sharpness
            stuck = promise < small and promise > 0.1 * last  # rounding
            if not promise > _INNER * moved or stuck:
                return step
            last = promise
            ahead = self.qp.margins(dv[: self.k], dv[self.k :])
            length = self._search(dv, ahead, promise)
            self.v = self.v + length * dv
            self.reached = self.reached + length * ahead
            inside, binding = self.inside, self.binding
            self._look()
            same = np.array_equal(inside, self.inside) and np.array_equal(binding, self.binding)
            if length == 1.0 and same:
                return step  # quadratic between the two points: this is the minimum
        return _STEPS

    def _direction(self) -> FloatArray:
        """The Newton step, in the space of the rows inside or in that of the variables."""
        qp, k = self.qp, self.k
        inner = np.flatnonzero(self.inside)
        curvature = self.curvature + self.stiffness * self.binding
        G, offsets = qp.some_rows(inner), qp.offsets[inner]
        D = 1.0 / (self.sharpness * qp.rows.caps[inner])
        if len(inner) > k:
            A = np.hstack([G, offsets]) / np.sqrt(D)[:, None]
            return _solve(_gram(A.T), curvature, self.residual)
        T = 1.0 / curvature[:k]
        pulled = T * self.residual[:k]
        rows = G * np.sqrt(T) if self.binding[:k].any() else G
        found = _solve(_gram(rows), D, np.column_stack([-(G @ pulled), offsets]))
        plain, along = found[:, 0], found[:, 1:]
        border = offsets.T @ along + np.diag(curvature[k:])
        do = np.linalg.solve(border, offsets.T @ plain + self.residual[k:])
        dw = plain - along @ do
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


def _offsets(rows: MarginData) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Variables outside the penalty, a free bias and the level: columns, prices, bounds."""
    parts: list[tuple[FloatArray, float, bool]] = []
    if rows.intercept == "free":
        parts.append((rows.signs, 0.0, False))
    if rows.level is not None:
        sign, price = rows.level
        parts.append((np.full(len(rows.caps), sign), price, True))
    matrix = np.zeros((len(rows.caps), len(parts)))
    for place, part in enumerate(parts):
        matrix[:, place] = part[0]
    return matrix, np.array([p[1] for p in parts]), np.array([p[2] for p in parts], dtype=bool)


def _gram(rows: FloatArray) -> FloatArray:
    """`rows rows'`, its lower triangle."""
    if not rows.size:
        return np.zeros((len(rows), len(rows)))
    product: FloatArray = blas.dsyrk(1.0, rows.T, trans=1, lower=1)
    return product


def _solve(gram: FloatArray, diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with `gram + diag(diagonal)`, the latter lifted above rounding."""
    place = np.diag_indices(len(gram))
    gram[place] += np.maximum(diagonal, _JITTER * np.max(gram[place], initial=0.0))
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    solved: FloatArray = cho_solve(factor, right, check_finite=False)
    return solved
