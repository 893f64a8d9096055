"""Files of a few kB whose objects stand for exponentially many are refused before any is made."""

from __future__ import annotations

import pytest
from numpy.testing import assert_array_equal

from kboost import KernelBoostClassifier, load_model, save_model
from kboost.kernels import Gaussian, Linear
from kboost.persistence.errors import FormatError
from kboost.persistence.unfolding import MAX_DEPTH, check_work
from tests.fitted import SIGN, X, fitted
from tests.persistence.forging import closed, inserted, nodes_of, opened


def chain(n, times):
    """Nodes that refer to the one before them so many times."""
    return [{"list": []}, *({"list": [{"ref": i}] * times} for i in range(n))]


def doubled(levels, name="Sum"):
    """A file whose kernel is the sum of twice a kernel, and so on."""
    manifest, arrays = opened(fitted("boost"))
    at = nodes_of(manifest, "KernelPart")[0]
    kernel = manifest["nodes"][at]["object"]["fields"]["kernel"]
    nodes = []
    for _ in range(levels):
        nodes.append({"tuple": [kernel, kernel]})
        fields = {"kernels": {"ref": at + len(nodes) - 1}}
        nodes.append({"object": {"class": name, "fields": fields}})
        kernel = {"ref": at + len(nodes) - 1}
    inserted(manifest, at, nodes)
    manifest["nodes"][at + len(nodes)]["object"]["fields"]["kernel"] = kernel
    return closed(manifest, arrays)


@pytest.mark.parametrize("name", ["Sum", "Product"])
@pytest.mark.parametrize("levels", [18, 30, 49])
def test_doubling_chains_of_kernels(name, levels, tmp_path):
    (tmp_path / "m.kboost").write_bytes(doubled(levels, name))
    with pytest.raises(ValueError, match=r"unfold to more than|nested more than"):
        load_model(tmp_path / "m.kboost")


def test_nodes_may_be_shared_a_few_times(tmp_path):
    check_work(chain(10, 2), [])
    (tmp_path / "m.kboost").write_bytes(closed(*opened(fitted("boost"))))
    assert_array_equal(load_model(tmp_path / "m.kboost").predict(X), fitted("boost").predict(X))


def test_depth_is_limited():
    check_work(chain(MAX_DEPTH - 1, 1), [])
    with pytest.raises(FormatError, match="nested more than 100 deep"):
        check_work(chain(MAX_DEPTH, 1), [])


@pytest.mark.parametrize("times", [2, 3, 50])
def test_doubling_takes_no_time_to_refuse(times):
    with pytest.raises(FormatError, match="unfold to more than"):
        check_work(chain(MAX_DEPTH - 1, times), [])


def test_many_that_nothing_refers_to_count_together():
    shared = chain(11, 2)
    check_work([*shared, {"list": [{"ref": 11}]}], [])
    with pytest.raises(FormatError, match="unfold to more than"):
        check_work([*shared, *[{"list": [{"ref": 11}]}] * 500], [])


def test_large_arrays_are_not_used_a_thousand_times():
    array = {"array": 0}
    check_work([array, {"list": [{"ref": 0}] * 1000}], [1 << 22])
    with pytest.raises(FormatError, match="unfold to more than"):
        check_work([array, {"list": [{"ref": 0}] * 2000}], [1 << 22])


def test_what_no_reader_accepts_is_not_written(tmp_path):
    kernel = Linear()
    for _ in range(MAX_DEPTH // 4):  # four nodes each
        kernel = (kernel + Gaussian(0.5)) * Gaussian(0.5)
    model = KernelBoostClassifier([kernel], C=1.0, max_iter=1).fit(X[:10], SIGN[:10])
    with pytest.raises(ValueError, match=r"model must fit into a file; got one where .* nested"):
        save_model(model, tmp_path / "m.kboost")
    assert not (tmp_path / "m.kboost").exists()
