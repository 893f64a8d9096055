"""Threads that call BLAS where memory is limited."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="limits of a process are those of POSIX")

LIMITED = """
import resource
from pathlib import Path

import numpy as np
from kboost._threads import ThreadPool, take_buffers
from kboost.solvers.threads import one_blas_thread

def limit(mib):
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (mib << 20), resource.RLIM_INFINITY))

def product():
    return float((np.ones((200, 200)) @ np.ones((200, 3))).sum())
"""
REFUSED = """
limit(20)
try:
    {use}
except MemoryError as error:
    print(error)
"""
IN_A_POOL = "ThreadPool(1).submit(product).result()"
WITH_ONE_THREAD = "one_blas_thread().__enter__()"


def printed(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.parametrize("use", [IN_A_POOL, WITH_ONE_THREAD])
def test_without_memory_for_blas_there_is_an_error_and_no_hang(use):
    assert printed(REFUSED.format(use=use)).startswith("fit requires 66 MiB of memory for BLAS")


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
def test_buffers_that_were_taken_serve_later_calls():
    assert printed("take_buffers()\nlimit(4)\nprint(product())") == "120000.0"


def test_a_pool_returns_values_and_raises_errors():
    from kboost._threads import ThreadPool

    with ThreadPool(2) as pool:
        assert list(pool.map(abs, [-1, 2, -3])) == [1, 2, 3]
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
