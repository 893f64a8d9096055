"""A task's heap: arrays that come and go without the system, and memory that goes back after."""

import ctypes

import numpy as np
import pytest

from kboost.dask._malloc import tuned_malloc

MiB = 1 << 20


def pages():
    """Pages that were fetched to make arrays of 4 MiB twenty times over, within and without."""
    import resource

    def made():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            np.ones(4 * MiB // 8)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    with tuned_malloc():
        made()  # the heap grows once
        within = made()
    return within, made()


def test_arrays_within_are_made_of_pages_that_are_there(client):
    try:
        ctypes.CDLL("libc.so.6").mallopt  # noqa: B018
    except (OSError, AttributeError):
        pytest.skip("another C library")
    for within, without in client.run(pages).values():
        assert within < 0.1 * without


def test_results_and_errors_pass_through(client):
    from kboost.dask._workers import Workers

    assert Workers(client).map(divmod, [7, 9], [2, 4]) == [(3, 1), (2, 1)]
    with pytest.raises(ZeroDivisionError):
        Workers(client).map(divmod, [7], [0])
