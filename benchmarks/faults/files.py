"""Model files: a full disk, a bad target, kill -9 while saving, damaged files."""

from __future__ import annotations

import errno
import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import kboost
from benchmarks.faults.kind import Begin, Kind
from benchmarks.faults.outcome import LOSS, MODEL, SENTENCE, Outcome, sentence, usable
from benchmarks.faults.subjects import Subject, X


def _has_a_file_format(subject: Subject) -> bool:
    return not subject.kind.__module__.startswith("kboost.compose")


def _saved(subject: Subject, path: Path) -> tuple[Any, Any]:
    """A fitted model in a file, with its predictions."""
    model = subject.fit(subject.make())
    kboost.save_model(model, path)
    return model, model.predict(X)


def _refused(work: Callable[[], Any], *allowed: type[BaseException]) -> Outcome:
    """Work must fail with one sentence."""
    try:
        work()
    except allowed as error:
        return sentence(error)
    except BaseException as error:
        return Outcome(LOSS, f"{error!r}"[:400])
    return Outcome(LOSS, "nothing was said")


def _intact(path: Path, expected: Any, outcome: Outcome) -> Outcome:
    """The outcome, if the file is whole and no other one lies beside it."""
    if list(path.parent.iterdir()) != [path]:
        return Outcome(LOSS, f"files were left: {sorted(p.name for p in path.parent.iterdir())}")
    if not np.array_equal(kboost.load_model(path).predict(X), expected):
        return Outcome(LOSS, "the file predicts something else")
    return outcome


def full_disk(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """A write of some bytes, then no space is left; the old file stays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kboost"
        model, expected = _saved(subject, path)
        room, plain = draw.randint(0, max(1, path.stat().st_size - 1)), open

        def opened(name: Any, mode: str = "r", **options: Any) -> Any:
            file = plain(name, mode, **options)
            return _Full(file, room) if {"w", "x", "a"} & set(mode) else file

        begin()
        with patch("builtins.open", opened):
            outcome = _refused(lambda: kboost.save_model(model, path), OSError)
        return _intact(path, expected, outcome)


class _Full:
    """A file on a disk with room for some more bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def __enter__(self) -> _Full:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, content: Any) -> None:
        self._file.write(content[: self._room])
        self._room -= len(content)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def bad_target(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """A folder, a folder that is not there, a read-only file system, a device without room."""
    model = subject.fit(subject.make())
    with tempfile.TemporaryDirectory() as folder:
        missing = os.path.join(folder, "missing", "model.kboost")
        target = draw.choice([folder, missing, "/proc/model.kboost", "/dev/full", "/proc/version"])
        begin()
        outcome = _refused(lambda: kboost.save_model(model, target), OSError)
        left = os.listdir(folder)
    return Outcome(LOSS, f"files were left: {left}") if left else outcome


def killed_while_saving(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """kill -9 in a loop of saves: the file is one of the models."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kboost"
        model, expected = _saved(subject, path)
        child = os.fork()
        if child == 0:
            while True:
                kboost.save_model(model, path)
        begin()
        time.sleep(draw.uniform(0.0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        read = kboost.load_model(path)
        good = np.array_equal(read.predict(X), expected)
        return usable(read) if good else Outcome(LOSS, "the file predicts something else")


def damaged(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """Bytes of the file are changed, or its end is missing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kboost"
        _saved(subject, path)
        content = bytearray(path.read_bytes())
        if draw.random() < 0.3:
            content = content[: draw.randrange(len(content))]
        else:
            for _ in range(draw.randint(1, 8)):
                content[draw.randrange(len(content))] ^= draw.randint(1, 255)
        path.write_bytes(content)
        begin()
        return _refused(lambda: kboost.load_model(path), ValueError, OSError)


def damaged_pickle(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """A pickle whose packed model is damaged: an error, and never another model."""
    import pickle

    model = subject.fit(subject.make())
    expected = model.predict(X)
    content = pickle.dumps(model)
    cut = content[: draw.randrange(len(content) // 2, len(content))]
    begin()
    try:
        read = pickle.loads(cut)
    except Exception as error:
        return Outcome(SENTENCE, repr(error)[:400])
    same = np.array_equal(read.predict(X), expected)
    return Outcome(MODEL) if same else Outcome(LOSS, "the pickle predicts something else")


KINDS = {
    "full disk": Kind(full_disk, _has_a_file_format),
    "target that cannot be written": Kind(bad_target, _has_a_file_format),
    "kill -9 while saving": Kind(killed_while_saving, _has_a_file_format),
    "damaged model file": Kind(damaged, _has_a_file_format),
    "truncated pickle": Kind(damaged_pickle),
}
