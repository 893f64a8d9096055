"""A description of the machine of a measurement, without its name."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy", "joblib", "threadpoolctl", "kboost")


def describe() -> dict[str, Any]:
    """Cores, memory, processor, Python, packages and BLAS threads."""
    return {
        "processor": processor(),
        "cores": cores(),
        "memory_gib": memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: found for name in PACKAGES if (found := installed(name))},
        "blas": blas(),
    }


def cores() -> int:
    """Number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Name of the processor, as reported by the system."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory_gib() -> float | None:
    """Physical memory, if the system reports it."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    return round(pages * size / 2**30, 1)


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def blas() -> list[dict[str, Any]]:
    """Libraries with their own threads, and the number of threads."""
    import numpy as np  # noqa: F401  loads its BLAS
    import scipy.linalg  # noqa: F401  and this one, where it is another
    from threadpoolctl import threadpool_info

    found = []
    for pool in threadpool_info():
        entry = {k: pool.get(k) for k in ("internal_api", "version", "num_threads")}
        if entry not in found:
            found.append(entry)
    return sorted(found, key=lambda entry: str(entry["version"]))  # they come in any order


def in_one_line(machine: dict[str, Any]) -> str:
    """One line for the head of a table."""
    threads = max((pool["num_threads"] for pool in machine["blas"]), default=1)
    words = [
        machine["processor"],
        f"{machine['cores']} cores",
        f"{machine['memory_gib']} GiB" if machine["memory_gib"] else "",
        machine["python"],
        f"{threads} BLAS thread{'s' if threads > 1 else ''} by default",
    ]
    return ", ".join(word for word in words if word)
