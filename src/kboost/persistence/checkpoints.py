"""Checkpoints of a fit in a file, to continue after the process has ended (core/checkpoint.py).

The file is that of a model (container.py) with another manifest: the fingerprint of estimator,
parameters, data and versions, and the states of the runs. It is replaced atomically, so it is never
half written. Writing takes at most a twentieth of the time.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import scipy

from kboost._rules import NOT_NEGATIVE, check_params
from kboost.core.checkpoint import kept_in
from kboost.persistence import container
from kboost.persistence.errors import FormatError, damaged
from kboost.persistence.packing import Packer
from kboost.persistence.unpacking import unpacked

_MAX_BYTES = 1 << 34
_SHARE = 20  # one part in so many of the time is for writing


@contextmanager
def checkpoint(path: Any, *, every: float = 30.0) -> Iterator[None]:
    """Let the fit inside continue where an earlier process ended.

    The fit writes its progress to a file. If the process ends before the block does, run the same
    program again: the fit continues from the file. At the end of the block the file is removed, so
    save the model inside.

    Parameters
    ----------
    path : str or path-like
        File to write, one per fit. A file of a fit with other data or parameters, or of other
        versions of kboost and its libraries, is refused; remove it to start anew.
    every : float, default=30.0
        Least seconds between two writes.

    See Also
    --------
    save_model : Write the fitted model.

    Notes
    -----
    All estimators of kboost continue; a loop that has no state to write is repeated with the parts
    that have one (see the user guide). With `max_seconds` the time counts from the last start.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import kboost
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with kboost.checkpoint(os.path.join(folder, "fit.ckpt")):
    ...         model = kboost.KernelBoostClassifier(C=1.0).fit(X, y)
    ...         kboost.save_model(model, os.path.join(folder, "iris.kboost"))
    ...     os.listdir(folder)
    ['iris.kboost']
    """
    check_params({"every": every}, {"every": NOT_NEGATIVE})
    file = CheckpointFile(os.fspath(path), every)
    try:
        with kept_in(file):
            yield
    except BaseException:
        file.write()
        raise
    file.remove()


class CheckpointFile:
    """The states of the runs of a fit, in memory and in a file."""

    def __init__(self, path: str, every: float) -> None:
        self._path, self._every = path, every
        self._fingerprint: str | None = None  # before a fit has begun
        self._states: dict[str, Any] = {}
        self._next = 0.0  # when the file may be written again
        self._lock = threading.Lock()

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self._next

    def open(self, fingerprint: str) -> None:
        """Read the states of this fit; without any, try to write the file."""
        fingerprint = " ".join((fingerprint, *_versions()))
        found, states = self._fingerprint, self._states
        if found is None and os.path.exists(self._path):
            found, states = _read(self._path)
        if found != fingerprint and states:
            raise ValueError(
                f"{self._path} must be a checkpoint of this fit; got one of other data, "
                "parameters or versions: remove the file to start anew, or give every fit a "
                "block and a path of its own."
            )
        if found != fingerprint:
            container.write(self._path, *_content(fingerprint, states))
        self._fingerprint, self._states = fingerprint, states
        self._next = time.monotonic() + self._every

    def get(self, key: str) -> Any:
        """The state of a run; None if there is none."""
        return self._states.get(key)

    def put(self, key: str, state: Any) -> None:
        """Keep the state of a run, and write the file if it is time."""
        with self._lock:
            self._states[key] = state
        if self.is_due:
            self.write()

    def write(self) -> None:
        """Write the file; a disk that is full does not end the fit."""
        if self._fingerprint is None:
            return
        with self._lock:
            start = time.monotonic()
            try:
                container.write(self._path, *_content(self._fingerprint, self._states))
            except (OSError, ValueError) as error:
                message = f"{self._path} was not written, and the fit goes on: {error}."
                warnings.warn(message, RuntimeWarning, stacklevel=2)
            now = time.monotonic()
            self._next = now + max(self._every, _SHARE * (now - start))

    def remove(self) -> None:
        """Remove the file of a fit that is complete."""
        if self._fingerprint is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._path)


def _content(fingerprint: str, states: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The manifest and the arrays of a file."""
    packer = Packer()
    root = packer.value(dict(states), "checkpoint")
    packer.check()
    return {"checkpoint": fingerprint, "nodes": packer.nodes, "root": root}, packer.arrays


def _read(path: str) -> tuple[str, dict[str, Any]]:
    """The fingerprint and the states in a file."""
    manifest, arrays = container.read(path, _MAX_BYTES)
    if set(manifest) != {"checkpoint", "nodes", "root"}:
        raise ValueError(f"{path} must be a checkpoint; got another file of kboost.")
    try:
        states, _ = unpacked(manifest["nodes"], manifest["root"], arrays)
    except FormatError as error:
        raise damaged(path, str(error)) from error
    if not isinstance(states, dict) or not isinstance(manifest["checkpoint"], str):
        raise damaged(path, "its states are invalid")
    return manifest["checkpoint"], states


def _versions() -> tuple[str, ...]:
    from kboost import __version__

    return __version__, np.__version__, scipy.__version__
