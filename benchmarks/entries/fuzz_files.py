"""100,000 damaged and forged model files: load, predict, predict_proba, explain, export to ONNX.

Criterion, set before the run: of 100,000 files none ends the process (a crash), none takes more
than 20 s of the processor (a hang), none asks for more memory than 1 GiB above what the process has
before the first, nothing is run or opened while a file is read, and no damaged file is loaded.

The files begin as sound ones of every kind of model (`fuzzing/seeds.py`). One in 20 is damaged,
one in ten is forged blindly, the others are forged with knowledge of the format: numbers, orders,
shapes and dtypes of arrays, sparse rows, fields, references, classes, lists, doubling chains, nodes
of other files (`fuzzing/structured.py`). A file that runs new lines of `kboost.persistence` is
itself changed later on. A process of its own tries 2,000 files (`fuzzing/trial.py`); these results
are stored one by one, so that a run that was ended goes on where it was.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import ROOT, Row

COUNT, BLOCK, SEED = 100_000, 2_000, 0
MAX_SECONDS = 3_600  # of a block
WAYS = {"damaged": "damaged", "forged": "forged blindly", "structured": "forged by the format"}
COLUMNS = {
    **{"number": "number", "refused": "refused", "loaded": "loaded", "predict": "predict"},
    **{"predict_proba": "predict_proba", "explain": "explain", "export": "export to ONNX"},
    **{"sentence": "a sentence", "raw": "another error", "memory": "too much memory"},
}
WRITING = ("packing.py", "pickling.py", "replacing.py")


def run(bench: Bench) -> Report:
    rows = [_block(bench, start) for start in range(0, COUNT, BLOCK)]
    counts, raw = _sum(rows, "counts"), _sum(rows, "raw")
    ends, events = _sum(rows, "ends"), _sum(rows, "events")
    memory = sum(counts[f"{way}: memory"] for way in WAYS)
    files = sum(row["files"] for row in rows)
    lines, missed = _lines(rows)
    slowest, grown = max(row["slowest"] for row in rows)[0], max(row["grown_mib"] for row in rows)
    settings = {"count": COUNT, "seed": SEED}
    return Report(
        head=["files", *COLUMNS.values()],
        lines=[[WAYS[way], *(counts[f"{way}: {what}"] for what in COLUMNS)] for way in WAYS],
        settings=settings,
        ratios={"loaded": sum(counts[f"{way}: loaded"] for way in WAYS) / files},
        criterion="100,000 files: no crash, no hang, memory bounded, nothing run, "
        "no damaged file loaded",
        met=not (ends or events or memory or counts["damaged: loaded"]) and files == COUNT,
        notes=[
            f"{files:,} files in {sum(row['seconds'] for row in rows):,.0f} s: "
            f"{ends['crash']} crashes, {ends['hang']} hangs.",
            f"The process grew by {grown:.0f} MiB at most (address space); "
            f"the slowest file took {slowest:.1f} s.",
            f"Other errors: {_total(raw, 'kboost')} in kboost, "
            f"{sum(raw.values()) - _total(raw, 'kboost')} in scikit-learn's classes and below.",
            f"Of the {lines} lines of kboost.persistence in modules that read, {lines - missed} "
            "were run; most others write.",
        ],
        more=[("Changes", ("change", "files"), _sum(rows, "kinds").most_common())],
    )


def _block(bench: Bench, start: int) -> Row:
    job = {"entry": "fuzz_files", "start": start, "count": BLOCK, "seed": SEED}
    return must(bench.other(job, lambda: measure(start), f"files {start:,} to {start + BLOCK:,}"))


def measure(start: int) -> Row:
    """Try the files of a block; after one that ends the process, a new one goes on."""
    folder, begun = _seeds(), time.perf_counter()
    parts: list[dict[str, Any]] = []
    ends: Counter[str] = Counter()
    culprits: list[str] = []
    at, stop = start, start + BLOCK
    while at < stop:
        code = f"from benchmarks.fuzzing.trial import work; work({folder!r}, {SEED}, {at}, {stop})"
        done = _child(code)
        if done.returncode == 0:
            parts.append(json.loads(done.stdout.splitlines()[-1]))
            break
        if done.returncode == 1:  # an error of the code that tries
            return {"status": "failed", "message": done.stderr[-500:]}
        now = Path(folder, "now").read_text()
        ends["hang" if -done.returncode in (14, 27) else "crash"] += 1  # SIGALRM, SIGPROF
        culprits.append(f"signal {-done.returncode}: {now}")
        at = int(now.split()[0]) + 1
    sums = {key: dict(_sum(parts, key)) for key in ("counts", "kinds", "raw", "events")}
    return {
        "status": "ok",
        "files": BLOCK,
        "seconds": time.perf_counter() - begun,
        "ends": dict(ends),
        "culprits": culprits,
        "grown_mib": max((part["grown_mib"] for part in parts), default=0.0),
        "largest": [part["largest"] for part in parts],
        "slowest": max((part["slowest"] for part in parts), default=[0.0, ""]),
        "missed": parts[-1]["missed"] if parts else {},
        **sums,
    }


def _child(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=MAX_SECONDS,
    )


@cache
def _seeds() -> str:
    """A folder with sound files; it is left to the system to remove."""
    folder = tempfile.mkdtemp(prefix="kboost-fuzz-")
    code = (
        "from pathlib import Path; from benchmarks.fuzzing.seeds import write_seeds; "
        f"write_seeds(Path({folder!r}))"
    )
    done = _child(code)
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    return folder


def _sum(rows: Iterable[dict[str, Any]], key: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row[key])
    return total


def _total(raw: Counter[str], home: str) -> int:
    return sum(number for text, number in raw.items() if f" in {home}" in text)


def _lines(rows: Iterable[Row]) -> tuple[int, int]:
    """The lines of the files that read, and how many of them no block ran."""
    known: dict[str, int] = {}
    left: dict[str, set[int]] = {}
    for row in rows:
        for name, (number, missed) in row["missed"].items():
            if name not in WRITING:
                known[name] = number
                left[name] = left.get(name, set(missed)) & set(missed)
    return sum(known.values()), sum(map(len, left.values()))
