"""Calibration on rows left out: gradients, units, weights and rare labels."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from kboost.auto import probabilities
from kboost.auto.probabilities import (
    Probabilities,
    calibrate,
    calibrate_jointly,
    class_shares,
    class_signs,
    per_class,
    shares_of,
)

RNG = np.random.default_rng(0)
CODES = RNG.integers(3, size=200)
SHARES = class_shares(CODES, 3)
VALUES = 2 * SHARES - 1 + RNG.normal(size=(200, 3))
WEIGHT = RNG.uniform(0.5, 2.0, size=200)


def log_loss(head, values, shares, weight):
    logs = head.log_probabilities(values)
    return -float(np.average(np.sum(shares * logs, axis=1), weights=weight))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_agrees_with_finite_differences(n_classes, monkeypatch):
    seen = {}

    def spy(loss, start, **options):
        seen["loss"], seen["start"] = loss, start
        return minimize(loss, start, **options)

    monkeypatch.setattr(probabilities, "minimize", spy)
    shares = class_shares(CODES % n_classes, n_classes)
    values = VALUES[:, :1] if n_classes == 2 else VALUES
    calibrate(values, shares, WEIGHT)
    z = seen["start"] + np.linspace(-0.4, 0.3, n_classes + 1)
    numeric = approx_fprime(z, lambda point: seen["loss"](point)[0], 1e-7)
    np.testing.assert_allclose(seen["loss"](z)[1], numeric, atol=1e-6)


def test_the_log_loss_falls():
    uncalibrated = Probabilities(np.eye(3), np.zeros(3))
    before = log_loss(uncalibrated, VALUES, SHARES, WEIGHT)
    assert log_loss(calibrate(VALUES, SHARES, WEIGHT), VALUES, SHARES, WEIGHT) < before


def test_two_classes_have_values_of_both_signs():
    values = VALUES[:, :1]
    np.testing.assert_array_equal(per_class(values), np.hstack([-values, values]))
    head = calibrate(values, class_shares((CODES == 0).astype(int), 2), WEIGHT)
    logs = head.log_probabilities(values)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)
    assert head.slope > 0


def test_the_unit_of_the_values_does_not_matter():
    one, other = calibrate(VALUES, SHARES, WEIGHT), calibrate(3 * VALUES, SHARES, WEIGHT)
    np.testing.assert_allclose(
        one.log_probabilities(VALUES), other.log_probabilities(3 * VALUES), atol=1e-3
    )


def test_a_row_of_weight_two_equals_the_row_twice():
    twice = np.append(np.arange(200), 0)
    heavy = np.where(np.arange(200) == 0, 2.0, 1.0)
    one = calibrate(VALUES, SHARES, heavy)
    other = calibrate(VALUES[twice], SHARES[twice], np.ones(201))
    np.testing.assert_allclose(one.offsets, other.offsets, atol=1e-3)
    assert one.slope == pytest.approx(other.slope, rel=1e-3)


def test_rare_labels_have_their_share_of_the_probability():
    codes = (np.arange(400) % 20 == 0).astype(int)  # 5 % of the rows
    values = np.where(codes, -0.6, -1.0)[:, None] + 0.05 * RNG.normal(size=(400, 1))
    head = calibrate(values, class_shares(codes, 2), np.ones(400))
    probability = np.exp(head.log_probabilities(values))[:, 1]
    assert probability.mean() == pytest.approx(0.05, abs=0.005)
    assert ((probability > 0.5) == codes).mean() > 0.98


def test_values_of_zero_are_calibrated_too():
    head = calibrate(np.zeros((4, 1)), class_shares(np.array([0, 0, 0, 1]), 2), np.ones(4))
    assert np.exp(head.log_probabilities(np.zeros((1, 1))))[0, 0] > 0.5


def mixed_values(n, seed=0):
    """The value of class 0 tells classes 1 and 2 apart, which have none of their own."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    values = 0.3 * rng.normal(size=(n, 3))
    values[:, 0] += np.array([1.0, 0.0, -1.0])[codes]
    return values, class_shares(codes, 3)


def test_a_free_matrix_uses_the_values_of_other_classes():
    values, shares = mixed_values(600)
    new, truth = mixed_values(600, seed=1)
    weight = np.ones(600)
    plain, free = (how(values, shares, weight) for how in (calibrate, calibrate_jointly))
    assert log_loss(free, new, truth, weight) < 0.7 * log_loss(plain, new, truth, weight)
    assert np.count_nonzero(free.matrix) == 9


def test_a_free_matrix_is_not_taken_without_a_gain():
    rng = np.random.default_rng(2)
    shares = class_shares(rng.integers(3, size=90), 3)
    values = 2 * shares - 1 + rng.normal(size=(90, 3))
    np.testing.assert_array_equal(
        calibrate_jointly(values, shares, np.ones(90)).matrix,
        calibrate(values, shares, np.ones(90)).matrix,
    )


def test_the_gradient_of_a_free_matrix_agrees_with_finite_differences(monkeypatch):
    seen = {}

    def spy(loss, start, **options):
        seen["loss"], seen["start"] = loss, start
        return minimize(loss, start, **options)

    monkeypatch.setattr(probabilities, "minimize", spy)
    probabilities._free_matrix(VALUES, SHARES, WEIGHT)
    z = seen["start"] + np.linspace(-0.4, 0.3, 12)
    numeric = approx_fprime(z, lambda point: seen["loss"](point)[0], 1e-7)
    np.testing.assert_allclose(seen["loss"](z)[1], numeric, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_come_back_from_signs(n_classes):
    codes = CODES % n_classes
    signs = class_signs(codes, n_classes)
    assert signs.shape == (len(codes), 1 if n_classes == 2 else 3)
    np.testing.assert_array_equal(shares_of(signs), class_shares(codes, n_classes))
