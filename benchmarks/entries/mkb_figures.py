"""MKBoost, Figures 1 to 6: accuracy and time against rounds, sampling ratio and decay.

Four sets, three draws of halves each (fewer with `--seconds`: the number is in the line), kernels
of mean diagonal 1; what is not varied is as in the paper (100 rounds, ratio 0.2, decay 2^-5).
Accuracies along the rounds are stages of one fit of 200.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, must
from benchmarks.datasets.mkb import FILES
from benchmarks.entries._mkb import DECAY, RATIO, ROUNDS, SETTINGS, VARIANTS, judged, mkboost
from benchmarks.objective import Row

SETS = ("D12", "D7", "D8", "D5")
DRAWS = 3
STAGES = tuple(range(20, 201, 20))
RATIOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
DECAYS = tuple(2.0**-e for e in (10, 7, 5, 3, 2, 1, 0))
HEAD = ("set", "variant", "varied", "draws", "lowest", "accuracy", "middle", "accuracy ", "highest",
        "accuracy  ", "seconds, lowest", "seconds, highest")  # fmt: skip


def run(bench: Bench) -> Report:
    found: dict[tuple[str, str, str], list[Row]] = {}
    for draw, name, variant in product(range(DRAWS), SETS, VARIANTS):
        for what in sweeps(variant):
            job = {
                "entry": "mkb_figures",
                "data": name,
                "variant": variant,
                "varied": what,
                "draw": draw,
            }
            if bench.wants(job):
                measure = partial(MEASURES[what], name, variant, draw)
                label = f"{name}, {variant}, {what}, draw {draw}"
                row = must(bench.other(job, measure, label))
                found.setdefault((name, variant, what), []).append(row)
    lines = [
        [f"{name} {FILES[name]}", variant, what, len(rows), *line(sweeps(variant)[what], rows)]
        for (name, variant, what), rows in found.items()
    ]
    return Report(
        head=HEAD,
        lines=lines,
        settings={**SETTINGS, "draws": DRAWS, "stages": STAGES, "ratios": RATIOS, "decays": DECAYS},
        ratios={},
        notes=["means over the draws; seconds of the processor"],
    )


def sweeps(variant: str) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {"rounds": STAGES, "ratio": RATIOS}
    return found | ({"decay": DECAYS} if variant[0] == "S" else {})


def line(values: tuple[float, ...], rows: list[Row]) -> list[Any]:
    middle = len(values) // 2
    accuracy = [fmean(row["accuracy"][k] for row in rows) for k in range(len(values))]
    seconds = [fmean(row["seconds"][k] for row in rows) for k in (0, -1)]
    shown = [(f"{values[k]:g}", f"{accuracy[k]:.4f}") for k in (0, middle, -1)]
    return [cell for pair in shown for cell in pair] + seconds


def load(name: str, draw: int) -> Any:
    return datasets.load("mkb", which=name, seed=draw)


def along_rounds(name: str, variant: str, draw: int) -> Row:
    """Stages of one fit; the time of a stage is its share of the rounds' time."""
    try:
        data = load(name, draw)
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    model = mkboost(variant, column_scaling="mean", seed=draw, max_iter=STAGES[-1])
    row = judged(model, data)
    stages = list(model.staged_predict(data.X_test))
    done = np.array([step.seconds for step in model.trace_ if step.outcome != "reset"])
    at = [min(stage, len(stages)) - 1 for stage in STAGES]
    return {
        **row,
        "accuracy": [float(np.mean(stages[k] == data.y_test)) for k in at],
        "seconds": [row["fit_cpu_seconds"] * float(done[k] / done[-1]) for k in at],
    }


def along(parameter: str, values: tuple[float, ...], name: str, variant: str, draw: int) -> Row:
    """One fit a value."""
    try:
        data = load(name, draw)
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    settings = {"max_iter": ROUNDS, "sample_ratio": RATIO, "kernel_decay": DECAY}
    rows = [
        judged(
            mkboost(variant, column_scaling="mean", seed=draw, **(settings | {parameter: v})), data
        )
        for v in values
    ]
    return {
        "status": "ok",
        "fit_seconds": sum(row["fit_seconds"] for row in rows),
        "accuracy": [row["accuracy"] for row in rows],
        "seconds": [row["fit_cpu_seconds"] for row in rows],
    }


MEASURES: dict[str, Any] = {
    "rounds": along_rounds,
    "ratio": partial(along, "sample_ratio", RATIOS),
    "decay": partial(along, "kernel_decay", DECAYS),
}
