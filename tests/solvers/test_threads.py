"""One BLAS thread while it is wanted, by any thread, and all of them afterwards."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from kboost import KernelBoostClassifier
from kboost.kernels import Gaussian
from kboost.solvers.threads import one_blas_thread, release_claims

BLAS = ThreadpoolController().select(user_api="blas")


def numbers():
    return {pool["num_threads"] for pool in BLAS.info()}


@pytest.fixture(autouse=True)
def two_threads():
    limit = BLAS.limit(limits=2, user_api="blas")
    release_claims()
    try:
        if numbers() != {2}:
            pytest.skip("the BLAS has one thread only")
        yield
    finally:
        release_claims()
        limit.restore_original_limits()
        release_claims()


def test_the_limit_nests():
    with one_blas_thread():
        with one_blas_thread():
            assert numbers() == {1}
        assert numbers() == {1}
    assert numbers() == {2}


def test_inside_a_limit_of_another_thread():
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:

        def look():
            with one_blas_thread():
                return numbers()

        assert pool.submit(look).result() == {1}
        assert numbers() == {2}


def test_an_error_ends_the_limit():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert numbers() == {2}


def test_threads_that_overlap_restore_the_number_of_before():
    """The first thread leaves while the second is inside; it leaves last."""
    inside, left = threading.Event(), threading.Event()
    seen = []

    def first():
        with one_blas_thread():
            inside.wait(10)
        left.set()

    def second():
        with one_blas_thread():
            inside.set()
            left.wait(10)
            seen.append(numbers())

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [{1}]
    assert numbers() == {2}


def test_fits_in_threads_leave_the_number_as_it_was():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] > 0

    def fit(k):
        return KernelBoostClassifier([Gaussian(1.0)], C=1.0, max_columns=3 + k).fit(X, y)

    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(fit, range(8)))) == 8
    assert numbers() == {2}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_does_not_wait_for_threads_that_it_has_not():
    inside, left = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            left.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    child = os.fork()
    if not child:
        with one_blas_thread():
            limited = numbers() == {1}
        os._exit(0 if limited and numbers() == {2} else 1)
    left.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert numbers() == {2}
