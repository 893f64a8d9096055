"""Mackey-Glass with one choice of ours, fixed before, on draws that nothing was chosen on.

The data and methods of `mackey_glass`. The choice was made by the validation errors of that entry,
means over its twenty draws: Bar-ak is lowest of ours one step ahead at all three noises, CG-k is
lowest at the hundredth step in the geometric mean over the noises. Here each of them is tuned on
the validation rows and judged beside the SVR tuned on the same rows, on draws 200 to 239: the best
model of each, and the mean of the five best of each (of CG-k and the SVR; Bar-ak has four).

The criterion, written before the first run: at no noise and horizon is ours worse than the SVR, nor
our mean than that of five SVRs, by a paired t-test of the logarithms of the errors at 5 %. The
middle noise comes first; draws that time did not allow are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench import Bench, Report, SkipError, must
from benchmarks.datasets import MissingDataError
from benchmarks.entries import _tuned
from benchmarks.entries.mackey_glass import EVERY, STEPS, late
from benchmarks.objective import Row

DRAWS, NOISES = range(200, 240), (0.124, 0.062, 0.186)
CHOSEN = {"one step": "Bar-ak", "hundred steps": "CG-k"}
METHODS = ("Bar-ak", "CG-k", "SVR")
LEVEL = 0.05
HEAD = ("noise", "horizon", "draws", "models", "ours", "Q², ours", "Q², SVR", "ratio of means",
        "mean ratio", "draws won", "p")  # fmt: skip


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    ratios: dict[str, Any] = {}
    for noise in NOISES:
        rows = finished(bench, noise)
        if len(rows) < 2:
            continue
        for horizon, method in CHOSEN.items():
            for models, suffix in (("best", ""), ("mean of five", " of mean")):
                ours, theirs = ([r[m][horizon + suffix] for r in rows] for m in (method, "SVR"))
                found = compare(ours, theirs)
                ratios[f"{100 * noise:.1f} %, {horizon}, {models}"] = found
                shown = (f"{fmean(errors):.5f}" for errors in (ours, theirs))
                lines.append([f"{100 * noise:.1f} %", horizon, len(rows), models, method, *shown,
                              *found.values()])  # fmt: skip
    if not lines:
        raise SkipError("fewer than two draws; run it again")
    whole = sum(line[2] for line in lines) == len(lines) * len(DRAWS) and len(lines) == 12
    worse = [n for n, found in ratios.items() if found["mean ratio"] > 1 and found["p"] < LEVEL]
    return Report(
        head=HEAD,
        lines=lines,
        settings={"draws": list(DRAWS), "chosen": CHOSEN, **_tuned.SETTINGS},
        ratios=ratios,
        criterion="ours nowhere worse than the SVR, nor our mean than that of five SVRs, by a "
        "paired t-test at 5 %",
        met=False if worse else True if whole else None,
        notes=[
            f"worse than the SVR: {', '.join(worse) or 'nowhere'}",
            "mean ratio: geometric mean over the draws; p of a paired t-test of the logarithms",
            *([] if whole else ["not all of the forty draws were run at each noise"]),
        ],
    )


def finished(bench: Bench, noise: float) -> list[dict[str, Row]]:
    """The draws on which all methods ran, as far as the time goes."""
    out = []
    for seed in DRAWS:
        jobs = {m: {"entry": "mackey_glass_fixed", "method": m, "noise": noise, "seed": seed}
                for m in METHODS}  # fmt: skip
        if all(bench.wants(job) for job in jobs.values()):
            out.append({
                m: must(bench.other(job, partial(measure, m, noise, seed),
                                    f"{100 * noise:.1f} %, draw {seed}, {m}"))
                for m, job in jobs.items()
            })  # fmt: skip
    return out


def compare(ours: list[float], theirs: list[float]) -> dict[str, Any]:
    """Ratios of the errors, and the p-value of no difference."""
    from scipy.stats import ttest_rel

    logs = np.log(ours), np.log(theirs)
    return {
        "ratio": fmean(ours) / fmean(theirs),
        "mean ratio": float(np.exp(np.mean(logs[0] - logs[1]))),
        "draws won": int(np.sum(logs[0] < logs[1])),
        "p": float(ttest_rel(*logs).pvalue),
    }


def measure(method: str, noise: float, seed: int) -> Row:
    """Tune on the validation rows for each horizon that is judged, then look at the test rows."""
    from benchmarks.datasets import mackey_glass

    try:
        data = datasets.load("mackey_glass", noise=noise, seed=seed)
    except MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    known, future = mackey_glass.series(noise, seed)
    first = mackey_glass.SPAN - 1
    held = np.arange(first + mackey_glass.N_TRAIN, len(known) - STEPS)
    tested = np.arange(first, first + len(data.y_test), EVERY)
    judges: dict[str, _tuned.Judge] = {
        "one step": lambda model: _tuned.error_of(model, data),
        "hundred steps": lambda model: late(model, known, held),
    }
    scores: dict[str, Callable[[Any], float]] = {
        "one step": lambda m: float(
            np.mean((m.predict(data.X_test) - data.y_test) ** 2) / data.y_test.var()
        ),
        "hundred steps": lambda model: late(model, future, tested),
    }
    wanted = [h for h in judges if method in ("SVR", CHOSEN[h])]
    tuned = _tuned.tune(method, data, noise, {h: judges[h] for h in wanted})
    row: Row = {"status": "ok", "fit_cpu_seconds": tuned[wanted[0]].cpu_seconds}
    for horizon, found in tuned.items():
        row[horizon] = scores[horizon](found.model)
        row[horizon + " of mean"] = scores[horizon](found.mean)
        row[horizon + " setting"] = found.setting
    return row
