"""The margin QP: a 2-norm penalty, linear slacks, and columns that are added over time.

Primal, r rows, k columns (`g_ij = sign_i h_ij`), offsets o outside the penalty (a free bias, the
margin width), a penalised bias as one more column of ones with a free sign:

    minimise    1/2 |x|^2 + price'o + sum_i upper_i slack_i
    subject to  G x + O o + slack >= target,   slack >= 0   [x >= 0]   [width >= 0]

Dual, and the primal solution from it:

    maximise    target'u - 1/2 |G'u|^2      (nonnegative x: the positive part of G'u)
    subject to  0 <= u <= upper,   O'u = price     (width: <=)
    x = G'u,  or its positive part

Certificate: for feasible u, any x and o,

    gap = 1/2 |x|^2 + price'o + upper'slack - target'u + 1/2 |G'u|^2   >=   objective - optimum.

Few rows have a dual strictly inside its box (84 of 1000 on Forest at the optimum), and only these
need to enter a linear system. So this is not an interior-point method, whose systems contain all
rows or all columns, but the method of multipliers: around given duals the problem is smoothed, the
smooth problem is solved by Newton steps on the rows inside (smoothed_qp.py), and its slopes are the
next duals. The smoothing gets sharper until the gap is closed; the sets become constant after a few
steps, and then a step is exact. A warm start keeps u, x and o when columns are added; if there are
more columns than rows, products of rows are kept and only those of new columns are added.

A column far from 0 that hardly varies (`x.z` of rows far from the origin) is almost the bias. If
the bias is free, the column is kept with its mean subtracted: `h x + b = (h - m) x + (b + m x)`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.exceptions import SolverError
from kboost.solvers.margin_lp import MarginData
from kboost.solvers.smoothed_qp import Candidate, SmoothedQP

_SHARPNESS = 0.3  # times unit, at a gap of 1; it rises with the inverse root of the gap
_SHARPEN = 2.0  # factor if the gap has not fallen
_SHARPEST = 1e9
_MANY = 1e5  # margin, in units, that a dual as large as its scale gives
_BLUNT, _NEAR, _WORSE = 10, 1e-3, 10.0  # after so many stalls near the end: less sharp again
_STALLS, _FINE = 40, 1e-7  # steps without progress before it ends; 3 below this gap
_MAX_GAP = 1e-6  # of a solution that counts as precise
_FAR = 1e3  # mean of a column, in standard deviations, from which on it is subtracted


@dataclass(frozen=True)
class MarginOptimum:
    """A solution of the margin QP over the columns so far."""

    coef: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (r,)
    margin_width: float
    gap: float  # relative
    steps: int
    precise: bool  # whether the gap is within tolerance

    def checked(self) -> MarginOptimum:
        """Itself; raises SolverError if it is not precise."""
        if self.precise:
            return self
        raise SolverError(
            f"the quadratic program was solved to a relative gap of {self.gap:.1e} only; "
            "scale the features or the columns."
        )


class MarginQP:
    """The columns and the last solution, from which the next solve starts."""

    def __init__(self, rows: MarginData, start: FloatArray, sample: IntArray | None = None) -> None:
        """Duals to start from, (r,); the sample of each row (None: row r is sample r)."""
        self.rows, self.sample = rows, sample
        self.duals = start
        self.n_samples = len(rows.signs) if sample is None else int(sample.max()) + 1
        self.offsets, prices, bounded = _offsets(rows)
        self.offset_prices, self.offset_bounded = prices, bounded
        self.offset_values: FloatArray = np.zeros(len(prices))
        self._buffer = np.empty((self.n_samples, 64))
        self._size = 0
        self._means = np.zeros(0)  # what was subtracted from each column, mostly 0
        self._power = np.zeros(self.n_samples)  # |row of G|^2
        self._products: FloatArray = np.zeros((0, 0))  # H H' of the first `_in_products` columns
        self._in_products, self._worked = 0, 0.0
        self.x: FloatArray = np.zeros(0)
        self._lead = 1 if rows.intercept == "penalized" else 0
        if self._lead:
            self.extend(np.ones((self.n_samples, 1)))

    @property
    def all_columns(self) -> FloatArray:
        """The columns as they are solved for, after the one of a penalised bias, (n, k)."""
        return self._buffer[:, : self._size]

    @property
    def columns(self) -> FloatArray:
        """The columns so far, (n, k)."""
        kept = self.all_columns[:, self._lead :]
        return kept + self._means[self._lead :] if self._means.any() else kept

    @property
    def bounded(self) -> BoolArray:
        """Which variables, offsets last, are nonnegative."""
        columns = np.full(self._size, self.rows.nonnegative)
        columns[: self._lead] = False
        return np.concatenate([columns, self.offset_bounded])

    def extend(self, columns: FloatArray) -> None:
        """Append columns, (n, k_new), without signs."""
        new = columns.shape[1]
        size = self._size + new
        means = _means_far_from_0(columns) if self.rows.intercept == "free" else np.zeros(new)
        self._means = np.concatenate([self._means, means])
        columns = columns - means if means.any() else columns
        if size > self._buffer.shape[1]:
            grown = np.empty((self.n_samples, max(size, 2 * self._buffer.shape[1])))
            grown[:, : self._size] = self.all_columns
            self._buffer = grown
        self._buffer[:, self._size : size] = columns
        self._size = size
        self._power += np.einsum("ij,ij->i", columns, columns)
        self.x = np.concatenate([self.x, np.zeros(new)])

    def scale_slack_costs(self, rows: MarginData) -> None:
        """Change the slack costs; duals keep their share of them."""
        self.duals = self.duals * (rows.upper / self.rows.upper)
        self.rows = rows
        self.offsets, self.offset_prices, self.offset_bounded = _offsets(rows)

    def start_from(self, coef: FloatArray, bias: float) -> None:
        """Start the next solve from these coefficients; a width starts at 0."""
        self.x = np.concatenate([np.full(self._lead, bias), coef])
        self.offset_values = np.zeros(len(self.offset_prices))
        if self.rows.intercept == "free":
            self.offset_values[0] = bias + self._means @ self.x

    def solve(self, seconds: float = np.inf, tol: float = 1e-10) -> MarginOptimum:
        """Go from the last solution to a relative gap of `tol`, or as near as rounding allows."""
        with np.errstate(all="ignore"):
            best, steps = self._close(time.monotonic() + seconds, tol)
        self.x, self.offset_values, self.duals = best.x, best.offsets, best.duals
        return self._optimum(best.gap, steps, best.gap <= max(tol, _MAX_GAP))

    def _close(self, ends: float, tol: float) -> tuple[Candidate, int]:
        """Smooth, minimise, sharpen until the gap is closed; the best solution and the steps."""
        smooth, steps, sharpness = SmoothedQP(self), 0, _SHARPNESS
        best, stalls = smooth.candidate(), 0
        while best.gap > tol and stalls < (_STALLS if best.gap > _FINE else 3):
            smooth.recenter(min(_SHARPEST, sharpness / math.sqrt(min(1.0, best.gap))))
            try:
                steps += smooth.minimise(ends, careful=stalls > 0)
            except LinAlgError:  # overflow: keep the best solution
                break
            now = smooth.candidate()
            stalls = 0 if now.gap < 0.9 * best.gap else stalls + 1
            if now.gap < best.gap:
                best = now
                smooth.save()
            if stalls % (2 * _BLUNT) >= _BLUNT and best.gap < _NEAR:
                if now.gap > _WORSE * best.gap:  # too sharp for the rounding of the margins
                    smooth.restore()
                    sharpness /= _SHARPEN**2
            elif stalls:
                smooth.refresh()
                sharpness *= _SHARPEN
        return best, steps

    def _optimum(self, gap: float, steps: int, precise: bool) -> MarginOptimum:
        offsets = self.offset_values.tolist()
        bias = float(self.x[0]) if self._lead else 0.0
        if self.rows.intercept == "free":
            bias = offsets.pop(0) - float(self._means @ self.x)
        margin_width = offsets.pop(0) if self.rows.margin_width is not None else 0.0
        return MarginOptimum(
            self.x[self._lead :], bias, self.duals, margin_width, gap, steps, precise
        )

    # -- the matrix [G O] ------------------------------------------------------------------------

    def rows_of(self, which: IntArray) -> FloatArray:
        """The rows `which` of G, (len(which), k)."""
        samples = which if self.sample is None else self.sample[which]
        return self.rows.signs[which][:, None] * self.all_columns[samples]

    def products(self, which: IntArray) -> FloatArray | None:
        """`G G'` of the rows `which` from stored products; None while storing costs more.

        They are updated once the work done without them has reached the cost of the update.
        """
        n, missing = self.n_samples, self._size - self._in_products
        self._worked += len(which) ** 2 * self._size
        if self._size <= n or self._worked < n**2 * missing:
            return None
        if not self._products.size:
            self._products = np.zeros((n, n))
        if missing:
            new = self.all_columns[:, self._in_products :]
            self._products += new @ new.T
            self._in_products, self._worked = self._size, 0.0
        samples = which if self.sample is None else self.sample[which]
        signs = self.rows.signs[which]
        block: FloatArray = signs[:, None] * self._products[np.ix_(samples, samples)] * signs
        return block

    def margins(self, x: FloatArray, offsets: FloatArray) -> FloatArray:
        """`G x + O o`, (r,)."""
        values = self.all_columns @ x
        row_values = values if self.sample is None else values[self.sample]
        return self.rows.signs * row_values + self.offsets @ offsets

    def edges(self, duals: FloatArray) -> FloatArray:
        """`[G O]' duals`; rows with dual 0 are skipped if that saves work."""
        which = np.flatnonzero(duals)
        signed: FloatArray = self.rows.signs * duals
        if 3 * len(which) < self.n_samples:
            samples = which if self.sample is None else self.sample[which]
            edges = signed[which] @ self.all_columns[samples]
        else:
            edges = self._at_samples(signed) @ self.all_columns
        return np.concatenate([edges, duals @ self.offsets])

    def _at_samples(self, signed: FloatArray) -> FloatArray:
        """Signed duals of the rows, summed per sample."""
        if self.sample is None:
            return signed
        return np.bincount(self.sample, signed, self.n_samples).astype(np.float64)

    def unit(self) -> float:
        """The scale of margins: that of the targets or, if all are 0, of what the duals give."""
        size = float(np.abs(self.rows.targets).max())
        if size == 0.0:
            size = float(self._power.mean()) * float(self.rows.upper.sum())
        return size if size > 0.0 else 1.0

    def dual_scale(self) -> FloatArray:
        """The scale of duals: their upper bound, or less if that is far beyond reach, (r,)."""
        power = self._power if self.sample is None else self._power[self.sample]
        reachable: FloatArray = _MANY * self.unit() / np.maximum(power, 1e-300)
        return np.minimum(self.rows.upper, reachable)


def _means_far_from_0(columns: FloatArray) -> FloatArray:
    """The mean of each column that is many times its deviation; 0 for the others."""
    means: FloatArray = columns.mean(axis=0)
    return np.where(np.abs(means) > _FAR * columns.std(axis=0), means, 0.0)


def _offsets(rows: MarginData) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Variables outside the penalty, a free bias and the width: columns, costs, bounds."""
    parts: list[tuple[FloatArray, float, bool]] = []
    if rows.intercept == "free":
        parts.append((rows.signs, 0.0, False))
    if rows.margin_width is not None:
        sign, price = rows.margin_width
        parts.append((np.full(len(rows.upper), sign), price, True))
    matrix = np.zeros((len(rows.upper), len(parts)))
    for column, part in enumerate(parts):
        matrix[:, column] = part[0]
    return matrix, np.array([p[1] for p in parts]), np.array([p[2] for p in parts], dtype=bool)
