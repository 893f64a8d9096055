"""Settings of the KernelBoost estimators: solvers, and libraries beside lists of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kboost._rules import BOOLEAN, COUNT, FRACTION, POSITIVE, Rule, check_params, either, one_of
from kboost.settings.early_stopping import EARLY_STOPPING, EarlyStopping


def _are_bounds(value: Any) -> bool:
    return value is None or (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(map(POSITIVE.holds, value))
        and 1e-100 <= value[0] < value[1] <= 1e100  # their squares must be finite and positive
    )


_BOUNDS = Rule("two rising widths between 1e-100 and 1e100, or None", _are_bounds)
_STEPS = {
    "columns_per_step": either(COUNT, "auto"),
    "early_stopping": EARLY_STOPPING,
    "memory_budget": COUNT,
}


@dataclass(frozen=True)
class ColumnGeneration:
    """Column generation with exact solves: ``solver="cg"`` of the KernelBoost estimators.

    Parameters
    ----------
    pricing : {"scan", "stratified"}, default="scan"
        How columns are searched: all of them in every step, or kernel by kernel in the order
        given, first at the points in error (Algorithm 5.1 of CG-Boost).
    columns_per_step : int or "auto", default="auto"
        Number of columns added before the coefficients are solved for again.
    stop_at_errors : bool, default=False
        Whether to stop when no column centred at a point in error has a price above `tol` (TR1).
    early_stopping : float, EarlyStopping or None, default=None
        Rows to hold out, and when to stop by their error (TR3).
    memory_budget : int, default=2**30
        Bytes for blocks of kernel values.

    Examples
    --------
    >>> from kboost import KernelBoostClassifier
    >>> from kboost.settings import ColumnGeneration
    >>> KernelBoostClassifier(solver=ColumnGeneration(pricing="stratified")).solver.pricing
    'stratified'
    """

    pricing: str = "scan"
    columns_per_step: int | str = "auto"
    stop_at_errors: bool = False
    early_stopping: float | EarlyStopping | None = None
    memory_budget: int = 2**30

    def __post_init__(self) -> None:
        rules = {"pricing": one_of("scan", "stratified"), "stop_at_errors": BOOLEAN}
        check_params(vars(self), rules | _STEPS)


@dataclass(frozen=True)
class Barrier:
    """The barrier method of sparse regression ensembles: ``solver="barrier"``.

    The coefficients follow a barrier whose parameter falls from step to step; the last solution is
    a vertex of the linear program.

    Parameters
    ----------
    columns_per_step : int or "auto", default="auto"
        Number of columns added before the coefficients are solved for again.
    early_stopping : float, EarlyStopping or None, default=None
        Rows to hold out, and when to stop by their error.
    memory_budget : int, default=2**30
        Bytes for blocks of kernel values.

    Examples
    --------
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.settings import Barrier
    >>> KernelBoostRegressor(solver=Barrier(columns_per_step=10)).solver
    Barrier(columns_per_step=10, early_stopping=None, memory_budget=1073741824)
    """

    columns_per_step: int | str = "auto"
    early_stopping: float | EarlyStopping | None = None
    memory_budget: int = 2**30

    def __post_init__(self) -> None:
        check_params(vars(self), _STEPS)


@dataclass(frozen=True)
class ActiveGaussians:
    """Gaussians whose centres and widths are optimised: ``kernels="active"`` of the regressor.

    The library is infinite, so `dual_gap_` is relative to the columns that the search found.

    Parameters
    ----------
    kernels : "auto" or list of Gaussians, default="auto"
        Where the search starts: these Gaussians at the training rows; "auto" is five widths on
        standardised features.
    width_bounds : tuple of two floats or None, default=None
        Interval of the widths (standard deviations of the Gaussians). None: from 1.5 times below
        the smallest width in `kernels` to 1.5 times above the largest.

    Examples
    --------
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.settings import ActiveGaussians
    >>> KernelBoostRegressor(ActiveGaussians(width_bounds=(0.1, 2.0))).kernels.width_bounds
    (0.1, 2.0)
    """

    kernels: Any = "auto"
    width_bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_params(vars(self), {"width_bounds": _BOUNDS})
        if isinstance(self.kernels, str) and self.kernels != "auto":
            raise ValueError(
                f"kernels must be 'auto' or a list of Gaussians; got kernels={self.kernels!r}."
            )


@dataclass(frozen=True)
class Halfspaces:
    """Halfspaces ``[w.x > cut]`` with few features each: ``kernels="halfspaces"``.

    They suit tables of few rows and many features. The library is infinite, so `dual_gap_` is
    relative to the columns that the search found.

    Parameters
    ----------
    sparsity : float, default=0.7
        In (0, 1); the nearer to 1, the fewer features per halfspace.

    Examples
    --------
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.settings import Halfspaces
    >>> KernelBoostRegressor(Halfspaces(sparsity=0.9)).kernels
    Halfspaces(sparsity=0.9)
    """

    sparsity: float = 0.7

    def __post_init__(self) -> None:
        check_params(vars(self), {"sparsity": FRACTION})


@dataclass(frozen=True)
class Quantile:
    """Quantile regression: ``epsilon=Quantile(0.9)`` of :class:`kboost.KernelBoostRegressor`.

    There is no tube. An error costs ``C * quantile`` per unit where the function is too low, and
    ``C * (1 - quantile)`` where it is too high, so that it has this share of the targets below it.

    Parameters
    ----------
    quantile : float, default=0.5
        In (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.settings import Quantile
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = X[:, 0] * np.random.default_rng(0).normal(size=200)
    >>> upper = KernelBoostRegressor(C=1.0, epsilon=Quantile(0.9)).fit(X, y)
    >>> float((y <= upper.predict(X)).mean().round(1))
    0.9
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        check_params(vars(self), {"quantile": FRACTION})
