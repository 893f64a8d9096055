"""The smallest of several models that comes close to the best."""

import numpy as np
import pytest

from kboost.auto.trial import Comparison

RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=400)


def comparison(weight=None, tolerance=0.05):
    weight = np.ones(400) if weight is None else weight
    return Comparison(lambda values: values[:, 0] ** 2, weight, tolerance)


def trials(judged, **values):
    """Trials of 1, 2, ... columns."""
    return [judged.trial(k + 1, each[:, None]) for k, each in enumerate(values.values())]


def test_the_error_is_the_weighted_mean_of_the_losses():
    weight = RNG.uniform(0.5, 2.0, size=400)
    (trial,) = trials(comparison(weight), one=NOISE)
    assert np.isclose(trial.error, np.average(NOISE**2, weights=weight))


def test_the_fewest_columns_within_the_tolerance():
    judged = comparison()
    every = trials(judged, far=1.2 * NOISE, near=1.02 * NOISE, best=NOISE)
    assert judged.smallest(every, every) is every[1]
    assert judged.smallest(every[:1], every) is None
    assert judged.smallest(every[:1], every[:1]) is every[0]
    assert judged.smallest([], []) is None


def test_a_difference_that_may_be_chance_does_not_count():
    judged = comparison()
    size = np.abs(NOISE)
    shift = np.where(np.arange(400) % 2, 0.9, -0.8) * size  # up in one half, down in the other
    every = trials(judged, other=np.sqrt(np.maximum(NOISE**2 + shift * size, 0)), best=NOISE)
    assert every[0].error > 1.05 * every[1].error
    assert judged.smallest(every, every) is every[0]


def test_a_large_difference_counts_however_uncertain():
    judged = comparison()
    other, best = (np.where(np.arange(400) == k, v, NOISE) for k, v in ((7, 20.0), (8, 10.0)))
    every = trials(judged, other=other, best=best)
    away = every[0].losses - every[1].losses
    assert 0 < away.mean() < away.std() / 20  # less than one standard error
    assert judged.smallest(every, every) is every[1]


def test_a_row_of_weight_two_is_the_row_twice():
    weight = RNG.integers(1, 4, size=400)
    each = np.repeat(np.arange(400), weight)
    for factor in np.linspace(1.0, 1.15, 30):
        other = NOISE * (factor + 0.5 * np.sin(np.arange(400)))
        once, twice = comparison(weight.astype(float)), comparison(np.ones(len(each)))
        one = trials(once, other=other, best=NOISE)
        two = trials(twice, other=other[each], best=NOISE[each])
        assert once.smallest(one, one).n_columns == twice.smallest(two, two).n_columns


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_the_size_of_the_target_does_not_matter(size):
    judged = comparison()
    shift = np.where(np.arange(400) % 2, 0.9, -0.8) * NOISE**2
    other = np.sqrt(np.maximum(NOISE**2 + shift, 0))
    every = trials(judged, other=size * other, best=size * NOISE)
    small = trials(judged, other=other, best=NOISE)
    chosen = judged.smallest(small, small)
    assert judged.smallest(every, every) is every[small.index(chosen)]
