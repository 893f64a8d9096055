"""The battery of kboost.testing for every kernel; special cases are in tests/kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from kboost.kernels.adapters import FunctionKernel, SklearnKernel
from kboost.kernels.base import ViewKernel
from kboost.testing.kernels import KERNEL_CHECKS, check_kernel, check_sparse

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
@pytest.mark.parametrize("check", KERNEL_CHECKS, ids=lambda check: check.__name__)
def test_battery(check, kernel, X, Z):
    check(kernel, X, Z, NAMES)


@each(ANY)
def test_sparse_rows(kernel, X, Z):
    check_sparse(kernel, X, Z, NAMES)


@each([k for k in [*SIMPLE, *ALGEBRA] if "on=" not in repr(k)])  # CSR is scaled, not centred
def test_widths_of_dense_and_sparse_rows_agree(kernel, X):
    k = resolved(kernel, X)
    assert_allclose(resolved(kernel, sparse.csr_matrix(X))(X), k(X), rtol=1e-10, atol=1e-12)


@each([k for k in SIMPLE if not any(isinstance(c, str) for c in k.columns or ())])
def test_calling_resolves_on_the_second_rows(kernel, X, Z):
    assert_array_equal(kernel(X, Z), kernel.resolve(Z)(X, Z))
    assert_array_equal(kernel(X), kernel.resolve(X)(X))


@each([*SIMPLE, *ALGEBRA, *DENSE_ONLY])
def test_repr_reads_back(kernel):
    assert eval(repr(kernel)) == kernel


@dataclass(frozen=True, repr=False)
class Faulty(ViewKernel):
    """Dot products with a fault in the profile, the block or the declaration."""

    fault: str = ""

    def pair(self):
        return {"block": "euclidean", "asymmetric": asymmetric}.get(self.fault, "dot")

    @property
    def is_psd(self):
        return self.fault == "psd"

    def profile(self, block):
        if self.fault == "written":
            block *= 2.0
        if self.fault in ("written", "shared"):
            return block
        return -block if self.fault == "psd" else block.copy()


class Unequal(Faulty):
    """A kernel that is equal only to itself."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def asymmetric(X, Z):
    return np.asarray(X.sum(axis=1)).reshape(-1, 1) + np.zeros(Z.shape[0])


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (Faulty("block"), ValueError, "kind must be one of 'dot', .* got Faulty.kind='euclidean'"),
        (Faulty("asymmetric"), AssertionError, "k.X. is not symmetric"),
        (Faulty("written"), AssertionError, "profile must not write to its block"),
        (Faulty("shared"), AssertionError, "profile must return a new array"),
        (Faulty("psd"), AssertionError, "is_psd is True, but k.X. has the eigenvalue -"),
        (Unequal(), AssertionError, "kernels must be equal by value"),
    ],
)
def test_the_battery_names_the_fault(kernel, error, message):
    rng = np.random.default_rng(0)
    check_kernel(Faulty(), rng.normal(size=(30, 3)), rng.normal(size=(8, 3)))
    with pytest.raises(error, match=message):
        check_kernel(kernel, rng.normal(size=(30, 3)), rng.normal(size=(8, 3)))
