"""Checkpoints of fits in a file, to continue after the process has ended (core/checkpoint.py).

The file is that of a model (container.py) with another manifest: for each fit of the block, its
fingerprint of estimator, parameters, data and versions, and the states of its runs. It is replaced
atomically, so it is never half written. Writing takes at most a twentieth of the time.
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
_SHARE = 20  # at most 1 / 20 of the time is for writing


@contextmanager
def checkpoint(path: Any, *, every: float = 30.0) -> Iterator[None]:
    """Let the fits inside continue where an earlier process ended.

    A fit writes its progress to a file. If the process ends before the block does, run the same
    program again: the fits continue from the file. At the end of the block the file is removed, so
    save the model inside.

    Parameters
    ----------
    path : str or path-like
        File to write, one per block. A file of fits with other data or parameters, or of other
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
    """The states of the runs of each fit, in memory and in a file."""

    def __init__(self, path: str, every: float) -> None:
        self._path, self._every = path, every
        self._fits: dict[str, dict[str, Any]] | None = None  # by fingerprint, in their order
        self._begun: set[str] = set()  # fingerprints of this process
        self._states: dict[str, Any] = {}  # of the present fit
        self._next = 0.0  # when the file may be written again
        self._lock = threading.Lock()

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self._next

    def open(self, fingerprint: str) -> None:
        """Take up the states of this fit; one that is not in the file must be its last."""
        fingerprint = " ".join((fingerprint, *_versions()))
        if self._fits is None:
            fits = _read(self._path) if os.path.exists(self._path) else {}
        else:
            fits = self._fits
        if fingerprint not in fits:
            if any(states for other, states in fits.items() if other not in self._begun):
                raise ValueError(
                    f"{self._path} must be a checkpoint of this fit; got one of other data, "
                    "parameters or versions: remove the file to start anew, or take another path."
                )
            fits = {other: states for other, states in fits.items() if states} | {fingerprint: {}}
            container.write(self._path, *_content(fits))
        self._fits, self._states = fits, fits[fingerprint]
        self._begun.add(fingerprint)
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
        if self._fits is None:
            return
        with self._lock:
            start = time.monotonic()
            try:
                container.write(self._path, *_content(self._fits))
            except (OSError, ValueError) as error:
                message = f"{self._path} was not written, and the fit continues: {error}."
                warnings.warn(message, RuntimeWarning, stacklevel=2)
            now = time.monotonic()
            self._next = now + max(self._every, _SHARE * (now - start))

    def remove(self) -> None:
        """Remove the file of a block that is complete."""
        if self._fits is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._path)


def _content(fits: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], list[Any]]:
    """The manifest and the arrays of a file."""
    packer = Packer()
    root = packer.value({key: dict(states) for key, states in fits.items()}, "checkpoint")
    packer.check()
    return {"checkpoint": list(fits), "nodes": packer.nodes, "root": root}, packer.arrays


def _read(path: str) -> dict[str, dict[str, Any]]:
    """The states in a file, by the fingerprints of their fits."""
    manifest, arrays = container.read(path, _MAX_BYTES)
    if set(manifest) != {"checkpoint", "nodes", "root"}:
        raise ValueError(f"{path} must be a checkpoint; got another file of kboost.")
    try:
        fits, _ = unpacked(manifest["nodes"], manifest["root"], arrays)
    except FormatError as error:
        raise damaged(path, str(error)) from error
    if not isinstance(fits, dict) or not all(isinstance(each, dict) for each in fits.values()):
        raise damaged(path, "its states are invalid")
    if list(fits) != manifest["checkpoint"]:
        raise damaged(path, "its fits are not those that it lists")
    return fits


def _versions() -> tuple[str, ...]:
    from kboost import __version__

    return __version__, np.__version__, scipy.__version__
