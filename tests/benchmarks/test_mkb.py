"""The referee of MKBoost-D1, and the tables' arithmetic."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from benchmarks.datasets import Data
from benchmarks.entries import _mkb, _mkb_tables, mkb_speed


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_plain_loop_chooses_as_the_estimator_does(monkeypatch, n_classes):
    monkeypatch.setattr(_mkb, "ROUNDS", 5)
    X, y = make_classification(
        90, 5, n_informative=3, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )
    data = Data(X, y.astype(float), X[:0], y[:0].astype(float))
    monkeypatch.setattr("benchmarks.datasets.load", lambda *_args, **_kwargs: data)
    ours, theirs = (mkb_speed.measure("D4", what) for what in ("D1", "referee"))
    assert [len(task) for task in ours["choices"]] == [5] * len(ours["choices"])
    assert mkb_speed.agree(ours["choices"], theirs["choices"])


def test_choices_that_differ_are_seen():
    one = [[[3, 0.5], [2, 0.25]]]
    assert mkb_speed.agree(one, [[[3, 0.5], [2, 0.25 + 1e-12]]])
    assert not mkb_speed.agree(one, [[[3, 0.5], [1, 0.25]]])
    assert not mkb_speed.agree(one, [[[3, 0.5], [2, 0.26]]])
    assert not mkb_speed.agree(one, [[[3, 0.5]]])


def test_every_method_has_the_paper_s_figures_of_every_set():
    assert set(_mkb_tables.PAPER) == set(_mkb_tables.MAKERS)
    assert all(len(cells) == 16 for cells in _mkb_tables.PAPER.values())
    assert _mkb_tables.paper("D16", "MKB-D2") == (0.9741, 0.0074, 0.8285)
    assert sorted(_mkb_tables.ORDER) == sorted(_mkb_tables.FILES)


def test_cells_are_judged_by_the_paper_s_deviation():
    def rows(*values):
        return [{"accuracy": value} for value in values]

    assert _mkb_tables.reached(rows(0.80, 0.81), "D1", "MKB-D1")  # 0.8050 >= 0.8122 - 0.0077
    assert not _mkb_tables.reached(rows(0.80, 0.80), "D1", "MKB-D1")
    better = _mkb_tables.p_value(rows(0.9, 0.91, 0.93), rows(0.8, 0.83, 0.82))
    assert better is not None
    assert better < 0.05
    assert _mkb_tables.p_value(rows(0.9, 0.8), rows(0.9, 0.8)) is None


def test_the_library_is_the_paper_s():
    kernels = _mkb.paper_kernels()
    assert len(kernels) == 17
    x = np.array([[0.0], [2.0]])
    assert kernels[6](x)[0, 1] == pytest.approx(np.exp(-4 / 2))  # the width of 1
    assert kernels[16](x)[1, 1] == 125.0
