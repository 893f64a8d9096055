"""The sampled preconditioner: the normal matrix itself if the sample is all rows."""

import numpy as np
import pytest

from kboost.columns.candidates import CandidateColumns
from kboost.columns.design_matrix import DesignMatrix
from kboost.kernels import Gaussian
from kboost.masters._sampled_preconditioner import SampledPreconditioner

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, size=(600, 2))
WEIGHT = RNG.uniform(0.2, 3.0, size=600)
KERNEL = Gaussian(2.0)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_it_equals_the_normal_matrix_on_all_rows(fit_intercept, single, monkeypatch):
    monkeypatch.setattr("kboost.columns.design_matrix._LARGE", 1)
    monkeypatch.setattr("kboost.columns.design_matrix._COMPUTED", 1)  # several blocks
    design = DesignMatrix(CandidateColumns([KERNEL], X), 12, 1 << 30, single=single)
    options = {"bound": 0.25, "ridge": 0.5, "fit_intercept": fit_intercept}
    normal = SampledPreconditioner(design, WEIGHT, 12, **options)
    ids = np.arange(0, 84, 7)
    for start, stop in ((0, 5), (5, 12)):
        design.make(ids[start:stop])
        assert normal.grow(start, KERNEL(X[ids[:stop]], X[ids[start:stop]]))
    assert normal.rough == single
    F = np.hstack([np.ones((600, int(fit_intercept))), KERNEL(X, X[ids])])
    expected = 0.25 * F.T @ (WEIGHT[:, None] * F)
    expected[-12:, -12:] += 0.5 * KERNEL(X[ids])
    right = RNG.normal(size=(len(expected), 3))
    tolerance = 1e-4 if single else 1e-10
    np.testing.assert_allclose(
        normal.solve(expected @ right), right, rtol=tolerance, atol=tolerance
    )
