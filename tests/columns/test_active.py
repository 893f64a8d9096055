import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from kboost.columns.active import ActiveLibrary
from kboost.core.model import AdditiveModel
from kboost.kernels import Gaussian

SCALINGS = pytest.mark.parametrize("scaling", [None, "floored"])


def make(seed=0, n=30, d=3, scaling=None, on="standard", gammas=(0.1, 0.5, 2.0)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 5.0, 0.2][:d] + 3.0
    weight = rng.uniform(0.5, 2.0, size=n)
    kernels = [Gaussian(g, on=on).resolve(X, weight) for g in gammas]
    library = ActiveLibrary(
        kernels, X, sample_weight=weight, scaling=scaling, width_bounds=(0.2, 4.0)
    )
    return library, X, rng


def points(library, rng, m=12):
    """Points all over the box."""
    return rng.uniform(library.lower, library.upper, size=(m, len(library.lower)))


@SCALINGS
@pytest.mark.parametrize("on", [None, "standard"])
def test_columns_of_the_library_are_points_of_the_continuum(scaling, on):
    library, _, rng = make(scaling=scaling, on=on)
    ids = np.arange(library.n_columns)
    theta, weights = library.as_points(ids), rng.normal(size=library.n_rows)
    assert_allclose(library.values_at(theta)[0], library.values(ids), atol=1e-12)
    assert_allclose(library.edges_at(theta, weights)[0], library.edges(weights), atol=1e-10)


def test_the_ends_of_the_interval_are_among_the_widths_to_start_from():
    library, X, _ = make()
    widths = np.exp(library.as_points(np.arange(library.n_columns))[:, -1])
    assert_allclose(np.unique(widths.round(6)), [0.2, 0.5, 1.0, np.sqrt(5), 4.0], rtol=1e-5)
    narrow = ActiveLibrary(library.kernels, X, width_bounds=(0.5, 1.2))
    assert_allclose([k.gamma for k in narrow.kernels], [1 / (2 * 1.2**2), 0.5, 2.0])


@SCALINGS
def test_gradients_are_those_of_the_edges(scaling):
    library, _, rng = make(scaling=scaling)
    theta, weights, h = points(library, rng), rng.normal(size=library.n_rows), 1e-6
    gradient = library.edges_at(theta, weights)[1]
    for q in range(theta.shape[1]):
        move = h * np.eye(theta.shape[1])[q]
        ends = [library.edges_at(theta + side * move, weights)[0] for side in (1, -1)]
        assert_allclose(gradient[:, q], (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-7)


def far(X, by):
    return np.where(np.arange(len(X))[:, None] % 2 == 0, X, X + by)


PLACES = {
    "plain": lambda X: X,
    "off_centre": lambda X: 1e6 + X,
    "one_feature": lambda X: X[:, :1],
    "a_constant_feature": lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
    "one_large_feature": lambda X: X * [1e6, 1.0],
    "two_rows": lambda X: X[:2],
    "rows_many_widths_apart": lambda X: far(X, 1e6),
    "rows_very_many_widths_apart": lambda X: far(X, 1e8),
    "many_features_apart": lambda X: far(np.tile(X, 4), 1e8),
}


@SCALINGS
@pytest.mark.parametrize("place", PLACES)
def test_edges_and_slopes_keep_their_digits(scaling, place):
    """Against the sums as they are written down, from differences, in longer numbers."""
    rng = np.random.default_rng(7)
    X = PLACES[place](rng.normal(size=(40, 2)))
    n, d = X.shape
    weight = rng.uniform(0.5, 2.0, size=n)
    weights, share = rng.normal(size=n), weight / weight.sum()
    library = ActiveLibrary(
        [Gaussian(0.5)], X, sample_weight=weight, scaling=scaling, width_bounds=(0.2, 4.0)
    )
    theta = library.as_points(rng.integers(library.n_columns, size=15))
    theta[:, -1] += rng.uniform(-0.3, 0.3, size=15)
    theta[:, :-1] += 0.5 * np.exp(theta[:, -1:]) * rng.normal(size=(15, d))
    edges, slopes, fixed = library.edges_at(theta, weights)
    for point, edge, slope, place_after in zip(theta, edges, slopes, fixed, strict=True):
        away = (X - point[:-1]).astype(np.longdouble) / np.exp(np.longdouble(point[-1]))
        moved = np.column_stack([away, (away**2).sum(axis=1)])  # d log k, a centre in widths
        k = np.exp(-moved[:, -1] / 2)
        scale, turn = np.longdouble(1.0), np.zeros(d + 1)
        if scaling == "floored":
            scale = np.sqrt((share * k**2).sum() + np.longdouble(0.3) ** 2)
            turn = (share * k**2) @ moved / scale**2  # d log scale
        plain = weights @ k
        in_widths = np.append(np.full(d, np.exp(point[-1])), 1.0)
        size = np.abs(weights) @ k / scale
        assert_allclose(edge, float(plain / scale), rtol=0, atol=1e-6 * size)
        want = ((weights * k) @ moved - plain * turn) / scale
        assert_allclose(slope * in_widths, want.astype(float), rtol=0, atol=1e-5 * size)
        after = (weights * k) @ away / plain
        assert_allclose(
            (place_after - point[:-1]) / in_widths[:-1],
            after.astype(float),
            atol=1e-5 * float(np.abs(weights) @ k / np.abs(plain)),
        )


@SCALINGS
def test_edges_are_sums_over_the_values(scaling):
    library, _, rng = make(scaling=scaling)
    theta, weights = points(library, rng), rng.normal(size=library.n_rows)
    assert_allclose(library.edges_at(theta, weights)[0], weights @ library.values_at(theta)[0])


def test_the_fixed_point_has_no_gradient_in_the_centre():
    library, _, rng = make(on=None)
    weights = rng.uniform(0.1, 1.0, size=library.n_rows)  # of one sign the iteration converges
    theta = points(library, rng, 4)
    theta[:, -1] = np.log(3.0)
    for _ in range(3000):
        theta[:, :-1] = library.edges_at(theta, weights)[2]
    assert_allclose(library.edges_at(theta, weights)[1][:, :-1], 0.0, atol=1e-6)


@SCALINGS
@pytest.mark.parametrize("on", [None, "standard"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_hypotheses_predict_what_was_trained_on(scaling, on, form):
    library, X, rng = make(scaling=scaling, on=on)
    theta = points(library, rng)
    values, scales = library.values_at(theta)
    columns = library.hypotheses_at(theta, scales, 5)
    assert [c.index for c in columns] == list(range(5, 5 + len(theta)))
    assert len({c.family for c in columns}) == 1
    assert_allclose(columns[0].family.columns(columns, form(X)), values, atol=1e-10)
    coef = rng.normal(size=(len(theta), 2))
    model = AdditiveModel.assemble(columns, coef, np.array([0.5, -0.5]))
    assert len(model.parts) == 1
    assert_allclose(model.decision(form(X)), values @ coef + [0.5, -0.5], atol=1e-9)
    assert_allclose(model.coef, coef / scales[:, None])


def test_sparse_rows_give_the_same_continuum():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 4)) * (rng.random((25, 4)) < 0.5)
    weights, kernels = rng.normal(size=25), [Gaussian(0.5)]
    libraries = [
        ActiveLibrary(kernels, form(X), width_bounds=(0.3, 3.0), scaling="floored")
        for form in (np.asarray, sparse.csr_matrix)
    ]
    theta = points(libraries[0], rng)
    for one, other in zip(*(b.edges_at(theta, weights) for b in libraries), strict=True):
        assert_allclose(one, other, atol=1e-10)
