"""100,000 damaged and forged model files, given to `load_model`.

Half are damaged (bits flipped, cut short, spliced, lengths that lie); the other half are forged:
the manifest or the numbers are changed and lengths and checksum are put right again, so that all of
it reaches the code behind the checksum. Each must be refused with a ValueError or an OSError of one
line, or give an estimator. An audit hook watches what Python does in the meantime: no import, no
`exec`, no process, no socket, no other file. A forged file that is accepted then predicts, and must
give an answer or an error. All of it happens in one process, whose death would be seen, and whose
largest size is measured; kinds that cannot reach the code behind the checksum are cheap.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.mutants import DAMAGES, FORGERIES
from benchmarks.objective import ROOT, Row

COUNT, SEED = 100_000, 0
QUIET = ("object.__getattr__", "object.__setattr__", "sys._getframe", "builtins.id")
HEAD = ("files", "number", "refused", "loaded", "of these predict", "other errors", "events")


def run(bench: Bench) -> Report:
    job = {"entry": "fuzz_files", "count": COUNT, "seed": SEED}
    row = must(bench.other(job, measure, f"{COUNT:,} files"))
    lines = [[kind, *row[kind].values()] for kind in ("damaged", "forged")]
    sound = all(
        row[kind]["other errors"] == row[kind]["events"] == 0 for kind in ("damaged", "forged")
    )
    return Report(
        head=HEAD,
        lines=lines,
        settings={"count": COUNT, "seed": SEED},
        ratios={"loaded of damaged": row["damaged"]["loaded"] / row["damaged"]["number"]},
        criterion="no other error, nothing run, and no damaged file loaded",
        met=sound and row["damaged"]["loaded"] == 0,
        notes=[f"The process grew by {row['grown_mib']:.0f} MiB at most (address space)."],
    )


def measure() -> Row:
    code = f"from benchmarks.entries.fuzz_files import work; work({COUNT}, {SEED})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"status": "failed", "message": f"{done.returncode}: {done.stderr[-500:]}"}
    return {"status": "ok", **json.loads(done.stdout.splitlines()[-1])}


def work(count: int, seed: int) -> None:
    """Try so many files and print the counts."""
    start = time.perf_counter()
    warnings.simplefilter("ignore")  # to show one Python opens the file that it comes from
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.kboost")
        models = sound_files(path)
        watch, trial = Watch(path), Trial(path)
        before = address_space()
        for number in range(count):
            kind = "damaged" if number % 2 else "forged"
            draw = Random(f"{seed} {number}")
            (file, rows), (other, _) = draw.choice(models), draw.choice(models)
            mutant = draw.choice(DAMAGES if number % 2 else FORGERIES)(file, other, draw)
            if mutant != file:
                Path(path).write_bytes(mutant)
                trial.give(kind, rows, watch)
        grown = (address_space() - before) / 2**20
    print(json.dumps({**trial.table(), "grown_mib": grown, "seconds": time.perf_counter() - start}))


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


class Trial:
    """Counts what comes of files."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.counts = {kind: Counter[str]() for kind in ("damaged", "forged")}
        self.errors: Counter[str] = Counter()
        self.predictions: Counter[str] = Counter()
        self.events: Counter[str] = Counter()

    def give(self, kind: str, rows: Any, watch: Watch) -> None:
        """One file."""
        from kboost import load_model

        count = self.counts[kind]
        count["number"] += 1
        before = watch.seen.total()
        watch.on = True
        try:
            model = load_model(self.path)
        except (ValueError, OSError) as error:
            watch.on = False
            one_line = "\n" not in str(error) and len(str(error)) < 600
            count["refused" if one_line else "other errors"] += 1
        except Exception as error:
            watch.on = False
            count["other errors"] += 1
            self.errors[f"{type(error).__name__}: {error}"[:200]] += 1
        else:
            watch.on = False
            count["loaded"] += 1
            self._predict(count, model, rows)
        count["events"] += watch.seen.total() - before
        self.events = watch.seen

    def _predict(self, count: Counter[str], model: Any, rows: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.predict(rows)
            except Exception as error:
                self.predictions[type(error).__name__] += 1
            else:
                count["predict"] += 1

    def table(self) -> dict[str, Any]:
        names = ("number", "refused", "loaded", "predict", "other errors", "events")
        return {
            **{kind: {n: count[n] for n in names} for kind, count in self.counts.items()},
            "errors": dict(self.errors),
            "errors of predictions": dict(self.predictions),
            "what happened": dict(self.events.most_common(20)),
        }


def sound_files(path: str) -> list[tuple[bytes, Any]]:
    """Files of small models of many kinds, with rows that they can predict."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    import kboost
    from kboost.baselines import CompositeSVC
    from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial
    from kboost.settings import Cells

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y, words = X[:, 0] * X[:, 1], np.array(["a", "b", "c"])[rng.integers(0, 3, 40)]
    mixture = [Linear(on="ranks"), Polynomial(2), 2.0 * Gaussian(0.5, columns=[0]) * Laplacian(1.0)]
    scaled = make_pipeline(SimpleImputer(), StandardScaler(), kboost.KernelBoostNovelty())
    encoded = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), kboost.KernelBoostClassifier(["linear"], C=1.0)
    )
    fits = [
        (kboost.KernelBoostClassifier(mixture, C=1.0), X, words),
        (kboost.KernelBoostClassifier(["linear"], C=1.0), csr_matrix(np.maximum(X, 0)), y > 0),
        (kboost.KernelBoostRegressor("active", C=1.0, max_iter=3), X, y),
        (kboost.KernelBoostRegressor("halfspaces", C=1.0, max_iter=3), X, y),
        (kboost.SparseKernelRegressor([Gaussian(0.5)], cells=Cells(15, partitions=2)), X, y),
        (kboost.SparseKernelClassifier(mixture[:2], max_columns=10, ridge=0.1), X, words),
        (CompositeSVC([Gaussian(0.5)]), X, words),
        (scaled, X, None),
        (encoded, X.round(), words),
    ]
    files = []
    for model, rows, target in fits:
        kboost.save_model(model.fit(rows, target), path)
        kboost.load_model(path)  # imports what is to be imported
        files.append((Path(path).read_bytes(), rows))
    return files


def address_space() -> int:
    """The largest it has been, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmPeak"):
            return int(line.split()[1]) * 1024
    return 0
