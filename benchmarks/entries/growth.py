"""How the time of cells grows with the rows of COVTYPE: fit and prediction, all defaults."""

from __future__ import annotations

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.entries.covtype import OURS, cpu, total
from benchmarks.objective import Job

SIZES = (30_000, 60_000, 120_000, 240_000, 500_000)
LIMIT = 1.1
HEAD = ("rows", "cells", "error %", "seconds", "cpu s", "memory MiB")


def run(bench: Bench) -> Report:
    rows = {
        n: must(
            bench.run(
                Job("kboost_cells", "covtype", OURS, {"n_train": n}, time_limit=3600.0),
                f"{n} rows",
            )
        )
        for n in SIZES
    }
    slopes = {
        name: float(np.polyfit(np.log(SIZES), np.log([of(row) for row in rows.values()]), 1)[0])
        for name, of in (("wall", total), ("cpu", cpu))
    }
    return Report(
        head=HEAD,
        lines=[
            [n, r["cells"], 100 * r["test_error"], total(r), cpu(r), r["memory_mib"]]
            for n, r in rows.items()
        ],
        settings={"cells": OURS},
        ratios={"exponents": slopes},
        criterion=f"processor time grows no faster than N^{LIMIT}",
        met=slopes["cpu"] <= LIMIT,
        notes=[f"time N^{slopes['wall']:.2f} by the wall clock, N^{slopes['cpu']:.2f} by the cpu"],
    )
