"""`python -m benchmarks [NAME ...]`: run entries, print their tables, write their results."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import machine
from benchmarks.bench import Bench, Report, SkipError
from benchmarks.datasets import LOCATION
from benchmarks.earlier import Earlier
from benchmarks.entries import NAMES
from benchmarks.store import RESULTS, Store
from benchmarks.table import table


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    with contextlib.suppress(ValueError):  # only the main thread may; a job ends with its run
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.list:
        for name in NAMES:
            print(f"  {name:<14} {first_line(entry(name))}")
        return 0
    if options.data:
        os.environ[LOCATION] = os.path.abspath(options.data)
    here = machine.describe()
    threads = f"; {options.threads} for each solver here" if options.threads else ""
    print(machine.in_one_line(here) + threads)
    met = [run(name, options, here) for name in options.names or NAMES]
    return 0 if all(met) else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="entries to run; all by default")
    parser.add_argument("--list", action="store_true", help="say which entries there are")
    parser.add_argument("--data", metavar="DIR", help=f"where the data are (default: {LOCATION})")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="runs of each job")
    parser.add_argument(
        "--threads", type=int, metavar="N", help="of BLAS and OpenMP, written to a file of its own"
    )
    parser.add_argument(
        "--seconds", type=float, metavar="N",
        help="begin nothing after N seconds that an entry can leave out; run again to go on",
    )  # fmt: skip
    parser.add_argument(
        "--earlier", type=Path, metavar="DIR",
        help="results of earlier code on this machine: rows are taken over, every tenth checked",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="measure again what is at hand")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="where to write"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"no entry called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in ("repeats", "threads"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be at least 1; got {value}")
    return options


def run(name: str, options: argparse.Namespace, here: dict[str, Any]) -> bool:
    """Run one entry; False if it failed or missed its criterion."""
    module = entry(name)
    print(f"\n{name}: {first_line(module)}\n", flush=True)
    suffix = f".threads-{options.threads}" if options.threads else ""
    path = options.results / f"{name}{suffix}.json"
    earlier = Earlier(options.earlier / path.name, here) if options.earlier else None
    bench = Bench(
        Store(path, machine=here, fresh=options.fresh, earlier=earlier),
        repeats=options.repeats,
        threads=options.threads,
        seconds=options.seconds,
        say=lambda words: print(words, flush=True),
    )
    try:
        report: Report = module.run(bench)
    except SkipError as reason:
        print(f"  skipped: {reason}")
        return True
    except RuntimeError as error:
        print(f"  failed: {error}", file=sys.stderr)
        return False
    if earlier is not None:
        report.notes = [*report.notes, earlier.words(bench.used)]
    bench.store.finish(report.settings, report.ratios, bench.used, report.shown())
    show(report)
    return report.met is not False


def show(report: Report) -> None:
    print(f"\n{table(report.head, report.lines)}\n")
    for title, head, lines in report.more:
        print(f"  {title}\n\n{table(head, lines)}\n")
    for note in report.notes:
        print(f"  {note}")
    if report.met is not None:
        print(f"  {report.criterion}: {'met' if report.met else 'NOT MET'}")


def entry(name: str) -> ModuleType:
    return import_module(f"benchmarks.entries.{name}")


def first_line(module: ModuleType) -> str:
    return (module.__doc__ or "").splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
