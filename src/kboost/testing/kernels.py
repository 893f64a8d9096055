"""Checks of a kernel."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost._typing import FloatArray
from kboost.kernels import Gaussian, Kernel
from kboost.kernels.folding import fold

Names: TypeAlias = Sequence[str] | None
Check: TypeAlias = Callable[[Any, FloatArray, FloatArray, Names], None]

_EXACT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}
_CLOSE: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}


def check_kernel(
    kernel: Any,
    X: FloatArray,
    Z: FloatArray,
    feature_names: Names = None,
    *,
    reads_sparse: bool = True,
) -> None:
    """Run every check of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel, not resolved.
    X, Z : ndarray of shapes (n, d) and (m, d)
        Rows; zeros, repeated rows and constant features make the checks stricter. n >= 25.
    feature_names : sequence of str, optional
        Names of the features, for a kernel that selects them by name.
    reads_sparse : bool, default=True
        Whether the kernel can be resolved on sparse rows.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel must be a Kernel; got {kernel!r}; wrap a function in "
            "kboost.kernels.adapters.FunctionKernel."
        )
    for check in KERNEL_CHECKS:
        check(kernel, X, Z, feature_names)
    if reads_sparse:
        check_sparse(kernel, X, Z, feature_names)


def check_values(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """Values are finite, of the right shape and type."""
    resolved = kernel.resolve(X, feature_names=names)
    K = resolved(X, Z)
    assert isinstance(resolved, Kernel), f"resolve returned {resolved!r}, not a Kernel"
    assert K.shape == (len(X), len(Z)), f"values of shape {K.shape}, not {(len(X), len(Z))}"
    assert K.dtype == np.float64, f"float64 rows give {K.dtype} values"
    assert np.isfinite(K).all(), "values must be finite"


def check_symmetric(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """`k(x, z) = k(z, x)`, and `diag` is the diagonal."""
    k = kernel.resolve(X, feature_names=names)
    assert_allclose(k(X), k(X).T, err_msg="k(X) is not symmetric", **_EXACT)
    assert_allclose(k(X, Z), k(Z, X).T, err_msg="k(X, Z) is not the transpose of k(Z, X)", **_EXACT)
    assert_allclose(k(X), k(X, X.copy()), err_msg="k(X) is not k(X, X)", **_EXACT)
    message = "diag(X) is not the diagonal of k(X)"
    assert_allclose(k.diag(X), np.diagonal(k(X)), err_msg=message, **_EXACT)


def check_dense_kernel_reads_sparse_rows(
    kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None
) -> None:
    """A kernel resolved on dense rows gives the same values for sparse ones."""
    k = kernel.resolve(X, feature_names=names)
    message = "sparse rows give other values than dense rows"
    K = k(sparse.csr_matrix(X), sparse.csr_matrix(Z))
    assert_allclose(K, k(X, Z), err_msg=message, **_CLOSE)


def check_blocks(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """Part of the kernel matrix is the kernel of part of the rows; blocks are not changed."""
    k = kernel.resolve(X, feature_names=names)
    whole = k(X)
    message = "some of the rows give other values than all rows"
    assert_allclose(k(X[5:25], X[10:21]), whole[5:25, 10:21], err_msg=message, **_EXACT)
    assert_allclose(k(X[7:8], X[7:8]), whole[7:8, 7:8], err_msg=message, **_EXACT)
    blocks = {p: p.compute(X, Z) for p in k.pairings}
    for block in blocks.values():
        block.setflags(write=False)
    try:
        K = k.from_blocks(blocks)
    except ValueError as error:
        raise AssertionError(f"profile must not write to its block: {error}") from error
    assert_array_equal(K, k(X, Z))
    shared = any(np.shares_memory(K, block) for block in blocks.values())
    assert not shared, "profile must return a new array"
    for p in k.pairings:
        assert_array_equal(p.compute_viewed(p.view.apply(X), p.view.apply(Z)), blocks[p])


def check_float32(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """Rows of float32 give float32 values; mixed rows give float64."""
    k = kernel.resolve(X, feature_names=names)
    K = k(X.astype(np.float32), Z.astype(np.float32))
    assert K.dtype == np.float32, f"float32 rows give {K.dtype} values"
    mixed = k(X.astype(np.float32), Z).dtype
    assert mixed == np.float64, f"float32 and float64 rows give {mixed} values"
    message = "float32 rows give other values than float64 rows"
    assert_allclose(K, k(X, Z), rtol=2e-4, atol=2e-4, err_msg=message)


def check_positive_semidefinite(
    kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None
) -> None:
    """If `is_psd`, the kernel matrix has no negative eigenvalue beyond rounding."""
    k = kernel.resolve(X, feature_names=names)
    if not k.is_psd:
        assert not kernel.is_psd, "is_psd is True, but False once resolved"
        return
    spectrum = np.linalg.eigvalsh(k(X))
    message = f"is_psd is True, but k(X) has the eigenvalue {spectrum[0]:.3g}"
    assert spectrum[0] >= -1e-10 * spectrum[-1], message


def check_resolve(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """Resolving a resolved kernel changes nothing, whatever the rows."""
    k = kernel.resolve(X, feature_names=names)
    assert k.resolve(X) == k, f"{k!r} resolved again on the same rows is {k.resolve(X)!r}"
    assert k.resolve(Z) == k, f"{k!r} resolved again on other rows is {k.resolve(Z)!r}"
    assert hash(k.resolve(Z)) == hash(k), "equal kernels must have equal hashes"
    assert k.pairings == k.resolve(Z).pairings, "equal kernels must have equal pairings"


def check_equality(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """Kernels are compared, hashed and pickled by value."""
    advice = "equal by value; is the class a frozen dataclass?"
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel, f"kernels must be {advice}"
    assert hash(again) == hash(kernel), "equal kernels must have equal hashes"
    assert kernel != Gaussian(123.0), "a kernel must differ from every other kernel"
    first = kernel.resolve(X, feature_names=names)
    second = again.resolve(X.copy(), feature_names=names)
    assert first == second, f"kernels resolved on equal rows must be {advice}"
    assert len({first, second}) == 1, "equal kernels must have equal hashes"
    copied = pickle.loads(pickle.dumps(first))
    assert copied == first, f"a pickled kernel must be {advice}"
    assert_array_equal(copied(X, Z), first(X, Z))


def check_weights(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """A row of weight 2 counts as two rows when parameters are resolved."""
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 4, size=len(X))
    order = rng.permutation(np.repeat(np.arange(len(X)), counts))
    weighted = kernel.resolve(X, sample_weight=counts, feature_names=names)
    repeated = kernel.resolve(X[order], feature_names=names)
    message = "parameters resolved on weighted rows are not those of repeated rows"
    assert_allclose(weighted(X, Z), repeated(X, Z), err_msg=message, **_CLOSE)


def check_folding(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """A folded sum of columns, if the kernel has one, equals the sum itself."""
    k = kernel.resolve(X, feature_names=names)
    for outputs in ((), (3,)):
        coef = np.random.default_rng(4).normal(size=(len(Z), *outputs))
        folded = fold(k, Z, coef)
        if folded is None:
            assert fold(k, Z, coef, only_if_cheaper=True) is None
            continue
        expected = k(X, Z) @ coef
        close: dict[str, Any] = {
            "rtol": 1e-11,
            "atol": 1e-12 * float(np.abs(expected).max()),
            "err_msg": "the folded columns do not give the sum; compare monomials with profile",
        }
        assert folded(X).shape == expected.shape
        assert folded.cost > 0
        assert_allclose(folded(X), expected, **close)
        assert_allclose(folded(sparse.csr_matrix(X)), expected, **close)
        from_sparse = fold(k, sparse.csr_matrix(Z), coef)
        assert from_sparse is not None
        assert_allclose(from_sparse(X), expected, **close)


KERNEL_CHECKS: tuple[Check, ...] = (
    check_values,
    check_symmetric,
    check_dense_kernel_reads_sparse_rows,
    check_blocks,
    check_float32,
    check_positive_semidefinite,
    check_equality,
    check_resolve,
    check_weights,
    check_folding,
)


def check_sparse(kernel: Any, X: FloatArray, Z: FloatArray, names: Names = None) -> None:
    """A kernel resolved on sparse rows gives equal values for sparse, dense and mixed rows."""
    for container in (sparse.csr_matrix, sparse.csr_array):
        k = kernel.resolve(container(X), feature_names=names)  # sparse rows are not centred
        expected = k(X, Z)
        for left, right in [(container(X), container(Z)), (container(X), Z), (X, container(Z))]:
            assert_allclose(k(left, right), expected, **_CLOSE)
        assert_allclose(k.diag(container(X)), k.diag(X), **_EXACT)
        assert k(container(X), container(X)[:0]).shape == (len(X), 0)
        assert k(container(X)[:0], container(X)).shape == (0, len(X))
