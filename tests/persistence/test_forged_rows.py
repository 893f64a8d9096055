"""Sparse rows that point outside their entries never reach compiled code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from kboost import load_model
from kboost.persistence.errors import FormatError
from kboost.persistence.sparse_rows import canonical, sparse_rows
from tests.fitted import fitted
from tests.persistence.forging import closed, opened

SOUND = ([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 2, 3])  # of shape (3, 3)
FORGED = {  # data, indices, indptr
    "rows that begin later": (*SOUND[:2], [1, 2, 2, 3]),
    "rows that go back": (*SOUND[:2], [0, 3, 2, 3]),
    "rows that point outside": (*SOUND[:2], [0, 2, 10**9, 3]),
    "no entry, and rows that point outside": (*SOUND[:2], [0, 10**9, 10**9, 0]),
    "rows before the first entry": (*SOUND[:2], [0, -(10**9), 2, 3]),
    "too many entries": (*SOUND[:2], [0, 2, 2, 4]),
    "too few entries": (*SOUND[:2], [0, 2, 2, 2]),
    "too few rows": (*SOUND[:2], [0, 2, 3]),
    "no rows": (*SOUND[:2], []),
    "too few numbers": (SOUND[0][:2], *SOUND[1:]),
    "an index beyond the columns": (SOUND[0], [0, 3, 1], SOUND[2]),
    "a negative index": (SOUND[0], [-1, 2, 1], SOUND[2]),
    "an index twice": (SOUND[0], [2, 2, 1], SOUND[2]),
    "indices in another order": (SOUND[0], [2, 0, 1], SOUND[2]),
}


def made(data, indices, indptr, kind="csr_matrix", shape=(3, 3), dtype=np.int32):
    indices, indptr = np.array(indices, dtype=dtype), np.array(indptr, dtype=dtype)
    return sparse_rows(kind, list(shape), np.array(data), indices, indptr)


@pytest.mark.parametrize("what", FORGED)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_arrays_that_are_no_rows(what, dtype):
    with pytest.raises(FormatError, match="points outside its entries"):
        made(*FORGED[what], dtype=dtype)


@pytest.mark.parametrize("kind", ["csc_matrix", "", None, 1])
def test_no_other_kind(kind):
    with pytest.raises(FormatError):
        made(*SOUND, kind=kind)


@pytest.mark.parametrize("shape", [(3,), (3, 2**40), (-1, 3), (3, 3, 1), (3.0, 3), (True, 3)])
def test_shapes_that_cannot_be(shape):
    with pytest.raises(FormatError):
        made(*SOUND, shape=shape)


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float64, ">i4"])
def test_indices_are_integers_that_scipy_uses(dtype):
    with pytest.raises(FormatError):
        made(*SOUND, dtype=dtype)


def test_sound_rows_are_the_same_and_own_their_arrays():
    arrays = (np.array(SOUND[0]), np.array(SOUND[1]), np.array(SOUND[2]))
    rows = sparse_rows("csr_array", [3, 3], *arrays)
    arrays[2][:] = 10**9
    assert isinstance(rows, csr_array)
    assert rows.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]


def test_rows_are_written_in_order():
    rows = csr_matrix(([1.0, 2.0, 3.0, 4.0], [2, 0, 0, 1], [0, 3, 4]), shape=(2, 3))
    written = canonical(rows)
    assert written.indices.tolist() == [0, 2, 1]
    assert (written.toarray() == rows.toarray()).all()
    assert rows.indices.tolist() == [2, 0, 0, 1]
    assert canonical(written) is written


@pytest.mark.parametrize("name", ["boost sparse rows", "sparse sparse", "boosted votes"])
@pytest.mark.parametrize("value", [10**9, -1, 2**31 - 1])
def test_a_model_whose_rows_point_outside_is_refused(name, value, tmp_path):
    manifest, arrays = opened(fitted(name))
    matrix = next(node["matrix"] for node in manifest["nodes"] if "matrix" in node)
    place = manifest["nodes"][matrix["indptr"]["ref"]]["array"]
    arrays[place][1:-1] = value
    arrays[place][-1] = 0
    (tmp_path / "m.kboost").write_bytes(closed(manifest, arrays))
    with pytest.raises(ValueError, match="a sparse matrix points outside its entries"):
        load_model(tmp_path / "m.kboost")
