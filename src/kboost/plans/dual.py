"""Whether a 2-norm problem is solved by column generation or by its n x n dual, and what to say.

The dual over the whole library (masters/gram_dual.py) has one variable per row, whatever the number
of columns m, and its matrix costs n^2 m operations, once for all outputs. Its optimum is dense: all
columns are in the model. Column generation that stops early gives a far smaller model of the same
accuracy on unseen rows (Forest, 1,000 rows, tol=1e-4: 600 of 3,000 columns, and a thirtieth of the
time to predict), so the dual is taken only where the optimum itself is asked for:

    the problem   2-norm, free coefficients and offset, hinge or a tube of fixed width
    the search    of the whole library to the optimum: no limit on columns, no early stop, no order
                  of kernels, no number of columns per step
    accuracy      tol m <= 0.01: prices are shares of the objective, and those of columns left out
                  may sum to tol m; to keep that below a hundredth, generation would take most
                  columns (Forest: 52 percent at 1,000 rows have such a price at the optimum)
    memory        the matrix and what libsvm caches of it fit into the solver's part of the budget
    time          of a limited fit, the matrix takes at most a quarter

Otherwise, and where the dual is not solved to `tol`, columns are generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kboost._typing import FloatArray
from kboost.core.column_generation import GenerationResult
from kboost.core.deadline import Deadline
from kboost.core.protocols import Master, Oracle
from kboost.core.stopping import StopReason
from kboost.formulations import MarginRows
from kboost.masters.gram_dual import GramDualMaster, SharedProducts
from kboost.oracles.whole_library import WholeLibraryOracle
from kboost.plans.margin_parts import MarginParts

MATRIX_BYTES, CACHE_BYTES = 8, 5  # of a pair of rows: the matrix, and the cache of each thread
SOLVER_SHARE = 3 / 8  # of the memory budget; see columns/blocks.py
OPERATIONS = 5e9  # a second, on a slow core
TIME_SHARE = 4
ACCURATE = 0.01  # relative, what the prices of columns left out may sum to
_OPTIMAL = ("tol", "gap", "exhausted")  # stop rules
_SOLVED = " Solved by the dual with one variable per row, for all columns: the optimum is dense."


@dataclass(frozen=True)
class DualParts:
    """Oracle and master of the dual; the matrix is shared by all outputs."""

    oracle: Oracle[Any]
    master: Master[Any]
    products: SharedProducts

    def solved(self, result: GenerationResult) -> bool:
        """Whether the dual gave the optimum, or Ctrl-C or a listener ended it."""
        return result.reason.rule not in ("precision", "max_seconds")

    def products_of(self, result: GenerationResult) -> FloatArray | None:
        """The matrix, if the result is an optimum of the dual."""
        return self.products() if str(result.reason).endswith(_SOLVED) else None

    def named(self, result: GenerationResult) -> GenerationResult:
        """The result, whose reason says how the optimum was found."""
        reason = result.reason
        if reason.rule not in _OPTIMAL:
            return result
        return replace(result, reason=StopReason(reason.rule, reason.message + _SOLVED))


def dual_parts(
    parts: Any,
    library: Any,
    problems: Sequence[Any],
    deadline: Deadline,
    *,
    memory_budget: int,
    n_jobs: int,
    monitored: bool,
) -> DualParts | None:
    """The parts of the dual; None if columns are to be generated."""
    if monitored or not (isinstance(parts, MarginParts) and parts.wants_dense_optimum):
        return None
    if not hasattr(library, "products") or not all(map(_has_dual, problems)):
        return None
    n, m = library.n_rows, library.n_columns
    threads = min(n_jobs, len(problems))
    fits = n**2 * (MATRIX_BYTES + threads * CACHE_BYTES) <= SOLVER_SHARE * memory_budget
    in_time = n**2 * m <= OPERATIONS * deadline.remaining / TIME_SHARE
    if not (m > 0 and parts.tol * m <= ACCURATE and fits and in_time):
        return None
    products = SharedProducts(library)
    master = GramDualMaster(parts.nonnegative, parts.intercept, products=products, tol=parts.tol)
    return DualParts(WholeLibraryOracle(), master, products)


def _has_dual(rows: Any) -> bool:
    return isinstance(rows, MarginRows) and rows.margin_width is None
