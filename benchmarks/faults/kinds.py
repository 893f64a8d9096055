"""All kinds of faults, by name."""

from __future__ import annotations

from benchmarks.faults import (
    callbacks,
    cluster,
    files,
    kernels,
    limits,
    process,
    signals,
    solvers,
)
from benchmarks.faults.kind import Kind

_PARTS = (signals, limits, kernels, solvers, process, files, callbacks, cluster)
KINDS: dict[str, Kind] = {name: kind for part in _PARTS for name, kind in part.KINDS.items()}
