"""One warning where a class is predicted for none of the training rows, and none elsewhere."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification

from kboost import KernelBoostClassifier, SparseKernelClassifier
from kboost.baselines import CompositeSVC
from kboost.exceptions import UnpredictedClassWarning
from kboost.kernels import Gaussian, Linear

LIBRARY = [Linear(), Gaussian(0.1)]
MODELS = [
    KernelBoostClassifier(LIBRARY, C=1e-3),
    SparseKernelClassifier(LIBRARY, ridge=1e6),
    CompositeSVC(LIBRARY, C=1e-4),
]


@pytest.fixture(scope="module")
def rare():
    return make_classification(200, 5, weights=[0.85], flip_y=0.0, class_sep=2.0, random_state=0)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_class_that_is_never_predicted_is_named_once(model, rare):
    X, y = rare
    way = "class_weight='balanced'" if "class_weight" in model.get_params() else "sample_weight"
    with pytest.warns(UnpredictedClassWarning, match=f": set {way} ") as caught:
        model.fit(X, np.array(["often", "rare"])[y])
    assert len(caught) == 1
    assert f"{type(model).__name__} predicts 'rare' for none" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_no_warning_where_it_is_predicted_or_rows_are_few(rare):
    X, y = rare
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnpredictedClassWarning)
        predicted = KernelBoostClassifier(LIBRARY, C=1.0).fit(X, y)
        few = KernelBoostClassifier(LIBRARY, C=1e-3).fit(X[:90], y[:90])
        without = KernelBoostClassifier(LIBRARY, C=1e-3, class_weight={1: 0.0, 2: 1.0}).fit(
            X, np.where(y == 1, 1, np.arange(200) % 2 * 2)
        )
    assert set(predicted.predict(X)) == {0, 1}
    assert set(few.predict(X[:90])) == {0}
    assert 1 not in without.predict(X)


def test_rows_without_weight_do_not_count(rare):
    X, y = rare
    weight = np.where(y == 1, np.arange(200) % 12 == 0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnpredictedClassWarning)
        model = KernelBoostClassifier(LIBRARY, C=1e-3).fit(X, y, sample_weight=weight)
    assert set(model.predict(X)) == {0}
