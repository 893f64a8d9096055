"""Bad input gets one clear sentence and leaves the estimator as it was."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kboost import KernelBoostRegressor
from kboost.baselines import CompositeSVR
from kboost.kernels import Gaussian, Linear
from kboost.settings import ColumnGeneration
from tests.estimators.boost import boost

X, Y = make_moons(20, noise=0.1, random_state=0)


def with_value(value):
    out = X.copy()
    out[3, 1] = value
    return out


def wrong_shape(A, B):
    return np.zeros((len(A), len(B) + 1))


def words(A, B):
    return np.full((len(A), len(B)), "a")


def not_a_number(A, B):
    return np.full((len(A), len(B)), np.nan)


TINY_FRACTION = ColumnGeneration(early_stopping=1e-3)
PARAMETERS = [
    ({"C": -1}, r"^C must be positive, or 'auto'; got C=-1\.$"),
    ({"C": 0.0}, r"^C must be positive, or 'auto'; got C=0\.0\.$"),
    ({"C": "big"}, r"^C must be positive, or 'auto'; got C='big'\.$"),
    ({"C": np.inf}, r"^C must be positive, or 'auto'; got C=inf\.$"),
    ({"C": True}, r"^C must be positive, or 'auto'; got C=True\.$"),
    ({"penalty": "l3"}, r"^penalty must be 'l1' or 'l2'; got penalty='l3'\.$"),
    ({"nonnegative": 1}, r"^nonnegative must be True or False; got nonnegative=1\.$"),
    ({"intercept": False}, r"^intercept must be 'free' or 'penalized' or 'none'; got "),
    ({"column_scaling": "rms"}, r"^column_scaling must be 'floored' or 'unit' or None; got "),
    ({"max_columns": 2.5}, r"^max_columns must be an integer of at least 1, or None; got "),
    ({"max_iter": 0}, r"^max_iter must be an integer of at least 1; got max_iter=0\.$"),
    ({"max_seconds": 0}, r"^max_seconds must be positive, or None; got max_seconds=0\.$"),
    ({"tol": -1e-3}, r"^tol must be zero or positive; got tol=-0\.001\.$"),
    ({"class_weight": "even"}, r"^class_weight must be a dict, 'balanced' or None; got "),
    ({"class_weight": {0: -1.0}}, r"^class_weight must have finite values of zero or more; got "),
    ({"kernels": []}, r"^kernels must not be empty; got kernels=\[\]\.$"),
    ({"kernels": ()}, r"^kernels must not be empty; got kernels=\(\)\.$"),
    ({"kernels": ["precomputed"]}, r"^kernels='precomputed' must be a string, not part of a list"),
    ({"kernels": [words]}, r"words must return real numbers; got dtype <U1\.$"),
    (
        {"class_weight": {7: 3.0}},
        r"^class_weight must have keys among the classes \[0, 1\] of y; got 7",
    ),
    ({"class_weight": {0: "a"}}, r"^class_weight must have finite values of zero or more; got "),
    ({"n_jobs": "a"}, r"^n_jobs must be an integer other than 0, or None; got n_jobs='a'\.$"),
    ({"n_jobs": 0}, r"^n_jobs must be an integer other than 0, or None; got n_jobs=0\.$"),
    ({"random_state": "x"}, r"^random_state must be None, a nonnegative integer or a RandomState"),
    ({"verbose": "yes"}, r"^verbose must be an integer; got verbose='yes'\.$"),
    ({"C": 1e13}, r"^C times the largest sample weight must be below 1e\+12; got 1e\+13\.$"),
    ({"solver": "simplex"}, r"^solver must be 'cg' or a ColumnGeneration; got solver='simplex'\.$"),
    ({"solver": np.array([1, 2])}, r"^solver must be 'cg' or a ColumnGeneration; got solver="),
    ({"solver": TINY_FRACTION}, r"^validation_fraction must leave rows on both sides; got "),
    ({"kernels": ["rbff"]}, r"^kernels must be one of .*'rbf'.*; got 'rbff'\.$"),
    ({"kernels": [3]}, r"^kernels must be .*; got 3\.$"),
    ({"kernels": [wrong_shape]}, r"wrong_shape must return shape .*\(20, 20\); got \(20, 21\)\.$"),
    ({"kernels": [not_a_number]}, r"not_a_number must return finite values; got inf or nan\.$"),
    ({"kernels": "precomputed"}, r"^X must have a multiple of 20 columns .*; got 2 columns\.$"),
    ({"kernels": [Gaussian(gamma=-1.0)]}, r"^gamma must be positive or one of .*; got gamma=-1"),
    ({"kernels": [Linear(columns=["age"])]}, r"column.*names.*'age'|'age'.*names"),
    ({"kernels": [Linear(columns=[7])]}, r"7"),
]

DATA = [
    ((X[:, 0], Y), r"2D array"),
    ((X, Y[:-1]), r"inconsistent numbers of samples: \[20, 19\]"),
    ((with_value(np.nan), Y), r"NaN"),
    ((with_value(np.inf), Y), r"infinity"),
    (
        (X, np.zeros(20)),
        r"^y must have at least two classes .*; got one class, 0\.0\.$",
    ),
    ((X, np.linspace(0, 1, 20)), r"Unknown label type"),
    ((X, None), r"requires y to be passed"),
    ((X.astype(str).astype(object), np.array(["a", "b"] * 10)), None),
    ((np.array([["a", 1.0]] * 20, dtype=object), Y), r"^X must be numeric; could not convert"),
    ((np.zeros((0, 2)), np.zeros(0)), r"0 sample"),
    ((X[:1], Y[:1]), r"one class"),
]

WEIGHTS = [
    (np.zeros(20), r"^sample_weight must not be zero for every row; got all zeros\.$"),
    (np.full(20, -1.0), r"^sample_weight must not be negative; got -1\.$"),
    (np.ones(19), r"^sample_weight must have one value per row; got shape \(19,\) for 20 rows\.$"),
    (2.0, r"^sample_weight must have one value per row; got shape \(\) for 20 rows\.$"),
    (["a"] * 20, r"^sample_weight must be numeric; could not convert string to float: .*'a'.*\.$"),
    (np.full(20, np.nan), r"NaN"),
    (np.where(Y == 1, 0.0, 1.0), r"^y must have at least two classes with a positive weight"),
]


@pytest.mark.parametrize(("options", "message"), PARAMETERS)
def test_bad_parameter(options, message):
    model = boost([Linear()]).fit(X, Y).set_params(**options)
    before = {k: v for k, v in vars(model).items() if k.endswith("_")}
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X, Y)
    assert "\n" not in str(caught.value)
    after = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[k] is before[k] for k in before)


@pytest.mark.parametrize(("data", "message"), [case for case in DATA if case[1]])
def test_bad_data_leaves_an_unfitted_estimator_unfitted(data, message):
    model = boost([Linear()])
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(*data)
    assert vars(model) == before


def test_numbers_as_objects_are_numbers():
    model = boost([Linear()]).fit(X.astype(object), np.array(["b", "a"])[Y])
    assert model.score(X, np.array(["b", "a"])[Y]) > 0.7


@pytest.mark.parametrize(("weight", "message"), WEIGHTS)
def test_bad_weights(weight, message):
    model = boost([Linear()])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, sample_weight=weight)
    assert vars(model) == before


@pytest.mark.parametrize("dtype", [str, object])
@pytest.mark.parametrize("estimator", [KernelBoostRegressor(), CompositeSVR()])
def test_words_for_targets_are_not_blamed_on_the_rows(estimator, dtype):
    words = np.array(["low", "high"] * 10, dtype=dtype)
    with pytest.raises(ValueError, match=r"^y must be numeric; could not convert string to float"):
        estimator.fit(X, words)


def test_column_names_must_be_in_the_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["left", "right"])
    with pytest.raises(ValueError, match=r"'middle'"):
        boost([Linear(columns=["middle"])]).fit(frame, Y)


def test_predicting_with_other_features_is_refused():
    model = boost([Linear()]).fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((2, 3)))
