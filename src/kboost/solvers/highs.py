"""A linear program that grows, kept warm in HiGHS.

    minimise    cost' x
    subject to  row_lower <= A x <= row_upper
                lower <= x <= upper

Rows or columns are appended to the model and `solve` starts from the last basis: after new rows
with the dual simplex method, after new columns with the primal one. HiGHS calls a function of
Python at every pivot, which costs nothing that can be measured: Ctrl-C is heard there and ends the
run at once; the model is of no use after that. No other file uses highspy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.exceptions import OutOfTimeError, SolverError

INFINITY = float(highspy.kHighsInf)
_PIVOTS, _PIVOTS_LEAST = 10, 2000  # limit of pivots: per row and variable, plus a constant
_FEASIBILITY = 1e-9  # default 1e-7; the duals give a certificate of 1e-6


@dataclass(frozen=True)
class LPSolution:
    """An optimal vertex: primal values, row multipliers and the objective."""

    values: FloatArray  # (n_variables,)
    row_duals: FloatArray  # (n_rows,), cost - A' row_duals are the reduced costs
    objective: float
    pivots: int


class GrowingLP:
    """A linear program with its last basis."""

    def __init__(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {
            "output_flag": False,
            "solver": "simplex",
            "presolve": "off",  # it discards the basis and uses absolute tolerances
            "primal_feasibility_tolerance": _FEASIBILITY,
            "dual_feasibility_tolerance": _FEASIBILITY,
        }
        for name, value in options.items():
            self._model.setOptionValue(name, value)
        self._model.cbSimplexInterrupt.subscribe(lambda event: _hear())
        self._append_variables(cost, lower, upper)

    @property
    def n_rows(self) -> int:
        return int(self._model.getNumRow())

    @property
    def n_variables(self) -> int:
        return int(self._model.getNumCol())

    def add_rows(self, block: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        """Append dense rows; `block` is (n_new, n_variables)."""
        starts, indices, values = _packed(block)
        _accepted(
            self._model.addRows(len(block), lower, upper, len(values), starts, indices, values)
        )

    def add_variables(
        self, block: FloatArray, cost: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Append dense columns; `block` is (n_rows, n_new)."""
        starts, indices, values = _packed(block.T)
        _accepted(
            self._model.addCols(len(cost), cost, lower, upper, len(values), starts, indices, values)
        )

    def delete_rows(self, places: IntArray) -> None:
        """Remove rows that do not bind; the basis of the others is kept."""
        basis = self._model.getBasis()
        kept = np.delete(np.arange(self.n_rows), places)
        statuses = list(basis.row_status)
        basis.row_status = [statuses[i] for i in kept.tolist()]
        _accepted(self._model.deleteRows(len(places), places.astype(np.int32)))
        basis.valid, basis.alien = True, True  # HiGHS repairs it if a row was binding
        _accepted(self._model.setBasis(basis))

    def set_upper(self, upper: FloatArray) -> None:
        """Change the upper bounds of the first variables; the basis is kept."""
        size = len(upper)
        self._model.changeColsBounds(
            size, np.arange(size, dtype=np.int32), np.zeros(size), np.asarray(upper)
        )

    def set_row_upper(self, row: int, upper: float) -> None:
        """Change the upper bound of a row without a lower one."""
        self._model.changeRowBounds(row, -INFINITY, upper)

    def set_cost(self, cost: FloatArray) -> None:
        """Change the cost of the first variables; the basis is kept."""
        size = len(cost)
        self._model.changeColsCost(size, np.arange(size, dtype=np.int32), cost)

    def start_from(self, variables: IntArray, rows: IntArray) -> None:
        """Start the next solve from a basis: 0 basic, -1 at the lower, +1 at the upper bound.

        The number of basic entries must be that of the rows; HiGHS repairs a singular basis.
        """
        kinds = highspy.HighsBasisStatus
        named = {0: kinds.kBasic, -1: kinds.kLower, 1: kinds.kUpper}
        basis = highspy.HighsBasis()
        basis.col_status = [named[int(s)] for s in variables]
        basis.row_status = [named[int(s)] for s in rows]
        basis.valid, basis.alien = True, True
        _accepted(self._model.setBasis(basis))

    def solve(self, seconds: float = INFINITY) -> LPSolution:
        """Re-solve from the last basis; one retry from scratch, then `SolverError`."""
        self._model.setOptionValue("time_limit", float(self._model.getRunTime() + seconds))
        pivots = _PIVOTS * (self.n_rows + self.n_variables) + _PIVOTS_LEAST
        self._model.setOptionValue("simplex_iteration_limit", pivots)
        for attempt in range(2):
            if attempt:
                self._model.clearSolver()
            self._model.run()
            status = self._model.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                return self._solution()
            if status == highspy.HighsModelStatus.kTimeLimit and seconds < INFINITY:
                raise OutOfTimeError(f"the linear program was not solved within {seconds:.3g} s.")
        raise SolverError(
            f"HiGHS ended twice with status '{self._model.modelStatusToString(status)}' on a "
            f"linear program of {self.n_rows} rows and {self.n_variables} variables."
        )

    def _append_variables(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        self._model.addVars(len(cost), lower, upper)
        self.set_cost(cost)

    def _solution(self) -> LPSolution:
        solution, info = self._model.getSolution(), self._model.getInfo()
        return LPSolution(
            values=np.array(solution.col_value, dtype=np.float64),
            row_duals=np.array(solution.row_dual, dtype=np.float64),
            objective=float(info.objective_function_value),
            pivots=int(info.simplex_iteration_count),
        )


def _hear() -> None:
    """Do nothing; Python handles signals that have arrived when it runs any function."""


def _accepted(status: Any) -> None:
    """Raise if HiGHS rejected a block: one entry of 1e15 or more is enough."""
    if status == highspy.HighsStatus.kError:
        raise SolverError(
            "HiGHS rejected rows or columns of the linear program: entries must be smaller "
            "than 1e15; scale the features or the columns."
        )


def _packed(block: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """The rows of a dense block as sparse vectors without zeros."""
    kept = block != 0.0
    lengths = kept.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int32)
    indices = np.nonzero(kept)[1].astype(np.int32)
    return starts, indices, np.ascontiguousarray(block[kept], dtype=np.float64)
