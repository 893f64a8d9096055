"""MKBoost, Tables 2 and 3, the rivals: five MKL methods, kernel design, column generation.

As `mkb_tables`, with fewer draws on the large sets and a time limit for every fit; what ended by
it, or by an error, is counted in the line. Column generation is one against the rest where there
are more than two classes, and with "mean" its columns have unit length. p is that of the test
against MKB-D1 of `mkb_tables`, on the draws that both have.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.bench import Bench, Report
from benchmarks.entries import _mkb_tables as tables
from benchmarks.entries._mkb import SETTINGS
from benchmarks.entries._mkb_tables import DRAWS, FEW_DRAWS, LARGE, SMALL, Stage

QUICK = ("MKL-SILP", "MKL-Level", "MKL-Hessian", "Lp-MKL", "MKL-SD", "Boost-Exp", "Boost-Log")
SLOW = ("Boost-CG-L1", "Boost-CG-L2")
PLAN = (
    Stage(QUICK, SMALL, DRAWS),
    Stage(QUICK, LARGE, FEW_DRAWS),
    Stage(SLOW, SMALL, DRAWS),
    Stage(SLOW, LARGE, 1),
    Stage(QUICK, LARGE, DRAWS),
    Stage(SLOW, LARGE, FEW_DRAWS),
)


def run(bench: Bench) -> Report:
    found, first = tables.collect(bench, "mkb_rivals", PLAN), first_rows(bench)
    return Report(
        head=tables.HEAD,
        lines=tables.lines(found, first),
        settings={**SETTINGS, "draws": DRAWS, "few_draws": FEW_DRAWS,
                  "fit_seconds": tables.FIT_SECONDS},
        ratios=tables.tests({**first, **found}, "MKB-D1"),
        notes=[
            "accuracy and deviation over the draws; seconds of the processor for a fit; p: paired "
            "t-test against MKB-D1 over the draws, same scaling",
            f"at most {tables.FIT_SECONDS:g} seconds by the clock a fit; ended early: fits that "
            "reached it, or failed",
        ],
    )  # fmt: skip


def first_rows(bench: Bench) -> dict[Any, list[Any]]:
    """The rows of MKB-D1, from the other entry's result; accuracies do not depend on the clock."""
    try:
        other = json.loads(bench.store.path.with_name("mkb_tables.json").read_text())
    except OSError:
        return {}
    out: dict[Any, list[Any]] = {}
    for row in other["rows"]:
        job = row["job"]
        if job["method"] == "MKB-D1":
            out.setdefault((job["data"], "MKB-D1", job["scaling"]), []).append(row)
    return out
