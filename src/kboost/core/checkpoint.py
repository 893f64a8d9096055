"""Fits that continue where a process ended.

Every method runs under one driver (core/iterate.py), which asks here before the first step of a run
and reports every step. A run is known by its place in the fit, the numbers of the runs around it,
and by a digest of what it works on: the same fit makes the same runs in the same order, so a fit
that starts again finds what its runs had reached. A method that can continue is `Resumable`:

    identity    a digest of its problem; a run of another problem at the same place is not continued
    state       what the next step depends on: lists, dicts, arrays, numbers and text
    restore     continue from a state; the stop rules are then called with the trace before the next
    step

    method               state                                        the model is the same
    column generation    columns of each step, random numbers of      within the solver's tolerance
                         the oracle
    boosting rounds      machines, distributions, random numbers      exactly
    cells                coefficients of the cells fitted             exactly
    families of kernels  metrics, and values at rows left out         exactly

Column generation gives its columns to the master once more, without pricing: all at once where the
optimum does not depend on their order (`at_once`), else, and for held-out rows or a path, step by
step, which differs by rounding only.

All other loops (members of a blend, engines, sizes, paths, series) contain such runs, and are
repeated with them. Everything else (the choice of a ridge, a calibration) is computed again. A
search of an infinite library begins again.

Where states are kept is a `Store`; the one for files is in persistence/checkpoints.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason

# What a limit, a user or a failure ended is not complete.
_CUT_SHORT = (INTERRUPTED.rule, OUT_OF_TIME.rule, "callback", "solver")

Result = TypeVar("Result")


class Store(Protocol):
    """Keeps the states of the runs of one fit."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to write a state."""

    def open(self, fingerprint: str) -> None:
        """Begin the fit with this fingerprint; raise if the store holds another one."""

    def get(self, key: str) -> Any:
        """The state of a run; None if there is none."""

    def put(self, key: str, state: Any) -> None:
        """Keep the state of a run."""


@runtime_checkable
class Resumable(Protocol):
    """A method that can continue."""

    def identity(self) -> str | None:
        """A digest of the problem; None if this one cannot continue."""

    def state(self) -> Any:
        """What the next step depends on."""

    def restore(self, state: Any) -> None:
        """Continue from a state, with its trace."""


@dataclass
class _Place:
    """A run of the driver, or the whole fit."""

    store: Store
    path: str = "fit"
    runs: int = 0  # that began inside

    def next(self) -> _Place:
        self.runs += 1
        return _Place(self.store, f"{self.path}/{self.runs}")


_store: ContextVar[Store | None] = ContextVar("store", default=None)
_place: ContextVar[_Place | None] = ContextVar("place", default=None)


@contextmanager
def kept_in(store: Store) -> Iterator[None]:
    """Let the fit inside keep its states."""
    token = _store.set(store)
    try:
        yield
    finally:
        _store.reset(token)


@contextmanager
def not_kept() -> Iterator[None]:
    """Keep no states of the fit inside: that of one batch of a stream."""
    token = _store.set(None)
    try:
        yield
    finally:
        _store.reset(token)


@contextmanager
def whole_fit(fingerprint: Callable[[], str]) -> Iterator[None]:
    """The fit of an estimator; one inside another is a part of it."""
    store = _store.get()
    if store is None or _place.get() is not None:
        yield
        return
    store.open(fingerprint())
    token = _place.set(_Place(store))
    try:
        yield
    finally:
        _place.reset(token)


class SavedRun:
    """What is known of a run; nothing without a store."""

    def __init__(self, method: Any, place: _Place | None = None) -> None:
        self._method, self._place, self._key = method, place, ""
        identity = method.identity() if place and isinstance(method, Resumable) else None
        if place and identity:
            self._key = f"{place.path} {type(method).__name__} {identity}"

    def restore(self) -> bool:
        """Restore the state of the method; False if there is none."""
        state = self._place.store.get(self._key) if self._place and self._key else None
        if state is None:
            return False
        self._method.restore(deepcopy(state))  # which the method changes; the store keeps its own
        return True

    def step(self) -> None:
        """A step was made."""
        if self._place and self._key and self._place.store.is_due:
            self._place.store.put(self._key, self._method.state())

    def end(self, reason: StopReason) -> None:
        """No more steps follow."""
        if self._place and self._key and reason.rule not in _CUT_SHORT:
            self._place.store.put(self._key, self._method.state())


@contextmanager
def run_of(method: Any) -> Iterator[SavedRun]:
    """The next run of the driver."""
    outer = _place.get()
    if outer is None:
        yield SavedRun(method)
        return
    place = outer.next()
    token = _place.set(place)
    try:
        yield SavedRun(method, place)
    finally:
        _place.reset(token)


def in_thread(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function for one call in another thread, whose runs then have their place here."""
    outer = _place.get()
    if outer is None:
        return function
    context = copy_context()
    context.run(_place.set, outer.next())
    return lambda *arguments: context.run(function, *arguments)


def digest(*values: Any) -> str:
    """A digest of arrays, numbers and text."""
    content = sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            content.update(f"{value.dtype}{value.shape}".encode())
            content.update(np.ascontiguousarray(value).data)
        else:
            content.update(repr(value).encode())
    return content.hexdigest()
