import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

from kboost import datasets
from kboost.datasets import make_mackey_glass, make_sinc


def test_before_the_delay_the_equation_is_linear_and_solved_exactly():
    # with a constant past, dx/dt = -0.1 x + g
    g = 0.2 * 1.2 / (1 + 1.2**10)
    t = np.arange(18)
    exact = 10 * g + (1.2 - 10 * g) * np.exp(-0.1 * t)
    assert_allclose(make_mackey_glass(18, n_discarded=0), exact, rtol=1e-9)


def test_the_series_solves_the_delay_equation_interval_by_interval():
    # the method of steps: on each interval of the delay the past is known
    tau, pieces = 17, [lambda t: 1.2]
    start, found = 1.2, []
    for k in range(4):
        past = pieces[-1]

        def slope(t, x, past=past):
            delayed = past(t - tau)
            return -0.1 * x + 0.2 * delayed / (1 + delayed**10)

        solved = solve_ivp(
            slope, (k * tau, (k + 1) * tau), [start], rtol=1e-11, atol=1e-12, dense_output=True
        )
        pieces.append(lambda t, s=solved: float(s.sol(t)[0]))
        found.extend(solved.sol(np.arange(k * tau, (k + 1) * tau))[0])
        start = solved.y[0, -1]
    assert_allclose(make_mackey_glass(4 * tau, n_discarded=0), found, rtol=1e-7)


def test_a_finer_integration_changes_little(monkeypatch):
    coarse = make_mackey_glass(200, n_discarded=0)
    monkeypatch.setattr(datasets, "_STEPS", 40)
    assert_allclose(make_mackey_glass(200, n_discarded=0), coarse, rtol=1e-6)


def test_discarded_values_are_those_of_the_beginning():
    whole = make_mackey_glass(150, n_discarded=0)
    assert_array_equal(make_mackey_glass(100, n_discarded=50), whole[50:])


def test_noise_is_uniform_and_a_share_of_the_deviation():
    clean = make_mackey_glass(4000)
    noise = make_mackey_glass(4000, noise=0.2, random_state=0) - clean
    assert_allclose(noise.std(), 0.2 * clean.std(), rtol=0.03)
    assert np.abs(noise).max() <= np.sqrt(3) * 0.2 * clean.std()
    assert_array_equal(noise, make_mackey_glass(4000, noise=0.2, random_state=0) - clean)


def test_sinc():
    X, y = make_sinc(201, half_width=2.0)
    x = X[:, 0]
    assert x[0] == -2.0
    assert x[-1] == 2.0
    away = x != 0
    assert_allclose(y[away], np.sin(x[away]) / x[away])
    assert y[100] == 1.0
    noisy = make_sinc(4000, noise=0.3, random_state=1)[1] - make_sinc(4000)[1]
    assert_allclose(noisy.std(), 0.3, rtol=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_mackey_glass(0), "n_samples must be an integer of at least 1"),
        (lambda: make_mackey_glass(delay=2.5), "delay must be an integer of at least 1"),
        (lambda: make_mackey_glass(start=1e31), "start must be positive and at most 1e30; got"),
        (lambda: make_mackey_glass(noise=-0.1), "noise must be zero or positive; got noise=-0.1"),
        (lambda: make_mackey_glass(n_discarded=-1), "n_discarded must be an integer of zero"),
        (lambda: make_sinc(half_width=0.0), "half_width must be positive"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
