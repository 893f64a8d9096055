"""The margin LP: a 1-norm penalty, linear slacks, and columns that are added over time.

Primal, n rows, k columns (`g_ij = sign_i h_ij`; the bias as `intercept` says; the margin width, a
variable >= 0 that all rows share, only if there is one):

    minimise    sum_j |coef_j| [+ |bias|] [+ width_cost width] + sum_i upper_i slack_i
    subject to  sum_j coef_j g_ij + sign_i bias [+ width_sign width] + slack_i >= target_i,
                slack >= 0

Dual, one box variable per row and one range constraint per column:

    maximise    sum_i target_i u_i
    subject to  0 <= u_i <= upper_i
                |sum_i u_i g_ij| <= 1           (nonnegative coef: without the bars)
                sum_i u_i sign_i = 0            (bias free; penalised: |.| <= 1; none: absent)
                width_sign sum_i u_i <= width_cost              (if there is a width)

A basis is as large as the number of LP rows, so there are two forms of the problem:

    ColumnShape: the dual                     SampleShape: the primal
              u_1 ... u_n                              slack | bias+- | coef+-
    bias    [  sign'     ]  = 0                row 1 [  1    | +-sign |  +-g   ] >= target
    col 1   [  g_1'      ]  in [-1, 1]          ...  [    1  |        |         ]
     ...    grows downwards                    row n [      1|    grows to the right

The first has few rows while the model is small; the second is faster if there are fewer samples
than columns to come. Both return coefficients, bias and duals of the same vertex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.solvers.highs import INFINITY, GrowingLP

Intercept = Literal["free", "penalized", "none"]


@dataclass(frozen=True)
class MarginData:
    """The rows of the margin LP."""

    signs: FloatArray  # (n,), +1 or -1
    targets: FloatArray  # (n,)
    upper: FloatArray  # (n,), positive: costs of the slacks, bounds of the duals
    nonnegative: bool
    intercept: Intercept
    margin_width: tuple[float, float] | None = None  # sign and cost


@dataclass(frozen=True)
class MarginVertex:
    """An optimal vertex of the margin LP over the columns so far."""

    coef: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (n,)
    pivots: int
    margin_width: float = 0.0


class MarginLP(Protocol):
    """The interface of both forms."""

    def extend(self, columns: FloatArray) -> None:
        """Append signed columns, (n, k_new)."""

    def scale_slack_costs(self, rows: MarginData) -> None:
        """Change the costs of slack and width; the next solve starts from the last vertex."""

    def solve(self, seconds: float = INFINITY) -> MarginVertex:
        """Solve for the columns so far, starting from the last vertex."""


class ColumnShape:
    """The dual: one LP row per column, one box variable per sample."""

    def __init__(self, rows: MarginData) -> None:
        self._rows = rows
        self._size, self._unit = np.zeros(0), _unit(rows)
        self._lp = GrowingLP(-rows.targets / self._unit, np.zeros_like(rows.upper), rows.upper)
        if rows.intercept != "none":
            width = np.array([0.0 if rows.intercept == "free" else 1.0])
            self._lp.add_rows(rows.signs[None, :], -width, width)
        if rows.margin_width is not None:
            sign, cost = rows.margin_width
            self._lp.add_rows(
                np.full((1, len(rows.upper)), sign), np.array([-INFINITY]), np.array([cost])
            )

    def extend(self, columns: FloatArray) -> None:
        size = _sizes(columns)
        self._size = np.concatenate([self._size, size])
        limit = 1.0 / size
        lower = np.full_like(limit, -INFINITY) if self._rows.nonnegative else -limit
        self._lp.add_rows((columns / size).T, lower, limit)

    def drop(self, positions: IntArray) -> None:
        """Remove columns with coefficient 0; the next solve starts from the last vertex."""
        first = int(self._rows.intercept != "none") + int(self._rows.margin_width is not None)
        self._lp.delete_rows(first + positions)
        self._size = np.delete(self._size, positions)

    def scale_slack_costs(self, rows: MarginData) -> None:
        self._rows = rows
        self._lp.set_upper(rows.upper)
        if rows.margin_width is not None:
            self._lp.set_row_upper(int(rows.intercept != "none"), rows.margin_width[1])

    def start_from_solution(self, coef: FloatArray, duals: FloatArray) -> None:
        """Start the next solve from the basis of a nearly optimal solution.

        Columns with a coefficient bind, and so do bias and width; as many samples on the margin
        (duals inside their box) are basic; the other duals are at the nearer bound.
        """
        rows = self._rows
        bias = [] if rows.intercept == "none" else [-1]
        margin_width = [] if rows.margin_width is None else [1]
        binding = np.concatenate([bias, margin_width, np.sign(coef)]).astype(np.intp)  # at +1 or -1
        share = duals / rows.upper
        on_margin = np.argsort(-np.minimum(share, 1.0 - share), kind="stable")
        samples = np.where(share > 0.5, 1, -1)
        samples[on_margin[: int(np.count_nonzero(binding))]] = 0
        self._lp.start_from(samples, binding)

    def solve(self, seconds: float = INFINITY) -> MarginVertex:
        solution = self._lp.solve(seconds)
        multipliers = (-solution.row_duals * self._unit).tolist()
        bias = multipliers.pop(0) if self._rows.intercept != "none" else 0.0
        margin_width = multipliers.pop(0) if self._rows.margin_width is not None else 0.0
        coef = np.array(multipliers) / self._size
        return MarginVertex(coef, bias, solution.values, solution.pivots, margin_width)


class SampleShape:
    """The primal: one LP row per sample; signed variables are differences of two."""

    def __init__(self, rows: MarginData) -> None:
        self._rows = rows
        self._size, self._unit = np.zeros(0), _unit(rows)
        n = len(rows.upper)
        self._lp = GrowingLP(rows.upper, np.zeros(n), np.full(n, INFINITY))
        self._lp.add_rows(np.eye(n), rows.targets / self._unit, np.full(n, INFINITY))
        if rows.intercept != "none":
            cost = 0.0 if rows.intercept == "free" else 1.0
            self._append(both_signs(rows.signs[:, None]), np.full(2, cost))
        if rows.margin_width is not None:
            self._append(np.full((n, 1), rows.margin_width[0]), np.array([rows.margin_width[1]]))

    def extend(self, columns: FloatArray) -> None:
        size = _sizes(columns)
        self._size = np.concatenate([self._size, size])
        sides: FloatArray = columns / size
        cost = 1.0 / size
        if not self._rows.nonnegative:
            sides, cost = both_signs(sides), np.repeat(cost, 2)
        self._append(sides, cost)

    def scale_slack_costs(self, rows: MarginData) -> None:
        self._rows = rows
        bias = [] if rows.intercept == "none" else [float(rows.intercept == "penalized")] * 2
        margin_width = [] if rows.margin_width is None else [rows.margin_width[1]]
        self._lp.set_cost(np.concatenate([rows.upper, bias, margin_width]))

    def solve(self, seconds: float = INFINITY) -> MarginVertex:
        solution = self._lp.solve(seconds)
        rest, bias, margin_width = self._unit * solution.values[len(self._rows.upper) :], 0.0, 0.0
        if self._rows.intercept != "none":
            bias, rest = float(rest[0] - rest[1]), rest[2:]
        if self._rows.margin_width is not None:
            margin_width, rest = float(rest[0]), rest[1:]
        coef = rest if self._rows.nonnegative else rest[0::2] - rest[1::2]
        return MarginVertex(
            coef / self._size, bias, solution.row_duals, solution.pivots, margin_width
        )

    def _append(self, block: FloatArray, cost: FloatArray) -> None:
        size = block.shape[1]
        self._lp.add_variables(block, cost, np.zeros(size), np.full(size, INFINITY))


def _sizes(columns: FloatArray) -> FloatArray:
    """Scales of columns, as HiGHS has absolute tolerances.

    Only root mean squares outside 1e-3 to 1e3 are scaled: a tolerance on `edge / size` would be a
    loose one on the edge.
    """
    peak = np.abs(columns).max(axis=0, initial=0.0)
    safe = np.where(peak > 0, peak, 1.0)
    size: FloatArray = safe * np.sqrt(np.mean((columns / safe) ** 2, axis=0))
    return np.where(size > 0, size / np.clip(size, 1e-3, 1e3), 1.0)


def _unit(rows: MarginData) -> float:
    """The scale of the targets, and so of the primal variables, for the same reason."""
    peak = float(np.abs(rows.targets).max(initial=0.0))
    return peak / float(np.clip(peak, 1e-3, 1e3)) if peak > 0 else 1.0


def both_signs(block: FloatArray) -> FloatArray:
    """Interleave columns with their negatives: c1, -c1, c2, -c2, ..."""
    return np.stack([block, -block], axis=2).reshape(len(block), -1)
