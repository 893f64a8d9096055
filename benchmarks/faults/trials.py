"""Repeated tries of one kind of fault on one estimator, and their counts."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from random import Random
from typing import Any

from benchmarks.faults.children import Begin, in_child
from benchmarks.faults.kind import Kind
from benchmarks.faults.kinds import KINDS
from benchmarks.faults.outcome import LOSS, MODEL, SENTENCE, Outcome, attempt
from benchmarks.faults.subjects import SUBJECTS, Subject

_SHOWN = 3  # examples of each verdict


def pairs(number: int) -> list[tuple[str, str]]:
    """All kinds with the estimators they apply to, in the random order of a round."""
    found = [(kind_name, name) for kind_name, kind in KINDS.items() for name in kind.subjects()]
    Random(number).shuffle(found)
    return found


def trials(kind_name: str, name: str, count: int, number: int = 0) -> dict[str, Any]:
    """The row of a table: numbers of tries and verdicts, the longest wait, some words."""
    kind = KINDS[kind_name]
    verdicts, words, waits = Counter[str](), dict[str, list[str]](), [0.0]
    for turn in range(count):
        result = one(kind, name, f"{kind_name} {name} {number} {turn}")
        verdicts[result["verdict"]] += 1
        waits.append(result.get("wait", 0.0))
        seen = words.setdefault(result["verdict"], [])
        if result["words"] not in seen and len(seen) < _SHOWN:
            seen.append(result["words"])
    counts = {verdict: verdicts[verdict] for verdict in (MODEL, SENTENCE, LOSS)}
    return {"status": "ok", "tries": count, **counts, "wait": max(waits), "words": words}


def one(kind: Kind, name: str, seed: str) -> dict[str, Any]:
    """One try."""
    subject = kind.among[name]
    signals = kind.signals(Random(seed), usual_seconds(name) if name in SUBJECTS else 1.0)
    work = partial(_attempt, kind, subject, seed)
    return in_child(work, kind.limit, signals)


def _attempt(kind: Kind, subject: Subject, seed: str, begin: Begin) -> Outcome:
    draw = Random(seed)
    kind.signals(draw, 1.0)  # the same numbers as outside
    return kind.attempt(subject, draw, begin)


@cache
def usual_seconds(name: str) -> float:
    """How long an undisturbed fit takes."""

    def work(begin: Begin) -> Outcome:
        begin()
        return attempt(SUBJECTS[name], SUBJECTS[name].make())

    return float(in_child(work, 60.0)["seconds"])
