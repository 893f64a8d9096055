"""Blocks that fit stay; others are never kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kboost.columns.cache import BlockCache


@given(
    budget=st.integers(0, 400),
    sizes=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), max_size=20),
)
def test_first_come_first_kept_within_the_budget(budget, sizes):
    cache, kept = BlockCache(budget), {}
    for key, size in sizes:
        block = np.full(size, float(size))
        cache.offer(key, block)
        if key not in kept and sum(b.nbytes for b in kept.values()) + block.nbytes <= budget:
            kept[key] = block
        assert cache.bytes_used == sum(b.nbytes for b in kept.values()) <= budget
    for key in range(6):
        assert cache.get(key) is kept.get(key)


def test_offers_from_many_threads_stay_within_the_budget():
    cache = BlockCache(50 * 80)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: cache.offer(key % 100, np.zeros(10)), range(2000)))
    assert cache.bytes_used == 50 * 80
    assert sum(cache.get(key) is not None for key in range(100)) == 50


def test_a_dropped_block_leaves_its_room():
    cache = BlockCache(100)
    for key in "ab":
        cache.offer(key, np.zeros(5))
    cache.drop("a")
    cache.drop("never there")
    assert cache.bytes_used == 40
    assert cache.get("a") is None
    cache.offer("c", np.zeros(7))
    assert cache.bytes_used == 96


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_blocks_are_kept_as_copies_of_their_own(order, dtype):
    block = np.asarray(np.random.default_rng(0).normal(size=(700, 600)), dtype, order=order)
    cache = BlockCache(1 << 23)
    cache.offer("a", block)
    kept = cache.get("a")
    assert kept.dtype == dtype
    assert not np.shares_memory(kept, block)
    np.testing.assert_array_equal(kept, block)
    cache.drop("a")
    np.testing.assert_array_equal(kept, block)  # whoever still holds it may go on
