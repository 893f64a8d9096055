"""Tables 2 to 4 of MKBoost as Markdown; the first line of each set has the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any

from benchmarks.datasets.mkb import FILES
from benchmarks.entries import _mkb_tables as tables
from benchmarks.objective import Row
from benchmarks.table import markdown, number

COLUMNS = {
    2: ("MKB-D1", "MKB-D2", "MKL-SD", "MKL-SILP", "MKL-Level", "MKL-Hessian", "Lp-MKL"),
    3: ("MKB-D1", "MKB-D2", "Boost-Exp", "Boost-Log", "Boost-CG-L1", "Boost-CG-L2", "Boost-SVM"),
    4: ("MKB-D1", "MKB-S1", "MKB-D2", "MKB-S2"),
}
Show = Callable[[Sequence[Row], Sequence[Row]], str]


def pages(rows: Sequence[Row]) -> dict[str, str]:
    """Return the text of each table (accuracies and seconds) by its name."""
    cells: dict[Any, list[Row]] = {}
    for row in rows:
        job = row["job"]
        cells.setdefault((job["data"], job["method"], job["scaling"]), []).append(row)
    out = {}
    for place, methods in COLUMNS.items():
        out[f"mkboost_table{place}"] = block(cells, methods, accuracy, printed_accuracy)
        out[f"mkboost_seconds{place}"] = block(cells, methods, seconds, printed_seconds)
    return out


def block(cells: tables.Cells, methods: Sequence[str], show: Show, printed: Any) -> str:
    lines = []
    for name in FILES:
        lines.append([f"{name} {FILES[name]}", "paper", *(printed(name, m) for m in methods)])
        for scaling, words in tables.WORDS.items():
            first = cells.get((name, "MKB-D1", scaling), ())
            shown = [show(cells.get((name, m, scaling), ()), first) for m in methods]
            if any(shown):
                lines.append(["", words, *(cell or "–" for cell in shown)])  # –: not run
    return markdown(("set", "kernels", *methods), lines) + "\n"


def accuracy(rows: Sequence[Row], first: Sequence[Row]) -> str:
    """Mean ± standard deviation in per cent, number of draws, and the comparison with MKB-D1."""
    good = tables.done(rows)
    if not good:
        return tables.reason(rows) if rows else ""
    values = [100 * row["accuracy"] for row in good]
    spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
    early = "\\*" if len(good) < len(rows) or any(row["ended_early"] for row in good) else ""
    return f"{fmean(values):.1f}{spread} ({len(good)}){mark(good, first)}{early}"


def mark(rows: Sequence[Row], first: Sequence[Row]) -> str:
    p = tables.p_value(rows, first)
    if p is None or p > 0.05:
        return ""
    shared = {row["job"]["draw"] for row in rows}
    peers = [row["accuracy"] for row in first if row["job"]["draw"] in shared]
    return " ▲" if fmean(row["accuracy"] for row in rows) > fmean(peers) else " ▼"


def seconds(rows: Sequence[Row], first: Sequence[Row]) -> str:
    good = tables.done(rows)
    return number(fmean(row["fit_cpu_seconds"] for row in good)) if good else ""


def printed_accuracy(name: str, method: str) -> str:
    mean, deviation, _ = tables.paper(name, method)
    return f"{100 * mean:.1f} ± {100 * deviation:.1f}"


def printed_seconds(name: str, method: str) -> str:
    return number(tables.paper(name, method)[2])
