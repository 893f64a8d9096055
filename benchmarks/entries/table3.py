"""CG-Boost, Table 3: Forest, class 1 against class 2; kernels, composites and the mixture.

See _mixture.py for what is done; times are of the processor.
"""

from __future__ import annotations

from benchmarks.bench import Bench, Report
from benchmarks.entries import _mixture

PAPER: dict[str, _mixture.Published] = {
    "2-norm": {
        "L": (23.6, 999, None, None),
        "Q": (23.2, None, 975, None),
        "R": (25.9, None, None, 987),
        "L+Q": (23.1, 975, 975, None),
        "L+R": (23.3, 980, None, 980),
        "L+Q+R": (23.0, 980, 980, 980),
        "LQR": (22.7, 676, 173, 3),
    },
    "1-norm": {
        "L": (23.6, 26, None, None),
        "Q": (25.1, None, 70, None),
        "R": (30.2, None, None, 66),
        "L+Q": (23.4, 65, 65, None),
        "L+R": (23.0, 41, None, 41),
        "L+Q+R": (25.5, 53, 53, 53),
        "LQR": (23.0, 30, 10, 3),
    },
}
LIMITS = {"2-norm": (10.0, 20.0), "1-norm": (5.0, 5.0)}


def run(bench: Bench) -> Report:
    return _mixture.run(bench, "forest", PAPER, LIMITS, few=5)
