"""The evidence in README.md, for kboost and against it, written from the stored results.

`python -m benchmarks.pages` replaces the text between two pairs of marks, and tests/benchmarks
compares it with the results: no figure there is typed by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import fmean, median
from typing import Any

from benchmarks.entries import _tables as ranks
from benchmarks.objective import ROOT
from benchmarks.peer_pages import found_in, lost_tables
from benchmarks.store import RESULTS
from benchmarks.tabular.competitors import OURS

README = ROOT / "README.md"
BEGIN, END = "<!-- evidence: written by benchmarks/evidence.py -->", "<!-- end of evidence -->"
LOST, LOST_END = "<!-- losses: written by benchmarks/evidence.py -->", "<!-- end of losses -->"
Result = dict[str, Any]


def block() -> str:
    """The table as Markdown."""
    lines = ["| benchmark | kboost | compared with |", "| --- | --- | --- |"]
    for name, (title, words) in ROWS.items():
        result: Result = json.loads((RESULTS / f"{name}.json").read_text())
        link = f"[{title}](benchmarks/results/{name}.json)"
        what, ours, theirs = words(result)
        lines.append(f"| {link}{what} | {ours} | {theirs} |")
    return "\n".join(lines)


def losses() -> str:
    """Where the tables of mixed columns speak against `AutoKernel*`, as items of a list."""
    result: Result = json.loads((RESULTS / "tables.json").read_text())
    found = found_in(result)
    seconds = {
        name: [ranks.figure(found, table, name, "fit_cpu_seconds") for table in names]
        for names in [ranks.tables_of(found)]
        for name in (OURS, "LightGBM")
    }
    lost = lost_tables(found)
    times = {
        name: f"{median(own):.1f} s, at most {max(own):.0f} s" for name, own in seconds.items()
    }
    return (
        f"- **Time matters most.** A fit on those tables takes LightGBM {times['LightGBM']} of the "
        f"processor (median, longest), `AutoKernel*` {times[OURS]}.\n"
        f"- **The best model on every table.** On {len(lost)} of {len(ranks.tables_of(found))} "
        "tables at least one of the six peers is better in one measure: "
        "[all of them](docs/peers.md)."
    )


def write() -> None:
    """Put table and list into README.md."""
    text = README.read_text()
    for begin, end, new in ((BEGIN, END, block()), (LOST, LOST_END, losses())):
        before, rest = text.split(begin)
        after = rest.split(end)[1]
        text = f"{before}{begin}\n\n{new}\n\n{end}{after}"
    README.write_text(text)


def tables(result: Result) -> tuple[str, str, str]:
    found = found_in(result)
    names = ranks.tables_of(found)
    places = [
        ranks.mean_ranks(found, task, key)
        for task, key in (
            ("classification", "error"), ("classification", "log_loss"), ("regression", "error")
        )
    ]  # fmt: skip
    ours = ", ".join(f"{each[OURS]:.2f}" for each in places)
    others = [min((r, name) for name, r in each.items() if name != OURS) for each in places]
    rivals = ", ".join(f"{name} {rank:.2f}" for rank, name in others)
    ratio = ranks.middle_ratio(found, "fit_cpu_seconds", OURS, "CatBoost")
    lost = [name for name in names if ranks.ratio_to_best(found, name) > 1.1]
    return (
        f", {len(names)} tables, default settings",
        f"mean rank among 7 by error, log loss and NMSE: {ours}",
        f"the next: {rivals}; but a fit takes {ratio:.1f} times CatBoost's processor time at the "
        f"median, and the best peer's error is lower by more than a tenth on {', '.join(lost)}",
    )


def lp_forest(result: Result) -> tuple[str, str, str]:
    lines = [line for line in result["shown"]["lines"] if line[0] != "median"]
    best = [min(line[7], line[8]) for line in lines]
    worst = max(line[4] for line in lines)
    return (
        f", Forest, 1,000 rows, 3,000 columns, {len(lines)} draws",
        f"{spread([line[6] for line in lines])} s, the same objective to {worst:.0e}",
        f"the full linear program in HiGHS: {spread(best, 0)} s",
    )


def predict_speed(result: Result) -> tuple[str, str, str]:
    ours, theirs = result["shown"]["lines"][:2]

    def words(line: list[Any], columns: str) -> str:
        accuracy, fit, predict = float(line[1].split()[0]), line[3], line[4]
        seconds = f"{short(predict)} s, {accuracy:.1f} % right; fit in {short(fit)} s"
        return f"{line[2]:,} {columns}, {seconds}"

    return (
        ", Forest, 5,000 training rows",
        words(ours, "columns"),
        f"a tuned `SVC`: {words(theirs, 'support vectors')}",
    )


def covtype(result: Result) -> tuple[str, str, str]:
    lines = {
        name: [line for line in result["shown"]["lines"] if line[1] == name]
        for name in ("cells", "LightGBM")
    }
    ours, theirs = (
        f"error {spread([line[3] for line in lines[name]], 2)} %, "
        f"{spread([line[6] for line in lines[name]], 0)} s in total"
        for name in lines
    )
    return (
        f", COVTYPE in cells, {len(lines['cells'])} draws",
        f"{ours}; the model is as large as the data",
        f"LightGBM, 1,500 trees: {theirs}",
    )


def kin40k(result: Result) -> tuple[str, str, str]:
    share = result["ratios"]["1.34 %"]["processor"]
    trees = next(line for line in result["shown"]["lines"] if line[0] == "lightgbm")
    return (
        ", KIN40K, to an error of 1.34 %",
        f"{share:.2f} of the processor time of plain least squares",
        f"plain least squares on random centres; LightGBM reaches {trees[2]:.1f} %",
    )


def model_size(result: Result) -> tuple[str, str, str]:
    lines = result["shown"]["lines"]
    sets = list(dict.fromkeys(line[0] for line in lines))
    size = {(line[0], line[1]): line[5] for line in lines}
    wrong = ", ".join(dict.fromkeys(note.split(":")[0] for note in result["shown"]["notes"]))
    shares = {
        model: fmean(size[name, model] / size[name, "SVC"] for name in sets)
        for model in ("KernelBoost", "SparseKernel")
    }
    return (
        f", {len(sets)} data sets of scikit-learn",
        f"{shares['KernelBoost']:.2f} (`KernelBoost*`) and {shares['SparseKernel']:.2f} "
        "(`SparseKernel*`) of the bytes of an SVC, on average",
        f"LightGBM's text is larger on each; `KernelBoost*` misses the allowed error on {wrong}",
    )


def spread(values: list[float], digits: int = 1) -> str:
    """The lowest and the highest."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def short(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"


ROWS: dict[str, tuple[str, Callable[[Result], tuple[str, str, str]]]] = {
    "tables": ("Tables of mixed columns", tables),
    "lp_forest": ("1-norm optimum", lp_forest),
    "predict_speed": ("100,000 predictions", predict_speed),
    "covtype": ("522,910 rows", covtype),
    "kin40k": ("Least squares", kin40k),
    "model_size": ("Bytes of a model", model_size),
}
