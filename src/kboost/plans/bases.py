"""The base learners of a regressor that are no list of kernels: each a library with its own search.

A base says what is searched, who searches it, and what the fitted model shows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from kboost.columns.active import ActiveLibrary, ActivePart
from kboost.columns.halfspaces import HalfspacePart, HalfspaceSpace, features_used
from kboost.core.protocols import PathOracle
from kboost.kernels.base import Kernel
from kboost.kernels.stationary import Gaussian
from kboost.kernels.transforms import Ranks
from kboost.oracles.active import ActiveOracle
from kboost.oracles.halfspaces import HalfspaceOracle

Resolve: TypeAlias = Callable[[Any], Sequence[Kernel]]

_WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # of gamma, against the mean rule
_WORTH = 0.3  # of tol: columns of a lower price are no reason to go on, and slow the solves
_ENOUGH = 2.0  # of tol: the gap ends a fit too, at prices a little above it
_PER_STEP = 250  # columns, at least: all places want to move a little at once
_BEYOND = 1.5  # how far widths may go beyond those to start from


class Base(Protocol):
    """A library that is searched in its own way."""

    def library(self, model: Any, rows: Any, resolve: Resolve, options: Any) -> Any:
        """What is searched; `options` are those of a library."""

    def oracle(self, model: Any, per_step: int, tol: float) -> PathOracle:
        """Who searches it, until no column has a price above `tol`."""

    def show(self, parts: Sequence[Any], n_features: int) -> dict[str, Any]:
        """Fitted attributes."""


class Active:
    """Gaussians whose centres and widths are free."""

    def library(self, model: Any, rows: Any, resolve: Resolve, options: Any) -> Any:
        if isinstance(model.kernels, str):  # "auto"
            (mean,) = cast(Sequence[Gaussian], resolve([Gaussian("mean", on="standard")]))
            kernels: Sequence[Kernel] = [Gaussian(f * mean.gamma, on=mean.on) for f in _WIDTHS]
        else:
            kernels = resolve(model.kernels)
            self._check(kernels)
        gaussians = cast(Sequence[Gaussian], kernels)
        bounds = model.width_bounds
        if bounds is None:
            widths = [1 / np.sqrt(2 * kernel.gamma) for kernel in gaussians]
            bounds = min(widths) / _BEYOND, max(widths) * _BEYOND
        return ActiveLibrary(gaussians, rows.X, width_bounds=bounds, **options)

    def oracle(self, model: Any, per_step: int, tol: float) -> PathOracle:
        if model.columns_per_step == "auto" and model.max_columns is None:
            per_step = max(per_step, _PER_STEP)
        return ActiveOracle(per_step, model.max_columns, least=_WORTH * tol)

    def show(self, parts: Sequence[ActivePart], n_features: int) -> dict[str, Any]:
        n = sum(len(part.widths) for part in parts)
        return {
            "columns_per_kernel_": {"active Gaussian": n},
            "centers_": np.concatenate([np.zeros((0, n_features)), *(p.centers for p in parts)]),
            "widths_": np.concatenate([np.zeros(0), *(p.widths for p in parts)]),
        }

    def _check(self, kernels: Sequence[Kernel]) -> None:
        for kernel in kernels:
            if not (
                isinstance(kernel, Gaussian)
                and kernel.columns is None
                and not isinstance(kernel.on, Ranks)
                and kernel.on == cast(Gaussian, kernels[0]).on
            ):
                raise ValueError(
                    "kernels must be Gaussians on all features, in one view that is linear, with "
                    f"base='active', which moves their centres and widths; got {kernel!r}."
                )


class Halfspaces:
    """Halfspaces with sparse normals."""

    def library(self, model: Any, rows: Any, resolve: Resolve, options: Any) -> Any:
        return HalfspaceSpace(rows.X, rows.weight, options["scaling"])

    def oracle(self, model: Any, per_step: int, tol: float) -> PathOracle:
        both_sides = model.intercept != "free" and model.columns_per_step != 1
        return HalfspaceOracle(
            model.halfspace_sparsity, both_sides, model.max_columns, _ENOUGH * tol
        )

    def show(self, parts: Sequence[HalfspacePart], n_features: int) -> dict[str, Any]:
        directions = np.concatenate([np.zeros((0, n_features)), *(p.directions for p in parts)])
        return {
            "columns_per_kernel_": {"halfspaces": sum(len(part.cuts) for part in parts)},
            "directions_": directions,
            "cuts_": np.concatenate([np.zeros(0), *(p.cuts for p in parts)]),
            "selected_features_": features_used(directions),
        }


BASES: Mapping[str, Base] = {"active": Active(), "halfspaces": Halfspaces()}
