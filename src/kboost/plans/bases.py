"""The base learners of a mixture: the library of columns, the search in it, the attributes shown.

KernelColumns       kernels at training rows: a finite library, searched completely
ActiveColumns       Gaussians with free centres and widths (SRE): an infinite library
HalfspaceColumns    halfspaces with sparse normals (SRE): an infinite library
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from kboost.columns.active import ActiveLibrary, ActivePart
from kboost.columns.halfspaces import HalfspacePart, HalfspaceSpace, features_used
from kboost.columns.library import KernelLibrary
from kboost.core.protocols import PathOracle
from kboost.data.merged_rows import MergedRows
from kboost.kernels.base import Kernel
from kboost.kernels.stationary import Gaussian
from kboost.kernels.transforms import Ranks
from kboost.oracles.active import ActiveOracle
from kboost.oracles.halfspaces import HalfspaceOracle
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle

Resolve: TypeAlias = Callable[[Any], Sequence[Kernel]]

# Columns of one step may correlate up to this; a 2-norm optimum takes all columns in the end.
MAX_CORRELATION = {"l1": 0.95, "l2": 1.0}

_WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # of gamma, relative to the mean rule
_NEAR = 0.05  # of the columns are priced between two scans of a large library
_LEAST_PRICE = 0.3  # of tol: columns of a lower price slow the solves and gain nothing
_LEAST_HALFSPACE_PRICE = 2.0  # of tol: the gap ends a fit too, at prices a little above it
_LEAST_PER_STEP = 250  # columns: all centres move a little in each step
_BEYOND = 1.5  # factor by which widths may leave the interval of those to start from


class EmptyLibrary:
    """The library for which there was no time."""

    kernels: tuple[Kernel, ...] = ()
    n_columns = n_centers = 0
    is_nonnegative = False

    def __init__(self, rows: MergedRows) -> None:
        self.n_rows, self.centers = len(rows.weight), rows.X[:0]


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search: columns per step and in total, tolerance, order of the search."""

    columns_per_step: int
    is_default: bool  # whether `columns_per_step` was "auto"
    max_columns: int | None
    tol: float
    penalty: str
    free_intercept: bool
    stratified: bool = False
    stop_at_errors: bool = False
    first: tuple[int, ...] = ()  # columns that come before others
    growth: float = 0.0  # columns per step, as a share of those in use, if that is more


@dataclass(frozen=True)
class KernelColumns:
    """Kernels at training rows; `kernels` as the user gave them."""

    kernels: Any = "auto"
    exact_steps: ClassVar[bool] = False  # few columns per step: simplex is the best solver
    interior_options: ClassVar[Mapping[str, Any]] = {}  # of the interior LP master

    def library(self, rows: MergedRows, resolve: Resolve, options: dict[str, Any]) -> Any:
        """The columns to search; `options` are those of a library."""
        return KernelLibrary(resolve(self.kernels), rows.X, **options)

    def empty_library(self, rows: MergedRows) -> Any:
        """No columns: there was no time for one."""
        return EmptyLibrary(rows)

    def oracle(self, limits: SearchLimits) -> PathOracle:
        """The search of a fit."""
        if limits.stratified:
            return StratifiedOracle(
                limits.columns_per_step, limits.max_columns, limits.tol, limits.stop_at_errors
            )
        return ScanOracle(
            limits.columns_per_step,
            limits.max_columns,
            MAX_CORRELATION[limits.penalty],
            limits.first,
            near=_NEAR if limits.is_default and limits.max_columns is None else 0.0,
        )

    def path_oracle(self, limits: SearchLimits) -> PathOracle:
        """The search on a path that chooses C."""
        return ScanOracle(
            limits.columns_per_step,
            max_correlation=MAX_CORRELATION[limits.penalty],
            growth=limits.growth,
            near=_NEAR if limits.is_default else 0.0,
        )

    def attributes(self, parts: Sequence[Any], n_features: int) -> dict[str, Any] | None:
        """Fitted attributes of the columns; None where the kernels of the parts show them."""
        return None


@dataclass(frozen=True)
class ActiveColumns(KernelColumns):
    """Gaussians whose centres and widths are free; see settings.ActiveGaussians."""

    width_bounds: tuple[float, float] | None = None
    # Active columns gather around the peaks of the search and hardly differ in their edges.
    interior_options: ClassVar[Mapping[str, Any]] = {
        "inactive_edge": 0.97,
        "inactive_coef": 1e-2,
        "gap_fraction": 0.5,
        "resume_gap": 1.0,
        "inactive_gap_factor": 2.0,
        "crossover_gap": 1e-5,
        "patience": 30,
    }

    def library(self, rows: MergedRows, resolve: Resolve, options: dict[str, Any]) -> Any:
        if isinstance(self.kernels, str):  # "auto"
            (mean,) = cast(Sequence[Gaussian], resolve([Gaussian("mean", on="standard")]))
            kernels: Sequence[Kernel] = [Gaussian(f * mean.gamma, on=mean.on) for f in _WIDTHS]
        else:
            kernels = resolve(self.kernels)
            _check_gaussians(kernels)
        gaussians = cast(Sequence[Gaussian], kernels)
        bounds = self.width_bounds
        if bounds is None:
            widths = [1 / np.sqrt(2 * kernel.gamma) for kernel in gaussians]
            bounds = min(widths) / _BEYOND, max(widths) * _BEYOND
        return ActiveLibrary(gaussians, rows.X, width_bounds=bounds, **options)

    def oracle(self, limits: SearchLimits) -> PathOracle:
        per_step = limits.columns_per_step
        if limits.is_default and limits.max_columns is None:
            per_step = max(per_step, _LEAST_PER_STEP)
        return ActiveOracle(per_step, limits.max_columns, least=_LEAST_PRICE * limits.tol)

    def attributes(self, parts: Sequence[ActivePart], n_features: int) -> dict[str, Any]:
        return {
            "columns_per_kernel_": {"active Gaussian": sum(len(part.widths) for part in parts)},
            "centers_": np.concatenate([np.zeros((0, n_features)), *(p.centers for p in parts)]),
            "widths_": np.concatenate([np.zeros(0), *(p.widths for p in parts)]),
        }


@dataclass(frozen=True)
class HalfspaceColumns(KernelColumns):
    """Halfspaces with sparse normals; see settings.Halfspaces."""

    sparsity: float = 0.7
    exact_steps: ClassVar[bool] = True

    def library(self, rows: MergedRows, resolve: Resolve, options: dict[str, Any]) -> Any:
        return HalfspaceSpace(rows.X, rows.weight, options["scaling"])

    def oracle(self, limits: SearchLimits) -> PathOracle:
        one_column = limits.columns_per_step == 1 and not limits.is_default
        both_sides = not limits.free_intercept and not one_column
        least = _LEAST_HALFSPACE_PRICE * limits.tol
        return HalfspaceOracle(self.sparsity, both_sides, limits.max_columns, least)

    def path_oracle(self, limits: SearchLimits) -> PathOracle:
        return self.oracle(limits)

    def attributes(self, parts: Sequence[HalfspacePart], n_features: int) -> dict[str, Any]:
        directions = np.concatenate([np.zeros((0, n_features)), *(p.directions for p in parts)])
        return {
            "columns_per_kernel_": {"halfspaces": sum(len(part.cuts) for part in parts)},
            "directions_": directions,
            "cuts_": np.concatenate([np.zeros(0), *(p.cuts for p in parts)]),
            "selected_features_": features_used(directions),
        }


def _check_gaussians(kernels: Sequence[Kernel]) -> None:
    for kernel in kernels:
        if not (
            isinstance(kernel, Gaussian)
            and kernel.columns is None
            and not isinstance(kernel.on, Ranks)
            and kernel.on == cast(Gaussian, kernels[0]).on
        ):
            raise ValueError(
                "kernels of ActiveGaussians must be Gaussians on all features with one linear "
                f"`on`; got {kernel!r}."
            )
