"""Ctrl-C at 20,000 rows: how long every estimator takes to answer.

The data are those of `limits`. Each estimator is fitted in a copy of one process, and interrupted
after 1 and 4 seconds of the processor, by a thread that sends SIGINT to its process. The
wait is the processor time from the signal to the end of `fit`, since others use the machine; a copy
that does not answer is ended after 30 seconds more. A fit may be over before the signal.

Criterion, set before the first run: KeyboardInterrupt within 1 second, and either a model that
predicts and says "interrupted", or the estimator as it was.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from functools import partial
from typing import Any

from benchmarks.bench import Bench, Report
from benchmarks.entries import limits, memory
from benchmarks.objective import Row

MOMENTS = (1.0, 4.0)  # seconds of the processor
MOST, LIMIT = 1.0, 35.0
_PAUSE = 0.01  # seconds between looks at the clock
CASES = [(name, limits.ROWS) for name in memory.ESTIMATORS] + list(limits.FEWER.items())
HEAD = ("estimator", "rows", "signal after s", "wait s", "what is left")


def run(bench: Bench) -> Report:
    lines: list[list[Any]] = []
    misses: list[str] = []
    for moment in MOMENTS:
        for name, n_rows in CASES:
            job = {"entry": "interrupts", "name": name, "rows": n_rows, "moment": moment}
            if not bench.wants(job):
                continue
            label = f"{name}, {n_rows:,} rows, {moment:g} s"
            row = bench.other(job, partial(measure, name, n_rows, moment), label)
            lines.append([name, n_rows, moment, row["wait"], row["words"][:60]])
            if row["verdict"] == "loss" or row["wait"] > MOST:
                misses.append(f"{label}: {row['wait']:.2f} s; {row['words']}")
    return Report(
        head=HEAD,
        lines=lines,
        settings={"rows": limits.ROWS, "features": limits.FEATURES},
        ratios={"longest wait": max(line[3] for line in lines)},
        criterion=f"KeyboardInterrupt within {MOST:g} s of the processor",
        met=not misses,
        notes=[f"{len(lines)} of {len(MOMENTS) * len(CASES)} cases."]
        + [f"Missed: {miss}" for miss in misses],
    )


def measure(name: str, n_rows: int, moment: float) -> Row:
    """The row of one interrupted fit."""
    from benchmarks.faults.children import in_child

    row = in_child(partial(interrupted, name, n_rows, moment), LIMIT + moment)
    return {"status": "ok", **row, "wait": float(row.get("waited", LIMIT))}


# In the copy --------------------------------------------------------------------------------------


def interrupted(name: str, n_rows: int, moment: float, begin: Any) -> Any:
    """Fit, and judge what an interrupt leaves."""
    from benchmarks.faults.outcome import LOSS, MODEL, SENTENCE, Outcome, reasons, same, words_of

    model, (X, y) = limits.made(name), limits.data(name, n_rows)
    before = dict(vars(model))
    begin()
    start = time.process_time()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    over = threading.Event()

    def ring() -> None:
        while time.process_time() - start < moment:
            if over.wait(_PAUSE):
                return
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=ring, daemon=True)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        over.set()
        thread.join()
    except KeyboardInterrupt as error:
        waited = {"waited": max(0.0, time.process_time() - start - moment)}
        if same(vars(model), before):
            return Outcome(SENTENCE if str(error) else LOSS, str(error), waited)
        told = all(each.rule == "interrupted" for each in reasons(model))
        model.predict(X[:100])
        return Outcome(MODEL if told else LOSS, words_of(model), waited)
    except ValueError as error:
        return Outcome(SENTENCE, f"refused: {error}"[:300], {"waited": 0.0})
    if time.process_time() - start > moment + MOST:
        return Outcome(LOSS, "fit went on after an interrupt")
    return Outcome(MODEL, "over before the signal", {"waited": 0.0})
