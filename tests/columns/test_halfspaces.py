import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.columns.halfspaces import HalfspaceSpace, features_used
from kboost.core.model import AdditiveModel

SCALINGS = pytest.mark.parametrize("scaling", [None, "floored"])


def make(seed=0, n=30, d=4, scaling=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 30.0, 0.01, 2.0] + 5.0
    X[3] = X[7]  # equal rows cannot be cut apart
    weight = rng.uniform(0.5, 2.0, size=n)
    return HalfspaceSpace(X, weight, scaling), X, weight, rng


@SCALINGS
def test_edges_of_cuts_are_those_of_the_columns(scaling):
    space, _, _, rng = make(scaling=scaling)
    directions, weights = rng.normal(size=(5, 4)), rng.normal(size=30)
    edges, cuts = space.edges_of_cuts(space.rows @ directions.T, weights)
    assert edges.shape == cuts.shape == (29, 5)
    for j in range(5):
        real = np.flatnonzero(edges[:, j])
        assert len(real) == 28
        _, values = space.columns(np.tile(directions[j], (len(real), 1)), cuts[real, j], 0)
        assert_allclose(values.T @ weights, edges[real, j], atol=1e-12)


@SCALINGS
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_halfspaces_predict_what_was_trained_on(scaling, form):
    space, X, weight, rng = make(scaling=scaling)
    directions, cuts = rng.normal(size=(6, 4)), rng.normal(size=6)
    columns, values = space.columns(directions, cuts, 2)
    assert [c.index for c in columns] == [2, 3, 4, 5, 6, 7]
    assert_allclose(space.family.columns(columns, form(X)), values)
    size = np.sqrt(weight @ values**2 / weight.sum())
    if scaling == "floored":
        assert (size <= 1 + 1e-12).all()
        assert_allclose(size[(values > 0).mean(axis=0) > 0.2], 1.0)
    coef = rng.normal(size=(6, 1))
    model = AdditiveModel.assemble(columns, coef, np.zeros(1))
    assert_allclose(model.decision(form(X)), values @ coef)
    scales = np.array([c.scale for c in columns])
    assert_allclose(model.coef, coef / scales[:, None])


def test_features_used():
    directions = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, -2.0, 0.0, 0.5]])
    assert_array_equal(features_used(directions), [1, 3])
    assert len(features_used(np.zeros((0, 4)))) == 0
