"""The call of libsvm gives what scikit-learn's SVC gives."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kboost.kernels import Gaussian
from kboost.solvers.libsvm import solve_dual
from tests.contracts.reference import table


@pytest.mark.parametrize("first", [1.0, -1.0])
def test_it_is_the_machine_of_scikit_learn(first, capfd):
    X, y, weight = table(0, n=60)
    y = y * first * y[0]
    K = Gaussian(0.5)(X)
    duals, bias, steps = solve_dual(K, y, 2.0 * weight, tol=1e-8)
    peer = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(K, y, weight)
    np.testing.assert_allclose((y * duals)[peer.support_], peer.dual_coef_[0], atol=1e-6)
    assert np.count_nonzero(duals) == len(peer.support_)
    assert bias == pytest.approx(peer.intercept_[0], abs=1e-6)
    assert steps > 0
    assert capfd.readouterr().out == ""
    assert y @ duals == pytest.approx(0.0, abs=1e-9)
