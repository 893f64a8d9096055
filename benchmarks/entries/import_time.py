"""What `import kboost` adds to importing scikit-learn.

Fresh interpreters, median. Measured twice: after `import sklearn` alone, and after the submodules
of scikit-learn that kboost uses, which a user of scikit-learn has loaded already.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from statistics import median

from benchmarks.bench import Bench, Report
from benchmarks.objective import ROOT, Row

LIMIT = 0.3
RUNS = 7

LIST = "import sys, json, kboost; print(json.dumps(sorted(m for m in sys.modules if {test})))"
CLOCK = """
import importlib, json, sys, time
start = time.perf_counter()
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
middle = time.perf_counter()
import kboost
print(json.dumps([middle - start, time.perf_counter() - middle]))
"""


def run(bench: Bench) -> Report:
    lines, added = [], {}
    for label in ("sklearn", "sklearn and the submodules kboost uses"):
        job = {"entry": "import_time", "after": label, "runs": RUNS}
        row = bench.other(job, partial(measure, label), f"after {label}")
        before, extra = row["before_seconds"], row["added_seconds"]
        added[label] = {"added_seconds": extra, "ratio": extra / before}
        lines.append([label, before, extra, extra / before])
    last = lines[-1]
    return Report(
        head=("imported before", "before s", "kboost s", "ratio"),
        lines=lines,
        settings={"runs": RUNS, "limit_seconds": LIMIT},
        ratios=added,
        criterion=f"import kboost adds less than {LIMIT} s to scikit-learn and its submodules",
        met=last[2] < LIMIT,
    )


def measure(label: str) -> Row:
    """Median of several interpreters; the first one warms the disk and does not count."""
    names = ["sklearn"] if label == "sklearn" else submodules()
    pairs = [json.loads(python(CLOCK, json.dumps(names))) for _ in range(RUNS + 1)][1:]
    return {
        "status": "ok",
        "before_seconds": median(before for before, _ in pairs),
        "added_seconds": median(added for _, added in pairs),
    }


def submodules() -> list[str]:
    """What kboost loads of scikit-learn."""
    found: list[str] = json.loads(python(LIST.format(test="m.split('.')[0] == 'sklearn'")))
    return found


def python(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
