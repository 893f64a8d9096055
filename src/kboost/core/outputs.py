"""The independent problems of several outputs (classes, pairs of classes, targets), solved in turn.

With one job each problem gets an equal share of the time left, so that none is without a model.
With several jobs the problems run in threads under one deadline. Ctrl-C reaches the main thread
only, so the deadline is called off and the threads end after their current step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from kboost._threads import ThreadPool
from kboost.core.checkpoint import in_thread
from kboost.core.deadline import Deadline
from kboost.core.stopping import INTERRUPTED

Result = TypeVar("Result")  # a dataclass with the fields `reason` and `trace`


def solve_outputs(
    solve: Callable[[int, Deadline], Result], count: int, deadline: Deadline, n_jobs: int
) -> list[Result]:
    """Return `solve(k, deadline)` for k = 0, ..., count - 1.

    A result whose `reason` is `INTERRUPTED` ends the sequence. If Ctrl-C left an output unsolved,
    or ended it with an empty `trace`, that is without a model, KeyboardInterrupt is raised. A time
    limit that leaves an empty trace leaves a model without columns.
    """
    if count > 1 and n_jobs > 1:
        results = _in_threads(solve, count, deadline, min(n_jobs, count))
    else:
        results = _in_sequence(solve, count, deadline)
    _check_models(results, count)
    return results


def until_interrupted(work: Callable[[], Result], deadline: Deadline) -> tuple[Result, bool]:
    """Return `work()` and whether Ctrl-C cut it short.

    The work runs in a thread and checks the deadline, which Ctrl-C cancels: what the work then
    returns is the best so far. A second Ctrl-C, or one that the work itself meets, is raised.
    """
    pool = ThreadPool(1)
    future = pool.submit(in_thread(work))
    try:
        return future.result(), False
    except KeyboardInterrupt:
        if future.done():
            raise
        deadline.call_off()
        return future.result(), True
    finally:
        pool.shutdown(wait=False)


def _in_sequence(
    solve: Callable[[int, Deadline], Result], count: int, deadline: Deadline
) -> list[Result]:
    results: list[Result] = []
    for k in range(count):
        result: Any = solve(k, deadline.share(count - k))
        results.append(result)
        if result.reason is INTERRUPTED:
            break
    return results


def _in_threads(
    solve: Callable[[int, Deadline], Result], count: int, deadline: Deadline, n_jobs: int
) -> list[Result]:
    with ThreadPool(n_jobs) as pool:
        futures = [pool.submit(in_thread(solve), k, deadline) for k in range(count)]
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            finished = [future.done() for future in futures]
            _call_off(pool, deadline)
            return _collected(futures, finished)
        except BaseException:
            _call_off(pool, deadline)
            raise


def _call_off(pool: ThreadPool, deadline: Deadline) -> None:
    """Start no further problem and wait until the running ones have ended."""
    deadline.call_off()
    pool.shutdown(cancel_futures=True)


def _collected(futures: Sequence[Future[Result]], finished: Sequence[bool]) -> list[Result]:
    """The results there are; those that Ctrl-C cut short have the reason `INTERRUPTED`."""
    results = []
    for future, complete in zip(futures, finished, strict=True):
        if not future.cancelled() and future.exception() is None:
            result: Any = future.result()
            keep = complete and not all(finished)
            results.append(result if keep else replace(result, reason=INTERRUPTED))
    return results


def _check_models(results: Sequence[Any], count: int) -> None:
    """Raise if Ctrl-C left an output without a model."""
    without_model = {result.reason.rule for result in results if not result.trace}
    if len(results) < count or INTERRUPTED.rule in without_model:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
