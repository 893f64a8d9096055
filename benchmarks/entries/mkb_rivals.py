"""MKBoost, Tables 2 and 3, the rivals: five MKL methods, kernel design, column generation.

As `mkb_tables`, with fewer draws on the large sets and a time limit for column generation, whose
fits on thousands of rows and 17 kernels would take hours otherwise; it is one against the rest
where there are more than two classes. A method that is not there is left out.
"""

from __future__ import annotations

from benchmarks.bench import Bench, Report
from benchmarks.entries import _mkb_tables as tables
from benchmarks.entries._mkb import SETTINGS

METHODS = ("MKL-SD", "MKL-SILP", "MKL-Level", "MKL-Hessian", "Lp-MKL",
           "Boost-Exp", "Boost-Log", "Boost-CG-L1", "Boost-CG-L2")  # fmt: skip


def run(bench: Bench) -> Report:
    there = [method for method in METHODS if tables.available(method)]
    found = tables.collect(bench, "mkb_rivals", there)
    return Report(
        head=tables.HEAD,
        lines=tables.lines(found),
        settings={**SETTINGS, "draws": tables.DRAWS, "few_draws": tables.FEW_DRAWS},
        ratios={},
        notes=[
            "accuracy ± deviation over the draws; seconds of the processor for a fit",
            f"{tables.FEW_DRAWS} draws on {', '.join(tables.LARGE)}",
            f"Boost-CG: at most {tables.CG_SECONDS:g} seconds a fit",
        ],
    )
