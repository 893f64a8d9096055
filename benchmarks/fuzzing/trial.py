"""A process that tries files: what comes of loading one, and of all that follows.

A file must be refused with a ValueError or an OSError of one line, or give an estimator. All that
can be asked of it is then asked: `predict`, `predict_proba`, `explain`, an export to ONNX. Each
must give an answer, or a sentence: an error that kboost or scikit-learn raises on purpose. Other
errors ("raw") come from code that trusted a number.

The process may use so much address space and no more, and so many seconds for a file: otherwise it
ends, and the one that started it knows by which file. A file that runs lines of
`kboost.persistence` that no file before it ran is itself changed later on.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

SECONDS = 20  # of the processor, for one file
WALL = 300
BYTES = 1 << 30  # more than the process has at the beginning
METHODS = ("predict", "predict_proba", "explain", "export")
QUIET = ("object.__getattr__", "object.__setattr__", "sys._getframe", "builtins.id")
MAX_POOL = 200


class Watch:
    """Remembers what Python does while it is on, other than reading one file."""

    def __init__(self, path: str) -> None:
        self.on, self.seen, self.path = False, Counter[str](), path
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event not in QUIET:
            if event == "open" and arguments[:2] in ((self.path, "r"), (self.path, "rb")):
                return
            self.seen[f"{event} {arguments}"[:200]] += 1


class Lines:
    """The lines of `kboost.persistence` that have run; nothing without coverage.py."""

    def __init__(self) -> None:
        try:
            import coverage
        except ImportError:
            self._cover = None
            return
        only = ["*/kboost/persistence/*"]
        self._cover = coverage.Coverage(data_file=None, config_file=False, include=only)
        self._cover.start()
        self._known = 0

    def are_new(self) -> bool:
        """Whether lines have run since the last call that had not run before."""
        if self._cover is None:
            return False
        data = self._cover.get_data()
        known = sum(len(data.lines(file) or ()) for file in data.measured_files())
        grown, self._known = known > self._known, known
        return grown

    def missed(self) -> dict[str, list[Any]]:
        """For each file, the number of its lines, and those that did not run."""
        if self._cover is None:
            return {}
        self._cover.stop()
        missed = {}
        for file in self._cover.get_data().measured_files():
            _, lines, _, left, _ = self._cover.analysis2(file)
            missed[Path(file).name] = [len(lines), left]
        return missed


class Trial:
    """Counts what comes of files."""

    def __init__(self, path: Path, watch: Watch) -> None:
        self.path, self.watch = path, watch
        self.counts: Counter[str] = Counter()
        self.raw: Counter[str] = Counter()
        self._way = ""
        self.slowest, self.largest = (0.0, ""), (0, "")

    def give(self, label: str, file: bytes, rows: Any, way: str = "sound") -> None:
        """One file; the label is its number, what was changed, and the name of the sound one."""
        from kboost import load_model

        self.path.write_bytes(file)
        self._way = way
        self.counts[f"{way}: number"] += 1
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, WALL)
        self.watch.on = True
        try:
            model = load_model(self.path)
        except Exception as error:
            self.watch.on = False
            one_line = "\n" not in str(error) and len(str(error)) < 600
            is_sentence = one_line and type(error) in (ValueError, OSError)
            self._note("load", error, "refused" if is_sentence else "raw")
        else:
            self.watch.on = False
            self.counts[f"{way}: loaded"] += 1
            for method in METHODS:
                self._ask(model, method, rows)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.slowest = max(self.slowest, (time.process_time() - started, label))
        if (size := address_space()) > self.largest[0]:
            self.largest = (size, label)

    def _ask(self, model: Any, method: str, rows: Any) -> None:
        try:
            if method == "export":
                from kboost.export.onnx import to_onnx

                to_onnx(model)
            elif hasattr(model, method):
                getattr(model, method)(rows)
            else:
                return
        except Exception as error:
            self._note(method, error, "sentence" if is_on_purpose(error) else "raw")
        else:
            self.counts[f"{self._way}: {method}"] += 1

    def _note(self, method: str, error: Exception, outcome: str) -> None:
        causes = (error, error.__cause__, error.__context__)
        if any(isinstance(each, MemoryError) for each in causes):
            outcome = "memory"
        self.counts[f"{self._way}: {outcome}"] += 1
        if outcome in ("raw", "memory"):
            frame = _last_frame(error)
            home = "kboost" if "/kboost/" in frame.filename else "others"
            where = f"in {home}, {os.path.basename(frame.filename)}:{frame.lineno}"
            words = re.sub(r"\d+", "0", str(error))
            self.raw[f"{method}: {type(error).__name__} {where}: {words}"[:160]] += 1


def _last_frame(error: BaseException) -> traceback.FrameSummary:
    """The innermost frame of kboost or scikit-learn."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/kboost/" in f.filename or "/sklearn/" in f.filename]
    return (own or list(frames))[-1]


def is_on_purpose(error: BaseException) -> bool:
    """Whether kboost or scikit-learn raised it with a sentence."""
    from sklearn.exceptions import NotFittedError

    if not isinstance(error, ValueError | TypeError | NotFittedError) or "\n" in str(error):
        return isinstance(error, NotFittedError)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    own = "/kboost/" in frame.filename or "/sklearn/" in frame.filename
    return own and line.startswith("raise ")


def address_space() -> int:
    """The largest it has been, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmPeak"):
            return int(line.split()[1]) * 1024
    return 0


def work(folder: str, seed: int, start: int, stop: int) -> None:
    """Try the files of some numbers; the counts go to the standard output."""
    lines = Lines()  # before kboost is imported
    from benchmarks.fuzzing.seeds import read_seeds
    from benchmarks.fuzzing.structured import forge, is_sound
    from benchmarks.mutants import DAMAGES, FORGERIES

    warnings.simplefilter("ignore")
    home = Path(folder)
    path = home / "model.kboost.tried"
    pool = read_seeds(home)
    trial = Trial(path, Watch(str(path)))
    for name, file, rows in pool:
        trial.give(f"sound {name}", file, rows)  # imports what is to be imported
    if trial.counts["sound: loaded"] < len(pool):
        raise RuntimeError(f"sound files must be loaded; got {dict(trial.counts)}")
    trial.counts.clear()
    trial.slowest = (0.0, "")
    trial.watch.seen.clear()
    lines.are_new()
    before = address_space()
    resource.setrlimit(resource.RLIMIT_AS, (before + BYTES, before + BYTES))
    kinds: Counter[str] = Counter()
    for number in range(start, stop):
        draw = Random(f"{seed} {number}")
        (name, file, rows), (_, other, _) = draw.choice(pool), draw.choice(pool)
        kind, mutant = "", file
        while mutant == file:  # some changes change nothing
            kind, mutant = forged(file, other, draw, DAMAGES, FORGERIES, forge)
        kinds[kind] += 1
        label = f"{number} {kind} of {name}"
        (home / "now").write_text(label)
        trial.give(label, mutant, rows, kind if kind in ("damaged", "forged") else "structured")
        fit = len(pool) < MAX_POOL and len(file) // 4 < len(mutant) < 4 * len(file)
        if lines.are_new() and fit and is_sound(mutant):
            pool.append((name, mutant, rows))
    grown = (address_space() - before) / 2**20
    print(
        json.dumps(
            {
                "counts": dict(trial.counts),
                "kinds": dict(kinds),
                "raw": dict(trial.raw.most_common(40)),
                "events": dict(trial.watch.seen),
                "grown_mib": grown,
                "slowest": trial.slowest,
                "largest": trial.largest[1],
                "missed": lines.missed(),
            }
        )
    )


def forged(
    file: bytes, other: bytes, draw: Random, damages: Any, forgeries: Any, forge: Any
) -> tuple[str, bytes]:
    """The kind of change, and the file: one in 20 damaged, one in ten forged without a plan."""
    chance = draw.random()
    if chance < 0.05:
        return "damaged", draw.choice(damages)(file, other, draw)
    try:
        if chance < 0.15:
            return "forged", draw.choice(forgeries)(file, other, draw)
        kind, mutant = forge(file, other, draw)
    except Exception:  # a file that was forged before need not be sound
        return "damaged", draw.choice(damages)(file, other, draw)
    return kind, mutant
