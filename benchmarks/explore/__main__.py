"""`python -m benchmarks.explore`: generated fits until so many are done, or the time is over.

Case k of a seed is always the same. Counts and failures are in a JSON file, from which the next
call continues; `--only k` repeats one case and shows its error.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.explore import relations
from benchmarks.explore.cases import Case, draw
from kboost.persistence.replacing import replace_content

SLOW = 180  # seconds of a case; longer is a failure


class SlowError(Exception):
    """A case that does not end."""


def case_of(seed: int, number: int) -> tuple[Case, str, np.random.Generator]:
    """A case and its relation."""
    rng = np.random.default_rng([seed, number])
    relation = str(rng.choice(list(relations.RELATIONS)))
    return draw(rng), relation, rng


def check(seed: int, number: int, count: Callable[[], None] = lambda: None) -> str:
    """The outcome of a case: "holds", or "refused" if there is no such model; else an error."""
    case, relation, rng = case_of(seed, number)
    try:
        model = relations.fitted(case)
    except ValueError as error:
        if str(error).count(". ") or not str(error).endswith("."):
            raise  # not one of our sentences
        return "refused"
    count()
    try:
        relations.RELATIONS[relation](case, model, rng)
    except ValueError as error:  # the changed data may be refused: a class without rows
        if not str(error).endswith("."):
            raise
        return "refused"
    count()
    return "holds"


def _alarm(*_: object) -> None:
    raise SlowError(f"more than {SLOW} s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explore")
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--out", default="benchmarks/results/explore.json")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.only is not None:
        case, relation, _ = case_of(given.seed, given.only)
        print(relation, case.words)
        print(check(given.seed, given.only))
        return
    out, started = Path(given.out), time.monotonic()
    found: dict[str, Any] = {"seed": given.seed, "cases": 0, "fits": 0, "seconds": 0.0}
    found |= {"outcomes": {}, "relations": {}, "estimators": {}, "failures": []}
    if out.exists():
        found = json.loads(out.read_text())
    before = found["seconds"]
    signal.signal(signal.SIGALRM, _alarm)
    while found["fits"] < given.fits and time.monotonic() - started < given.seconds:
        number = found["cases"]
        _one(found, number)
        found["cases"] = number + 1
        found["seconds"] = round(before + time.monotonic() - started, 1)
        if number % 20 == 0:
            _write(out, found)
    _write(out, found)
    print(f"{found['fits']} fits, {len(found['failures'])} failures")


def _one(found: dict[str, Any], number: int) -> None:
    """Check one case, and count."""

    def count() -> None:
        found["fits"] += 1

    case, relation, _ = case_of(found["seed"], number)
    signal.alarm(SLOW)
    try:
        outcome = check(found["seed"], number, count)
    except Exception as error:
        outcome = "fails"
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error}"[:300]
        place = f"{Path(where.filename).name}:{where.lineno}"
        found["failures"].append(
            {"case": number, "relation": relation, "what": case.words[:400], "error": words,
             "at": place}
        )  # fmt: skip
        print(number, relation, case.words[:200], words, place, flush=True)
    finally:
        signal.alarm(0)
    for kind, name in (("outcomes", outcome), ("relations", relation), ("estimators", case.name)):
        found[kind][name] = found[kind].get(name, 0) + 1


def _write(out: Path, found: dict[str, Any]) -> None:
    replace_content(str(out), (json.dumps(found, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
