"""`feature_importances_` and `explain(by="feature")` of every estimator, and who reads them."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel

from kboost import KernelBoostClassifier, KernelBoostRegressor, SparseKernelRegressor
from kboost._estimator.players import Players
from kboost._estimator.shapley import shapley_values
from kboost._estimator.total_effects import total_effects
from kboost.kernels import Gaussian, Linear, Polynomial
from tests.fitted import FRAME, SIGN, VALUE, X, fitted, one_of_each, rows_of

CHOSEN = [
    *(name for name in one_of_each() if "precomputed" not in name),
    "boost sparse rows",
    "halfspaces",
    "active",
    "sparse cells",
    "sparse two targets",
    "boosted votes",
    "auto three classes",
    "auto logarithms",
]
FOUR = Players(4)


def answer(model, rows):
    values = getattr(model, "decision_function", model.predict)(rows)
    return values.reshape(rows.shape[0], -1)


@pytest.mark.parametrize("name", CHOSEN)
def test_every_estimator_is_split_by_feature(name):
    model, rows = fitted(name), rows_of(name)[:2]
    assert not hasattr(clone(model), "feature_importances_")
    shares = model.feature_importances_
    assert shares.shape == (4,)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= 0).all()
    explanation = model.explain(rows, by="feature")
    expected = answer(model, rows)
    np.testing.assert_allclose(explanation.values.reshape(2, -1), expected, atol=1e-12)
    total = explanation.baseline + explanation.by_feature.sum(axis=1)
    size = np.abs(explanation.by_feature).sum()
    np.testing.assert_allclose(total.reshape(2, -1), expected, atol=1e-12 * (1 + size))
    assert len(explanation.outputs) == expected.shape[1]
    again = model.explain(rows[1:], by="feature")  # a row does not depend on the others
    np.testing.assert_allclose(again.by_feature[0], explanation.by_feature[1], atol=1e-12)
    frame = explanation.to_frame()
    assert frame["share"].sum() == pytest.approx(explanation.values.sum())
    assert repr(explanation).startswith("FeatureExplanation of 2 rows; the first:\n  value")


def test_the_fit_says_whether_features_are_rows_of_a_kernel():
    K = X[:40] @ X[:40].T
    model = KernelBoostClassifier(kernels="precomputed", C=1.0, max_columns=5)
    model.fit(K, X[:40, 0] > 0).set_params(kernels="auto")
    with pytest.raises(AttributeError, match="kernels='precomputed'"):
        _ = model.feature_importances_
    with pytest.raises(ValueError, match="kernels='precomputed'"):
        model.explain(K[:2], by="feature")


def test_what_depends_on_two_features_is_exact():
    coef = X[:2] @ np.ones(4)
    kernel = Polynomial(2) + Gaussian(0.5, columns=[1, 3])

    def values_at(rows):
        return kernel(rows, X[:2]) @ coef[:, None]

    references = X[10:13]
    shares = shapley_values(values_at, X[5:6], references, FOUR)[0, :, 0]
    expected = np.zeros(4)
    for order in permutations(range(4)):  # the definition
        for b in references:
            row = b.copy()
            for j in order:
                before = values_at(row[None])[0, 0]
                row[j] = X[5, j]
                expected[j] += values_at(row[None])[0, 0] - before
    np.testing.assert_allclose(shares, expected / 72, atol=1e-12)


def test_linear_shares_are_those_of_the_weights():
    model = SparseKernelRegressor([Linear()], ridge=1e-3, max_columns=4).fit(X, X @ [3, 2, 1, 0])
    explanation = model.explain(X[:3], by="feature")
    assert explanation.exact
    slopes = np.diff(explanation.by_feature, axis=0) / np.diff(X[:3], axis=0)
    np.testing.assert_allclose(slopes, [[3, 2, 1, 0]] * 2, atol=0.01)
    assert not fitted("boost").explain(X[:1], by="feature").exact


def test_the_shares_of_a_linear_function_are_its_variances():
    rows = np.random.default_rng(1).normal(size=(300, 4))
    shares = total_effects(lambda x: x @ [[3.0], [2], [1], [0]], rows, FOUR, 1)
    np.testing.assert_allclose(shares, np.array([9, 4, 1, 0]) / 14, atol=0.1)
    pairs = Players(4, [slice(0, 2), slice(2, 2), slice(2, 4)])
    together = total_effects(lambda x: x @ [[3.0], [2], [1], [0]], rows, pairs, 1)
    np.testing.assert_allclose(together, np.array([13, 0, 1]) / 14, atol=0.1)
    assert not total_effects(lambda x: np.ones((len(x), 1)), rows, FOUR, 1).any()


def test_large_models_are_evaluated_at_few_rows():
    seen = []

    def values_at(rows):
        seen.append(len(rows))
        return rows @ [[3.0], [2], [1], [0]]

    shares = total_effects(values_at, X, FOUR, 1 << 40)
    assert seen == [8, 4 * 8]
    assert shares.argmin() == 3


def test_importances_are_computed_once_and_after_each_fit_again():
    model = KernelBoostClassifier(["rbf"], C=1.0).fit(X, SIGN)
    first = model.feature_importances_
    assert model.feature_importances_ is first
    assert pickle.loads(pickle.dumps(model)).feature_importances_.tolist() == first.tolist()
    model.fit(X[:, ::-1], SIGN)
    np.testing.assert_allclose(model.feature_importances_, first[::-1], atol=0.2)
    assert set(first.argsort()[-2:]) == {0, 1}


def test_a_constant_model_has_no_shares():
    model = fitted("constant")
    assert not model.feature_importances_.any()
    explanation = model.explain(X[:2], by="feature")
    assert not explanation.by_feature.any()
    assert explanation.baseline == pytest.approx(1.0)


def test_rows_may_be_sparse_or_dense():
    model, rows = fitted("boost sparse rows"), rows_of("boost sparse rows")[:2]
    shares = [model.explain(each, by="feature").by_feature for each in (rows, rows.toarray())]
    np.testing.assert_array_equal(*shares)


def test_names_and_columns_of_a_table():
    explanation = fitted("auto three classes").explain(FRAME[:1], by="feature")
    assert explanation.features == tuple(FRAME.columns)
    assert explanation.outputs == ("a", "bb", "ccc")


def test_features_are_selected_by_importances_not_by_coefficients():
    model = KernelBoostRegressor(["rbf"], C=1.0, max_columns=20)
    assert not hasattr(fitted("boost"), "coef_")
    chosen = SelectFromModel(model, max_features=3, threshold=-np.inf).fit(X, VALUE)
    assert chosen.get_support().tolist() == [True, True, True, False]
    assert RFE(model, n_features_to_select=3).fit(X, VALUE).support_.tolist() == [1, 1, 1, 0]


def test_precomputed_kernels_have_no_features():
    model, rows = fitted("boost precomputed"), rows_of("boost precomputed")[:1]
    with pytest.raises(AttributeError, match=r"^Features must be values of rows; got"):
        _ = model.feature_importances_
    with pytest.raises(ValueError, match=r"^Features must be values of rows; got"):
        model.explain(rows, by="feature")
    with pytest.raises(ValueError, match="by must be 'term' or 'feature'"):
        model.explain(rows, by="row")
    assert "dual_coef_" in model._repr_html_()
