"""Transforms of the target: their inverse, and the mean that they give."""

import numpy as np
import pytest

from kboost.auto.target_scale import IDENTITY, TargetScale, heavy_tailed

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=2000)
LOGNORMAL = np.exp(1.0 + 0.8 * NORMAL)


@pytest.mark.parametrize(
    "y",
    [LOGNORMAL, np.maximum(LOGNORMAL - 1.0, 0.0), np.sinh(2 * NORMAL), LOGNORMAL - 50.0],
    ids=["positive", "zeros", "both signs", "shifted"],
)
def test_the_inverse_gives_the_targets_back(y):
    (scale,) = heavy_tailed(y, np.ones(len(y)))
    assert scale.kind == ("log" if y.min() >= 0 else "asinh")
    np.testing.assert_allclose(scale.invert(scale.apply(y)), y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "y", [NORMAL, np.ones(50), RNG.uniform(size=100), np.full(9, 1e300)], ids=str
)
def test_other_targets_are_not_transformed(y):
    assert heavy_tailed(y, np.ones(len(y))) == []


def test_smearing_gives_the_mean_of_a_lognormal_target():
    (scale,) = heavy_tailed(LOGNORMAL, np.ones(len(LOGNORMAL)))
    y = scale.apply(LOGNORMAL)[:, None]
    values = np.full_like(y, np.mean(y))  # a fit that knows the mean of log(y) only
    smeared = scale.with_residuals(values, y).invert(values[:1])
    assert smeared.item() == pytest.approx(np.exp(1.0 + 0.8**2 / 2), rel=0.05)
    assert scale.invert(values[:1]).item() == pytest.approx(np.exp(1.0), rel=0.05)


def test_predictions_stay_near_the_targets():
    scale = TargetScale("log", bounds=(0.0, 10.0))
    assert scale.invert(np.array([[500.0], [-500.0]])).ravel().tolist() == pytest.approx([10, 0])


def test_the_identity_changes_nothing():
    y = NORMAL[:5, None]
    assert IDENTITY.apply(y) is y
    assert IDENTITY.invert(y) is y
    assert IDENTITY.with_residuals(y, y) is IDENTITY


def test_residuals_count_by_their_weights():
    scale = TargetScale("log")
    rng = np.random.default_rng(1)
    quiet, loud = 0.1 * rng.normal(size=500), 2.0 * rng.normal(size=500)
    y = np.concatenate([quiet, loud])[:, None]
    values = np.zeros_like(y)
    weight = np.repeat([1.0, 0.0], 500)
    alone = TargetScale("log").with_residuals(values[:500], y[:500])
    weighted = scale.with_residuals(values, y, weight)
    np.testing.assert_allclose(weighted.residuals, alone.residuals, atol=0.02)
    equal = scale.with_residuals(values, y, np.full(1000, 3.0))
    assert equal == scale.with_residuals(values, y)
