"""Full updates with nearly dependent columns: the objective is that of the coefficients."""

import numpy as np
import pytest

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.kernels import Gaussian, Laplacian
from kboost.settings import Full

RIDGE = 1e-6
LOSSES = {
    "log": lambda margin: np.logaddexp(0, -margin),
    "hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
}


def _penalty(model):
    """`ridge/2 sum_p |f_p|^2`, from the coefficients."""
    done, total = 0, 0.0
    for kernel, count in zip(model.kernels_, model.columns_per_kernel_.values(), strict=True):
        own = slice(done, done + count)
        centers, coef = model.centers_[own], model.dual_coef_[own]
        total += coef @ kernel(centers, centers) @ coef
        done += count
    return 0.5 * RIDGE * total


@pytest.mark.parametrize(
    ("kernels", "size", "count"),
    [
        ([Gaussian(0.3)], 1, 25),
        ([Gaussian(0.3)], 5, 60),
        ([Gaussian(0.3), Laplacian(0.3)], 1, 12),
    ],
)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_that_of_the_coefficients(loss, kernels, size, count):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.3 * np.sin(3 * X[:, 1]) > 0, 1.0, -1.0)
    model = SparseKernelClassifier(
        kernels, loss=loss, update=Full(size), ridge=RIDGE, max_columns=count
    ).fit(X, y)
    found = LOSSES[loss](y * model.decision_function(X)).sum() + _penalty(model)
    assert model.objective_ == pytest.approx(found, rel=1e-4)


def test_the_objective_does_not_rise_however_small_the_ridge():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    model = SparseKernelRegressor([Gaussian(0.1)], update="full", ridge=1e-9, max_columns=120).fit(
        X, y
    )
    objectives = np.array([step.objective for step in model.trace_])
    assert np.all(objectives[1:] <= objectives[:-1] * (1 + 1e-5))
