"""The way of a call through the package: which files hand over to which, in order.

`python -m benchmarks.walks` prints four walks. A hop is a call from a function of one file to one
of another; each is listed once, when it first happens. Numerical leaves (kernels, columns, data,
solvers, checks of input) count as files but are not listed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

LEAVES = ("kernels/", "columns/", "data/", "solvers/", "tables/", "_")
SEED = 0


class Walk:
    """Records calls between files of the package while it is active."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.hops: list[tuple[str, str]] = []
        self._seen: set[tuple[str, str]] = set()

    def __enter__(self) -> Walk:
        sys.setprofile(self._record)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, argument: Any) -> None:
        is_import = frame.f_code.co_name == "<module>"
        if event != "call" or is_import or (callee := _file(frame)) is None:
            return
        self.files.add(callee)
        caller = frame.f_back
        while caller is not None and _file(caller) is None:
            caller = caller.f_back
        origin = None if caller is None else _file(caller)
        if caller is None or origin is None or origin == callee or _is_leaf(callee):
            return
        hop = (f"{origin}:{_name(caller)}", f"{callee}:{_name(frame)}")
        if "<module>" in hop[0]:
            return
        if hop not in self._seen and not _is_leaf(origin):
            self._seen.add(hop)
            self.hops.append(hop)


def _file(frame: FrameType) -> str | None:
    _, found, path = frame.f_code.co_filename.partition("/kboost/")
    return path if found and "/src/kboost/" in frame.f_code.co_filename else None


def _name(frame: FrameType) -> str:
    return getattr(frame.f_code, "co_qualname", frame.f_code.co_name)


def _is_leaf(file: str) -> bool:
    return file.startswith(LEAVES)


def walks() -> dict[str, Callable[[], Any]]:
    """The four calls, on small data."""
    from sklearn.datasets import load_breast_cancer

    import kboost

    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(SEED)
    large = rng.normal(size=(21_000, 2))
    signs = (large[:, 0] > large[:, 1]).astype(int)

    def command_line() -> None:
        from kboost.cli import main

        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "table.csv")
            rows = "\n".join(f"{a:.3f},{b:.3f},{int(a > b)}" for a, b in large[:200])
            table.write_text("a,b,y\n" + rows + "\n")
            model = str(Path(folder, "model.kboost"))
            arguments = sys.argv
            sys.argv = ["kboost", "fit", str(table), "--target", "y", "--output", model]
            try:
                main()
            except SystemExit as end:
                if end.code:
                    raise
            finally:
                sys.argv = arguments

    return {
        "KernelBoostClassifier().fit": lambda: kboost.KernelBoostClassifier().fit(X, y),
        'SparseKernelClassifier(cells="auto").fit': lambda: kboost.SparseKernelClassifier(
            cells="auto"
        ).fit(large, signs),
        "MKBoostClassifier().fit": lambda: kboost.MKBoostClassifier(max_iter=5).fit(X, y),
        "kboost fit": command_line,
    }


def main() -> None:
    """Print the walks."""
    for title, call in walks().items():
        with Walk() as walk:
            call()
        files = {hop.partition(":")[0] for pair in walk.hops for hop in pair}
        print(f"\n{title}: {len(walk.hops)} hops, {len(files)} files (of {len(walk.files)})")
        for origin, target in walk.hops:
            print(f"  {origin} -> {target}")


if __name__ == "__main__":
    main()
