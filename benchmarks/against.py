"""`python -m benchmarks.against CHECKOUT`: our jobs of six entries on another version and on this.

Both versions run each job in turn, in processes of their own, with the code of their own
`benchmarks` package. Errors, objectives and choices must be equal; processor times are compared by
their sums per entry.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = ("lp_forest", "qp_forest", "kin40k", "covtype", "mkb_speed", "predict_speed")
EQUAL = ("objective", "test_error", "error", "columns", "choices")
SLACK = 1e-9  # relative: sums in another order
MOST_COLUMNS = 4000  # of the joint fits on KIN40K
MOST_JOBS = 3  # per entry


def jobs(entry: str) -> list[dict[str, Any]]:
    """Our jobs of an entry, as its stored results have them."""
    rows = json.loads((ROOT / "benchmarks" / "results" / f"{entry}.json").read_text())["rows"]
    return [row["job"] for row in rows if is_ours(entry, row["job"])][:MOST_JOBS]


def is_ours(entry: str, job: dict[str, Any]) -> bool:
    if entry == "mkb_speed":
        return bool(job["what"] == "D1")
    if entry == "kin40k":
        first = job["method"] == "joint" and job["seed"] == 0
        return bool(first and job["size"] <= MOST_COLUMNS)
    parameters = job["solver_parameters"]
    plain = not {"max_columns", "columns_per_cell", "predict_dtype", "n_jobs"} & set(parameters)
    return job["solver"].startswith("kboost") and (plain or (entry == "covtype" and (
        not {"max_columns", "columns_per_cell"} & set(parameters)
    )))  # fmt: skip


def measure(entry: str, job: dict[str, Any]) -> dict[str, Any]:
    """The row of a job, by the `benchmarks` package of the working directory."""
    if entry == "mkb_speed":
        from benchmarks.entries.mkb_speed import measure as measure_mkb

        return dict(measure_mkb(job["data"], job["what"]))
    if entry == "kin40k":
        from benchmarks.entries.kin40k import guarded

        return dict(guarded(job["method"], job["size"], job["seed"]))
    from benchmarks.objective import Job, judge

    return dict(judge(Job(**job)))


def run(checkout: Path, entry: str, job: dict[str, Any]) -> dict[str, Any]:
    """Measure a job with the code of a checkout."""
    paths = f"{checkout / 'src'}{os.pathsep}{checkout}"
    done = subprocess.run(
        [sys.executable, __file__, "--measure", entry, json.dumps(job)],
        cwd=checkout, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if row["status"] != "ok":
        raise RuntimeError(f"{entry}: {row}")
    return row


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The quantities in which two rows differ."""
    return [name for name in EQUAL if not same(old.get(name), new.get(name))]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= SLACK * max(abs(one), abs(other))
    return bool(one == other)


def main(checkout: Path) -> int:
    total: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    differing = 0
    for entry in ENTRIES:
        for number, job in enumerate(jobs(entry)):
            sides = [checkout, ROOT] if number % 2 else [ROOT, checkout]
            rows = {side: run(side, entry, job) for side in sides}
            old, new = rows[checkout], rows[ROOT]
            found = differences(old, new)
            differing += bool(found)
            seconds = [row["fit_cpu_seconds"] for row in (old, new)]
            total[entry] = [sum(pair) for pair in zip(total[entry], seconds, strict=True)]
            words = f"DIFFERENT in {', '.join(found)}" if found else "equal"
            print(
                f"{entry:14} {number:3}  {seconds[0]:8.2f} {seconds[1]:8.2f} s  {words}", flush=True
            )
    for entry, (before, after) in total.items():
        print(
            f"{entry:14} {before:8.1f} {after:8.1f} s of the processor, ratio {after / before:.3f}"
        )
    return 1 if differing else 0


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(sys.argv[2], json.loads(sys.argv[3]))))
    else:
        sys.exit(main(Path(sys.argv[1]).resolve()))
