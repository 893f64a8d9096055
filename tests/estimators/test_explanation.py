"""`explain`: every split adds up to the prediction, and says what it is about."""

import numpy as np
import pytest

from kboost import KernelBoostClassifier, KernelBoostRegressor, SparseKernelRegressor
from kboost.data.multiclass import class_scores
from kboost.kernels import Gaussian, Linear
from tests.fitted import MODELS, SIGN, VALUE, X, fitted, rows_of

VOTES = ("boosted votes", "boosted against the rest")  # of several kernels in a round
EXPLAINED = [name for name in MODELS if name not in VOTES]


def scored(model, values):
    """The class scores from the values of the binary problems."""
    problems = getattr(model, "_binary_problems", None)
    if problems is None:
        return values
    return class_scores(values.reshape(len(values), -1), problems, len(model.classes_))


def explained_values(model, rows):
    """What the shares add up to: values of an AutoKernel estimator before its head."""
    if hasattr(model, "preparation_"):
        model, rows = model.estimator_, model.preparation_.transform(rows)
    return getattr(model, "decision_function", model.predict)(rows)


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_split_adds_up_to_the_prediction(name):
    model, rows = fitted(name), rows_of(name)[:17]
    told = model.explain(rows)
    expected = explained_values(model, rows)
    size = 1.0 + np.abs(told.by_center).sum(axis=1).max()
    for total in (
        told.values,
        told.intercept + told.by_kernel.sum(axis=1),
        told.intercept + told.by_group.sum(axis=1),
        told.intercept + told.by_center.sum(axis=1),
    ):
        found = scored(model, total)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * size)
    assert told.by_kernel.shape[1] == len(told.kernels) == len(model.columns_per_kernel_)
    assert told.by_group.shape[1] == len(told.groups)
    assert len(told.outputs) == np.size(told.intercept)
    if told.centers is not None:
        assert told.by_center.shape[1] == told.centers.shape[0] <= model.n_columns_
    frame = told.to_frame()
    for split in ("kernel", "group", told.piece):
        kept = frame[frame["split"].isin(("intercept", split))]
        sums = kept.groupby(["row", "output"])["share"].sum().to_numpy()
        assert sums.sum() == pytest.approx(told.values.sum(), abs=1e-8 * size * len(sums))
    assert repr(told).startswith("Explanation of 17 rows; the first:\n  value")


@pytest.mark.parametrize("name", VOTES)
def test_a_vote_of_several_kernels_has_no_split(name):
    with pytest.raises(ValueError, match=r"^explain requires variant='D1' or 'S1'"):
        fitted(name).explain(rows_of(name)[:3])


def test_rounds_are_carried_by_their_kernels():
    model = fitted("boosted SVMs")
    told = model.explain(X)
    assert told.piece == "round"
    assert told.by_center.shape == (60, model.n_iter_)
    weights = np.abs(told.by_center).max(axis=0)
    np.testing.assert_allclose(weights, model.estimator_weights_)  # a round says -1 or 1
    used = np.array([use.weight for use in model.kernel_usage_.values()])
    assert (np.abs(told.by_kernel).max(axis=0) <= used + 1e-12).all()


def test_duels_are_named():
    three = fitted("mixtures learned")
    assert three.explain(rows_of("mixtures learned")[:2]).outputs == (
        "bb over a", "ccc over a", "ccc over bb",
    )  # fmt: skip
    assert fitted("boosted SVMs").explain(X[:2]).outputs == (1,)


def test_a_group_changes_only_with_its_features():
    library = [Linear(columns=[0, 1]), Gaussian(0.5, columns=[2]) + Linear(columns=[1, 0])]
    model = KernelBoostRegressor(library, C=10.0).fit(X, VALUE)
    told = model.explain(X)
    assert set(told.groups) == {"0, 1", "2"}
    moved = X.copy()
    moved[:, 2:] += 1.0
    again = model.explain(moved)
    place = told.groups.index("0, 1")
    np.testing.assert_allclose(told.by_group[:, place], again.by_group[:, place], atol=1e-12)
    assert np.abs(told.by_group - again.by_group).max() > 1e-3


def test_kernels_that_are_not_used_carry_nothing():
    model = fitted("boost three classes")
    told = model.explain(X)
    assert list(told.kernels) == list(model.columns_per_kernel_)
    for place, count in enumerate(model.columns_per_kernel_.values()):
        if count == 0:
            assert not told.by_kernel[:, place].any()
    assert told.outputs == ("a", "bb", "ccc")
    assert "value of" in repr(told)


def test_centres_are_training_rows_each_once():
    told = fitted("boost").explain(X[:3])
    assert len(np.unique(told.centers, axis=0)) == len(told.centers)
    assert all(np.any(np.all(center == X, axis=1)) for center in told.centers)


def test_names_of_features_name_the_groups():
    told = fitted("boost names of features").explain(rows_of("boost names of features")[:2])
    assert set(told.groups) == {"one, four", "all features"}


def test_a_cell_is_carried_by_its_own_rows():
    model = SparseKernelRegressor([Gaussian(0.5)], cells=20).fit(X, VALUE)
    carried = model.explain(X).by_center != 0
    assert carried.any(axis=1).all()
    assert carried.sum(axis=1).max() <= 20


def test_halfspaces_are_split_by_the_features_they_look_at():
    told = fitted("halfspaces").explain(X[:4])
    assert told.centers is None
    assert told.piece == "halfspace"
    assert told.kernels == ("halfspaces",)
    used = {int(f) for group in told.groups if group != "all features" for f in group.split(", ")}
    assert used <= set(fitted("halfspaces").selected_features_.tolist())


def test_rows_are_checked_and_a_fit_is_needed():
    with pytest.raises(ValueError, match="features"):
        fitted("boost").explain(X[:, :2])
    with pytest.raises(Exception, match="not fitted"):
        KernelBoostClassifier().explain(X)
    single = KernelBoostClassifier([Gaussian(1.0)], C=1.0).fit(X, SIGN).set_predict_dtype("float32")
    assert single.explain(X).values.dtype == np.float64
