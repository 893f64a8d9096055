"""The log loss of decision values after a logistic fit: no scale, no threshold, weights as rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kboost.selection.platt import calibrated_log_loss

N = 300


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    f = rng.normal(size=N)
    return f, (f + rng.normal(size=N) > 1.2).astype(int)


def test_scale_and_threshold_do_not_matter(noisy):
    f, codes = noisy
    w = np.ones(N)
    loss = calibrated_log_loss(f, codes, w)
    assert calibrated_log_loss(1e-3 * f, codes, w) == pytest.approx(loss, rel=1e-6)
    assert calibrated_log_loss(50 * f - 7, codes, w) == pytest.approx(loss, rel=1e-6)


def test_it_is_that_of_a_logistic_regression(noisy):
    f, codes = noisy
    mass = np.bincount(codes)
    target = np.where(codes == 1, (mass[1] + 1) / (mass[1] + 2), 1 / (mass[0] + 2))
    peer = LogisticRegression(C=1e10, tol=1e-10)
    weight = np.concatenate([target, 1 - target])
    peer.fit(np.tile(f, 2)[:, None], np.repeat([1, 0], N), weight)
    p = peer.predict_proba(f[:, None])[:, 1]
    expected = -np.mean(target * np.log(p) + (1 - target) * np.log(1 - p))
    assert calibrated_log_loss(f, codes, np.ones(N)) == pytest.approx(expected, rel=1e-6)


def test_values_that_tell_nothing_or_the_contrary_have_the_entropy(noisy):
    f, codes = noisy
    entropy = calibrated_log_loss(np.zeros(N), codes, np.ones(N))
    share = np.bincount(codes) / N
    assert entropy == pytest.approx(-np.sum(share * np.log(share)), rel=0.02)
    assert calibrated_log_loss(-f, codes, np.ones(N)) == pytest.approx(entropy, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_count_like_rows(n_classes):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, n_classes, 80)
    f = rng.normal(size=80) + codes
    if n_classes > 2:
        f = np.eye(n_classes)[codes] + rng.normal(size=(80, n_classes))
    count = rng.integers(1, 4, 80)
    twice = np.repeat(np.arange(80), count)
    weighted = calibrated_log_loss(f, codes, count.astype(float))
    repeated = calibrated_log_loss(f[twice], codes[twice], np.ones(len(twice)))
    assert weighted == pytest.approx(repeated, rel=1e-7)


def test_separated_classes_have_a_finite_loss():
    codes = np.repeat([0, 1], 20)
    assert 0 < calibrated_log_loss(codes - 0.5, codes, np.ones(40)) < 0.3
