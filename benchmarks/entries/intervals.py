"""Coverage of `AutoKernelRegressor().predict_interval` on the regression tables, defaults.

The first quarter of each table is judged, as in `tables`; tables of at most 10,000 rows. The
criterion, written before the first run: at a coverage of 90 %, the share of test targets inside is
not below 90 % by more than two standard errors (of the test rows alone) on at least nine tables in
ten. Widths are means over the test rows, divided by four standard deviations of the test targets:
about 1 for a normal target without a model at 95 %.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, SkipError, must
from benchmarks.datasets import MissingDataError
from benchmarks.objective import Row
from benchmarks.tabular.data import manifest, reported

COVERAGES, JUDGED = (0.8, 0.9, 0.95), 0.9
MOST_ROWS = 10_000
HEAD = ("table", "test rows", *(f"inside {c:.0%}" for c in COVERAGES), "width at 90 %")


def run(bench: Bench) -> Report:
    try:
        tables = manifest().values()
    except MissingDataError as error:
        raise SkipError(str(error)) from error
    lines, enough = [], []
    for entry in sorted(tables, key=lambda e: e.rows):
        if entry.task != "regression" or entry.rows > MOST_ROWS:
            continue
        job = {"entry": "intervals", "table": entry.name, "coverages": COVERAGES}
        row = must(bench.other(job, partial(measure, entry.name), entry.name))
        inside = row["inside"][COVERAGES.index(JUDGED)]
        error = (JUDGED * (1 - JUDGED) / row["n_test"]) ** 0.5
        enough.append(inside >= JUDGED - 2 * error)
        shares = [f"{100 * share:.1f} %" for share in row["inside"]]
        lines.append([entry.name, row["n_test"], *shares, row["width"]])
    return Report(
        head=HEAD,
        lines=lines,
        settings={"coverages": COVERAGES},
        ratios={"tables with enough coverage": f"{sum(enough)} of {len(enough)}"},
        criterion="at 90 % not below by more than two standard errors on nine tables in ten",
        met=sum(enough) >= 0.9 * len(enough),
        notes=[f"{sum(enough)} of {len(enough)} tables"],
    )


def measure(name: str) -> Row:
    from kboost import AutoKernelRegressor

    split = reported(name)
    model = AutoKernelRegressor().fit(split.X_train, split.y_train)
    y = np.asarray(split.y_test, dtype=np.float64)
    found: dict[str, Any] = {"status": "ok", "n_test": len(y), "inside": []}
    for coverage in COVERAGES:
        low, high = model.predict_interval(split.X_test, coverage).T
        found["inside"].append(float(np.mean((low <= y) & (y <= high))))
        if coverage == JUDGED:
            found["width"] = float(np.mean(high - low) / (4 * y.std()))
    return found
