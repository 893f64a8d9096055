"""The battery every kernel passes; what is special to one is in tests/kernels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.kernels import Gaussian, Kernel, Laplacian, Linear, Matern, Polynomial, Sigmoid
from kboost.kernels.adapters import FunctionKernel, SklearnKernel
from kboost.kernels.folding import fold

NAMES = ["a", "b", "c", "d", "e", "f"]


def overlap(X, Z):
    """A user's function of the largest difference, which knows dense rows only."""
    X, Z = (V.toarray() if sparse.issparse(V) else V for V in (X, Z))
    return np.exp(-np.abs(X[:, None] - Z[None]).max(axis=2))


SIMPLE = [
    Linear(),
    Linear(columns=[0, 2]),
    Linear(on="standard"),
    Polynomial(1),
    Polynomial(2),
    Polynomial(3, coef0=0.5, gamma=0.25),
    Polynomial(2, coef0=0.0, gamma="scale", on="standard"),
    Polynomial(3, coef0=-1.0),
    Polynomial(4, gamma=0.1),
    Sigmoid(),
    Sigmoid(0.1, coef0=-0.5, columns=["a", "f"]),
    Gaussian(),
    Gaussian(0.5),
    Gaussian("median"),
    Gaussian("scale"),
    Gaussian(columns=["b", "c"], on="standard"),
    Laplacian(),
    Laplacian(0.3),
    Laplacian("median", on="standard"),
    Laplacian("scale", columns=(1, -1)),
    Matern(nu=0.5),
    Matern(),
    Matern(0.7, nu=2.5, on="standard"),
]
ALGEBRA = [
    2.0 * Linear() + Gaussian(),
    0.5 * (Linear() + Polynomial(2, columns=[1])),
    Gaussian(columns=[0]) * Laplacian(columns=["b"], on="standard"),
    3 * (Linear() + Gaussian(1.0)) * Polynomial(2),
    Linear(columns=[0]) + 2 * Polynomial(3, columns=[1, 2], on="standard"),
]
DENSE_ONLY = [
    Linear(on="ranks"),
    Polynomial(3, on="ranks"),
    Gaussian("median", on="ranks"),
    Laplacian(on="ranks"),
    Laplacian(columns=["c", "a"], on="ranks"),
    Matern(on="ranks") + Linear(),
]
ADAPTED = [FunctionKernel(overlap, psd=False), SklearnKernel("cosine")]
ANY = [*SIMPLE, *ALGEBRA, *ADAPTED]
KERNELS = [*ANY, *DENSE_ONLY]


def each(kernels):
    return pytest.mark.parametrize("kernel", kernels, ids=repr)


def rows(n=40, seed=0):
    """Rows with zeros, repeated rows and a constant feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.6)
    X[:, 4] = 1.5
    X[n // 2] = X[0]
    return X


@pytest.fixture
def X():
    return rows()


@pytest.fixture
def Z():
    return np.vstack([rows(15, seed=1), rows()[:3]])


def resolved(kernel, X):
    return kernel.resolve(X, feature_names=NAMES)


@each(KERNELS)
def test_shape_and_type(kernel, X, Z):
    k = resolved(kernel, X)
    K = k(X, Z)
    assert isinstance(k, Kernel)
    assert K.shape == (40, 18)
    assert K.dtype == np.float64
    assert np.isfinite(K).all()


@each(ANY)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_no_rows_make_an_empty_block(kernel, container, X):
    k = resolved(kernel, container(X))
    assert k(container(X), container(X)[:0]).shape == (40, 0)
    assert k(container(X)[:0], container(X)).shape == (0, 40)


@each(KERNELS)
def test_symmetric(kernel, X, Z):
    k = resolved(kernel, X)
    assert_allclose(k(X), k(X).T, rtol=1e-12, atol=1e-13)
    assert_allclose(k(X, Z), k(Z, X).T, rtol=1e-12, atol=1e-13)
    assert_allclose(k(X), k(X, X.copy()), rtol=1e-12, atol=1e-13)


@each(KERNELS)
def test_diag_is_the_diagonal(kernel, X):
    k = resolved(kernel, X)
    assert_allclose(k.diag(X), np.diagonal(k(X)), rtol=1e-12, atol=1e-13)


@each(ANY)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_dense_equals_sparse(kernel, container, X, Z):
    k = resolved(kernel, container(X))  # fitted on CSR: no centring
    expected = k(X, Z)
    for left, right in [(container(X), container(Z)), (container(X), Z), (X, container(Z))]:
        assert_allclose(k(left, right), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(k.diag(container(X)), k.diag(X), rtol=1e-12, atol=1e-13)


@each(KERNELS)
def test_a_kernel_resolved_on_dense_rows_reads_sparse_ones(kernel, X, Z):
    k = resolved(kernel, X)
    got = k(sparse.csr_matrix(X), sparse.csr_matrix(Z))
    assert_allclose(got, k(X, Z), rtol=1e-10, atol=1e-12)


@each([k for k in [*SIMPLE, *ALGEBRA] if "on=" not in repr(k)])  # CSR is scaled, not centred
def test_widths_of_dense_and_sparse_rows_agree(kernel, X):
    k = resolved(kernel, X)
    assert_allclose(resolved(kernel, sparse.csr_matrix(X))(X), k(X), rtol=1e-10, atol=1e-12)


@each(KERNELS)
def test_block_equals_whole(kernel, X):
    k = resolved(kernel, X)
    whole = k(X)
    assert_allclose(k(X[5:25], X[10:21]), whole[5:25, 10:21], rtol=1e-12, atol=1e-13)
    assert_allclose(k(X[7:8], X[7:8]), whole[7:8, 7:8], rtol=1e-12, atol=1e-13)


@each(KERNELS)
def test_float32_stays_and_is_close(kernel, X, Z):
    k = resolved(kernel, X)
    K = k(X.astype(np.float32), Z.astype(np.float32))
    assert K.dtype == np.float32
    assert k(X.astype(np.float32), Z).dtype == np.float64
    assert_allclose(K, k(X, Z), rtol=2e-4, atol=2e-4)


@each(KERNELS)
def test_blocks_are_only_read(kernel, X, Z):
    k = resolved(kernel, X)
    blocks = {p: p.compute(X, Z) for p in k.pairings}
    for block in blocks.values():
        block.setflags(write=False)
    K = k.from_blocks(blocks)
    assert_array_equal(K, k(X, Z))
    assert not any(np.shares_memory(K, block) for block in blocks.values())
    for p in k.pairings:
        viewed = p.compute_viewed(p.view.apply(X), p.view.apply(Z))
        assert_array_equal(viewed, blocks[p])


@each(KERNELS)
def test_positive_semi_definite_where_claimed(kernel, X):
    k = resolved(kernel, X)
    if not k.is_psd:
        assert not kernel.is_psd
        return
    spectrum = np.linalg.eigvalsh(k(X))
    assert spectrum[0] >= -1e-10 * spectrum[-1]


@each(KERNELS)
def test_resolve_is_idempotent(kernel, X, Z):
    k = resolved(kernel, X)
    assert k.resolve(X) == k
    assert k.resolve(Z) == k
    assert hash(k.resolve(Z)) == hash(k)
    assert k.pairings == k.resolve(Z).pairings


@each([k for k in SIMPLE if not any(isinstance(c, str) for c in k.columns or ())])
def test_calling_resolves_on_the_second_rows(kernel, X, Z):
    assert_array_equal(kernel(X, Z), kernel.resolve(Z)(X, Z))
    assert_array_equal(kernel(X), kernel.resolve(X)(X))


@each(KERNELS)
def test_equality_and_hash_by_value(kernel, X):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert kernel != Gaussian(123.0)
    first, second = resolved(kernel, X), resolved(again, X.copy())
    assert first == second
    assert len({first, second}) == 1


@each([*SIMPLE, *ALGEBRA, *DENSE_ONLY])
def test_repr_reads_back(kernel):
    assert eval(repr(kernel)) == kernel


@each(KERNELS)
def test_resolved_kernels_pickle(kernel, X, Z):
    k = resolved(kernel, X)
    again = pickle.loads(pickle.dumps(k))
    assert again == k
    assert_array_equal(again(X, Z), k(X, Z))


@each(KERNELS)
def test_a_row_given_twice_is_a_row_of_weight_two(kernel, X, Z):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 4, size=len(X))
    order = rng.permutation(np.repeat(np.arange(len(X)), counts))
    weighted = kernel.resolve(X, sample_weight=counts, feature_names=NAMES)
    repeated = kernel.resolve(X[order], feature_names=NAMES)
    assert_allclose(weighted(X, Z), repeated(X, Z), rtol=1e-10, atol=1e-12)


@each(KERNELS)
@pytest.mark.parametrize("outputs", [(), (3,)], ids=["vector", "matrix"])
def test_folded_equals_pairs(kernel, outputs, X, Z):
    k = resolved(kernel, X)
    coef = np.random.default_rng(4).normal(size=(len(Z), *outputs))
    folded = fold(k, Z, coef)
    if folded is None:
        assert fold(k, Z, coef, only_if_cheaper=True) is None
        return
    expected = k(X, Z) @ coef
    size = np.abs(expected).max()
    assert folded(X).shape == expected.shape
    assert folded.cost > 0
    assert_allclose(folded(X), expected, rtol=1e-11, atol=1e-12 * size)
    assert_allclose(folded(sparse.csr_matrix(X)), expected, rtol=1e-11, atol=1e-12 * size)
    from_csr = fold(k, sparse.csr_matrix(Z), coef)
    assert_allclose(from_csr(X), expected, rtol=1e-11, atol=1e-12 * size)
