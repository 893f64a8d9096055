"""Oracle, master and stop rules of a margin problem, from the parameters of an estimator.

penalty    master of a fit
l1         simplex where each step counts (early stops, few columns) or is cheap (few rows);
otherwise an interior-point method, and simplex for the vertex at the end
l1, nu     simplex on the nu problem
l2         the dual QP
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from kboost._typing import IntArray
from kboost.core.protocols import EdgePricer, Master, Oracle, PathMaster, PathOracle
from kboost.core.stopping import (
    AnyOf,
    ErrorPriceBelow,
    GapBelow,
    MaxColumns,
    MaxIterations,
    PriceBelow,
    StopRule,
    ValidationStall,
)
from kboost.masters.barrier import BarrierMaster
from kboost.masters.interior_point import InteriorLPMaster
from kboost.masters.lp import LPMaster
from kboost.masters.nu_lp import NuLPMaster
from kboost.masters.qp import QPMaster
from kboost.plans.bases import KernelColumns, SearchLimits
from kboost.solvers.margin_lp import Intercept

PATH_TOL, PATH_STEPS = 0.05, 60  # tolerance and most steps of each C on a path that chooses C
PATH_GROWTH = 0.5  # columns per step of a rough path, of those in use
FEW_COLUMNS = 3  # early stopping waits for so many
FEW_ROWS = 200  # up to here simplex from the start is as fast


class Parts(Protocol):
    """The parts of a fit; the library has been made when they are asked for."""

    def oracle(self, library: Any) -> Oracle[Any]: ...

    def master(self, library: Any, *, monitored: bool) -> Master[Any]: ...

    def stop(self, *, monitored: bool) -> StopRule: ...


class PathParts(Protocol):
    """The parts of a path that chooses C: a loose solution at each C is enough."""

    def path_oracle(self, library: Any) -> PathOracle: ...

    def path_master(self, library: Any) -> PathMaster: ...

    def path_stop(self) -> StopRule: ...


@dataclass(frozen=True)
class MarginParts:
    """The parts that the parameters of an estimator stand for; see the head of this file."""

    base: KernelColumns
    penalty: str = "l1"
    nonnegative: bool = False
    intercept: Intercept = "free"
    tol: float = 1e-4
    max_columns: int | None = None
    max_iter: int = 1000
    columns_per_step: int | str = "auto"
    pricing: str = "scan"
    stop_at_errors: bool = False
    n_iter_no_change: int = 5
    barrier: bool = False
    nu: float | None = None  # of a nu-SVM
    rough_path: bool = False  # whether C is chosen by larger steps and looser solutions
    needs_both_signs: bool = False  # a classifier whose decisions are all positive is useless

    def oracle(self, library: Any) -> PathOracle:
        """The search of a fit."""
        return self.base.oracle(self._limits(library, self.tol))

    def path_oracle(self, library: Any) -> PathOracle:
        """The search of a path that chooses C."""
        limits = self._limits(library, PATH_TOL)
        if self.rough_path and limits.is_default:
            limits = replace(limits, growth=PATH_GROWTH)
        return self.base.path_oracle(limits)

    def master(self, library: Any, *, monitored: bool) -> Master[EdgePricer]:
        """The master of a fit; `monitored` if an early step may be kept."""
        self._check_signs(library)
        if self.barrier:
            return BarrierMaster(self.nonnegative, self.intercept, tol=self.tol, basic=monitored)
        if self.penalty == "l2":
            return QPMaster(self.nonnegative, self.intercept)
        if self.nu is not None:
            return NuLPMaster(self.nu, self.nonnegative, free_bias=self.intercept == "free")
        if monitored or self.stops_early:
            return LPMaster(self.nonnegative, self.intercept)
        return self._optimum_master(library)

    @property
    def takes_first_columns(self) -> bool:
        """Whether a fit may start from many columns at once, those of a pilot."""
        return (
            type(self.base) is KernelColumns
            and self.penalty == "l1"
            and self.nu is None
            and self.columns_per_step == "auto"
            and not self.barrier
            and not self.stops_early
        )

    def solver(self, *, monitored: bool) -> str:
        """What solves for the coefficients, as far as memory is concerned."""
        if self.penalty == "l2":
            return "l2"
        exact = monitored or self.stops_early or self.nu is not None or self.barrier
        return "simplex" if exact or self.base.exact_steps else "interior point"

    @property
    def stops_early(self) -> bool:
        """Whether the models of early steps may be kept."""
        return self.max_columns is not None or self.pricing == "stratified" or self.stop_at_errors

    def from_columns(
        self, library: Any, first: IntArray, *, loose: bool
    ) -> tuple[PathOracle, PathMaster, StopRule]:
        """The parts of a fit that begins with the columns `first`, at the full C."""
        self._check_signs(library)
        limits = self._limits(library, PATH_TOL if loose else self.tol, tuple(first.tolist()))
        master = self._optimum_master(library, at_full_cost=bool(len(first)))
        enough = MaxIterations(self.max_iter)
        stop = AnyOf((self.path_stop(), enough)) if loose else self.stop(monitored=False)
        return self.base.oracle(limits), master, stop

    def path_master(self, library: Any) -> PathMaster:
        """The master of a path that chooses C."""
        if self.rough_path:
            return self._optimum_master(library, gap_fraction=0.3, crossover_gap=0.0)
        return self._optimum_master(library, path_gap=PATH_TOL / 2)

    def stop(self, *, monitored: bool) -> StopRule:
        """The stop rules of a fit."""
        rules: list[StopRule] = [PriceBelow(self.tol), GapBelow(self.tol)]
        if self.stop_at_errors:
            rules.append(ErrorPriceBelow(self.tol))
        if monitored:
            rules.append(ValidationStall(self.n_iter_no_change, self._least_columns))
        if self.max_columns is not None:
            rules.append(MaxColumns(self.max_columns))
        rules.append(MaxIterations(self.max_iter))
        return AnyOf(tuple(rules))

    @property
    def _least_columns(self) -> int:
        """Columns from which early stopping counts its steps."""
        return FEW_COLUMNS if self.max_columns is None else min(FEW_COLUMNS, self.max_columns)

    def path_stop(self) -> StopRule:
        """The stop rules at each C of a path that chooses C."""
        return AnyOf((PriceBelow(PATH_TOL), GapBelow(PATH_TOL), MaxIterations(PATH_STEPS)))

    def _optimum_master(self, library: Any, **options: Any) -> PathMaster:
        """The master that reaches the optimum, or follows a path of C, with least work."""
        if self.penalty == "l2":
            return QPMaster(self.nonnegative, self.intercept)
        if library.n_rows <= FEW_ROWS or self.base.exact_steps:
            return LPMaster(self.nonnegative, self.intercept)
        options = {**self.base.interior_options, **options}
        return InteriorLPMaster(self.nonnegative, self.intercept, **options)

    def _limits(self, library: Any, tol: float, first: tuple[int, ...] = ()) -> SearchLimits:
        is_default = isinstance(self.columns_per_step, str)
        per_step = self._default_step(library.n_rows) if is_default else self.columns_per_step
        return SearchLimits(
            columns_per_step=cast(int, per_step),
            is_default=is_default,
            max_columns=self.max_columns,
            tol=tol,
            penalty=self.penalty,
            free_intercept=self.intercept == "free",
            stratified=self.pricing == "stratified",
            stop_at_errors=self.stop_at_errors,
            first=first,
        )

    def _default_step(self, n_rows: int) -> int:
        """Columns per step: many save solves, few make a small model better."""
        limit = n_rows // 20 if self.max_columns is None else self.max_columns // 10
        # A stratified search takes all columns of a step from one kernel: they are more alike.
        most = 10 if self.pricing == "stratified" else 50
        return int(np.clip(min(limit, n_rows // 20), 1, most))

    def _check_signs(self, library: Any) -> None:
        if (
            self.needs_both_signs
            and self.nonnegative
            and self.intercept == "none"
            and library.is_nonnegative
        ):
            raise ValueError(
                "nonnegative must be False, or intercept not 'none', where all kernels are "
                "positive: the model could predict one class only; got nonnegative=True and "
                "intercept='none'."
            )
