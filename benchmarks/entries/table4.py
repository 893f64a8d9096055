"""CG-Boost, Table 4: handwritten digits, odd against even; kernels, composites and the mixture.

See _mixture.py for what is done; times are of the processor.
"""

from __future__ import annotations

from benchmarks.bench import Bench, Report
from benchmarks.entries import _mixture
from benchmarks.entries.table3 import LIMITS

PAPER: dict[str, _mixture.Published] = {
    "2-norm": {
        "L": (18.7, 969, None, None),
        "Q": (18.0, None, 181, None),
        "R": (22.1, None, None, 971),
        "L+Q": (15.2, 184, 184, None),
        "L+R": (20.0, 980, None, 980),
        "L+Q+R": (16.1, 980, 980, 980),
        "LQR": (13.5, 122, 20, 13),
    },
    "1-norm": {
        "L": (15.6, 171, None, None),
        "Q": (19.6, None, 94, None),
        "R": (38.8, None, None, 7),
        "L+Q": (16.5, 98, 98, None),
        "L+R": (15.8, 93, None, 93),
        "L+Q+R": (15.3, 93, 93, 93),
        "LQR": (13.1, 77, 10, 12),
    },
}


def run(bench: Bench) -> Report:
    return _mixture.run(bench, "mnist", PAPER, LIMITS, few=3)
