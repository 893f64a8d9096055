"""Settings of the SparseKernel estimators: cells, selections of basis vectors, updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from kboost._rules import COUNT, POSITIVE, SHARE, UNIT, Rule, check_params, either, one_of
from kboost._rules import optional as _optional


class _Checked:
    """Checks the fields of a dataclass against its rules."""

    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __post_init__(self) -> None:
        check_params(vars(self), self._rules)


# SparseKernelClassifier, SparseKernelRegressor: `cells` ------------------------------------------


@dataclass(frozen=True)
class Cells(_Checked):
    """Cut the space into cells, each with its own least-squares problem; short form: the size.

    Parameters
    ----------
    size : int, default=2500
        Distinct rows per cell, at most.
    partitions : int, default=1
        Random partitions into cells to fit and average, which smooths the borders.
    columns_per_cell : int or None, default=None
        Basis vectors per cell, at most; None: all its rows, unless `max_columns` limits them.
    overlap : float, default=0.0
        Rows beyond its borders that a cell also learns from, relative to its own, up to 1; this
        smooths the borders.
    shared_columns : int or None, default=None
        Basis vectors that all cells share, in addition to their own: a joint fit of all rows with
        so many columns comes first, and the cells learn what it leaves. This smooths the borders of
        a function that is smooth over the whole space.
    """

    size: int = 2500
    partitions: int = 1
    columns_per_cell: int | None = None
    overlap: float = 0.0
    shared_columns: int | None = None

    _rules: ClassVar = {
        "size": COUNT,
        "partitions": COUNT,
        "columns_per_cell": _optional(COUNT),
        "overlap": SHARE,
        "shared_columns": _optional(COUNT),
    }

    @classmethod
    def of(cls, value: Any) -> Cells | None:
        """The settings meant by None, a number of rows or a Cells."""
        if value is None or isinstance(value, cls):
            return value
        if not COUNT.holds(value):
            raise ValueError(
                "cells must be None, 'auto', an integer of at least 1 or a Cells; "
                f"got cells={value!r}."
            )
        return cls(int(value))


# `selection` -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Random(_Checked):
    """Basis vectors drawn at random; short form "random"."""


@dataclass(frozen=True)
class _AmongCandidates(_Checked):
    n_candidates: int | None = 60

    _rules: ClassVar = {"n_candidates": _optional(COUNT)}


@dataclass(frozen=True)
class MatchingPursuit(_AmongCandidates):
    """The basis vector that lowers the objective most; short form "mp".

    Parameters
    ----------
    n_candidates : int or None, default=60
        Random columns to compare in a step that adds one; None: all.
    """


@dataclass(frozen=True)
class MaxResidual(_Checked):
    """The row of the largest residual; short form "max-res"."""


@dataclass(frozen=True)
class SteepestDescent(_AmongCandidates):
    """The basis vector of the steepest descent in the RKHS; short form "boost".

    Parameters
    ----------
    n_candidates : int or None, default=60
        Random columns to compare in a step that adds one; None: all.
    """


@dataclass(frozen=True)
class ALD(_Checked):
    """In one pass, all rows that are new enough (approximate linear dependence); short form "ald".

    Parameters
    ----------
    threshold : float, default=1e-2
        Least squared distance to the span of the basis in feature space.
    """

    threshold: float = 1e-2

    _rules: ClassVar = {"threshold": POSITIVE}


@dataclass(frozen=True)
class RAN(_Checked):
    """In one pass, all rows that are new and useful enough; short form "ran".

    Parameters
    ----------
    threshold : float, default=1e-4
        Least product of the squared distance to the span of the basis and the drop of the
        objective, in variances of the targets.
    """

    threshold: float = 1e-4

    _rules: ClassVar = {"threshold": POSITIVE}


Selection: TypeAlias = Random | MatchingPursuit | MaxResidual | SteepestDescent | ALD | RAN
SELECTIONS: Mapping[str, type[Any]] = {
    "random": Random,
    "mp": MatchingPursuit,
    "max-res": MaxResidual,
    "boost": SteepestDescent,
    "ald": ALD,
    "ran": RAN,
}


# `update` ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joint(_Checked):
    """Each step fits the coefficients of all basis vectors by conjugate gradients; "joint".

    Parameters
    ----------
    columns_per_step : int or "auto", default="auto"
        Basis vectors per step; with "auto" steps grow with the model.
    n_init_rows : int or None, default=None
        Rows drawn per step, by their squared residual, to select among; None: twice the basis
        vectors of the step.
    """

    columns_per_step: int | str = "auto"
    n_init_rows: int | None = None

    _rules: ClassVar = {"columns_per_step": either(COUNT, "auto"), "n_init_rows": _optional(COUNT)}


@dataclass(frozen=True)
class Series(_Checked):
    """A series of ensembles, each fitted to the residual of the sum before it.

    Parameters
    ----------
    learners : int, default=50
        Base learners per ensemble.
    max_rows : int or None, default=25000
        Rows that an ensemble of a classifier is fitted to, at most: those of the lowest margin
        among those whose margin is below 1/2. None: all of these.
    """

    learners: int = 50
    max_rows: int | None = 25_000

    _rules: ClassVar = {"learners": COUNT, "max_rows": _optional(COUNT)}

    @classmethod
    def of(cls, value: Any) -> Series | None:
        """The settings meant by None, a number of learners or a Series."""
        return value if value is None or isinstance(value, cls) else cls(int(value))


_LEARNER_RULES = {
    "columns_per_step": COUNT,
    "combination": one_of("boost", "mp"),
    "n_init_rows": _optional(COUNT),
    "series": _optional(
        Rule(f"{COUNT.words} or a Series", lambda v: isinstance(v, Series) or COUNT.holds(v))
    ),
}


@dataclass(frozen=True)
class Full(_Checked):
    """Each step fits the coefficients of all base learners; short form "full".

    Parameters
    ----------
    columns_per_step : int, default=1
        Basis vectors per step; several form one base learner.
    combination : {"boost", "mp"}, default="boost"
        How a base learner combines its basis vectors: by steepest descent in the RKHS, or by
        least squares.
    n_init_rows : int or None, default=None
        Rows drawn per step to select among; None: ten times the basis vectors of the step.
    series : Series, int or None, default=None
        A series of ensembles each fitted to the residual of the sum before it; an integer is the
        number of base learners per ensemble. None: a single ensemble.
    """

    columns_per_step: int = 1
    combination: str = "boost"
    n_init_rows: int | None = None
    series: Series | int | None = None

    _rules: ClassVar = _LEARNER_RULES


@dataclass(frozen=True)
class One(_Checked):
    """Each step fits only the coefficient of the new base learner; short form "one".

    Parameters
    ----------
    columns_per_step : int, default=1
        Basis vectors per step; several form one base learner.
    shrinkage : float, default=1.0
        Factor on each new coefficient.
    combination : {"boost", "mp"}, default="boost"
        How a base learner combines its basis vectors: by steepest descent in the RKHS, or by
        least squares.
    n_init_rows : int or None, default=None
        Rows drawn per step to select among; None: ten times the basis vectors of the step.
    series : Series, int or None, default=None
        A series of ensembles each fitted to the residual of the sum before it; an integer is the
        number of base learners per ensemble. None: a single ensemble.
    """

    columns_per_step: int = 1
    shrinkage: float = 1.0
    combination: str = "boost"
    n_init_rows: int | None = None
    series: Series | int | None = None

    _rules: ClassVar = {**_LEARNER_RULES, "shrinkage": UNIT}


Update: TypeAlias = Joint | Full | One
UPDATES: Mapping[str, type[Any]] = {"joint": Joint, "full": Full, "one": One}


def resolve(name: str, value: Any, options: Mapping[str, type[Any]]) -> Any:
    """The object that `value` stands for: one of the classes, or the short form of one."""
    if isinstance(value, str) and value in options:
        return options[value]()
    if isinstance(value, tuple(options.values())):
        return value
    words = " or ".join(map(repr, options))
    raise ValueError(f"{name} must be {words}, or its object; got {name}={value!r}.")


def short_form(value: Any, options: Mapping[str, type[Any]]) -> str:
    """The string of a value's class."""
    return next(name for name, option in options.items() if type(value) is option)
