"""The Auto estimators: any table in, one model out."""

import copy
import datetime
import logging
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kboost import AutoKernelClassifier, AutoKernelRegressor
from kboost.auto import basis_size
from kboost.core.stopping import INTERRUPTED
from kboost.metric.families import FAMILIES, families_for
from kboost.metric.rounds import learn_rounds

RNG = np.random.default_rng(0)
N = 90
X = RNG.normal(size=(N, 4))
VALUE = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=N)
LABEL = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
MODELS = [(AutoKernelRegressor, VALUE), (AutoKernelClassifier, LABEL)]
BOTH = pytest.mark.parametrize(("cls", "y"), MODELS, ids=["regressor", "classifier"])


def table(n=N):
    """Numbers, categories, booleans, dates and gaps, of which all but the last column matter."""
    rng = np.random.default_rng(1)
    colours = np.array(["red", "green", "blue"], dtype=object)[rng.integers(3, size=n)]
    number = rng.normal(size=n)
    days = rng.integers(0, 700, size=n)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.uniform(size=n) < 0.1, np.nan, number),
            "colour": pd.Series(colours, dtype="category"),
            "flag": rng.uniform(size=n) < 0.5,
            "day": pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D"),
            "noise": rng.normal(size=n),
        }
    )
    effect = pd.Series(colours).map({"red": 0.0, "green": 2.0, "blue": 5.0}).to_numpy()
    return frame, number + effect + frame["flag"].to_numpy() + days / 350


FRAME, EFFECT = table()


@cache
def default(cls):
    """The default model of X; do not change it."""
    return cls().fit(X, dict(MODELS)[cls])


@cache
def friedman():
    """Rows and targets, of which 300 are fitted by the default model; do not change it."""
    X, y = make_friedman1(400, noise=0.3, random_state=0)
    return X, y, AutoKernelRegressor().fit(X[:300], y[:300])


# Tables --------------------------------------------------------------------------------------


def test_a_table_of_many_kinds_of_columns():
    model = AutoKernelRegressor().fit(FRAME[:70], EFFECT[:70])
    assert model.score(FRAME[70:], EFFECT[70:]) > 0.8
    assert [c.kind for c in model.preparation_.columns_] == [
        "number", "category", "boolean", "date", "number",
    ]  # fmt: skip
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    assert model.n_features_in_ == 5


def test_unseen_categories_gaps_and_other_columns_are_predicted():
    model = AutoKernelClassifier().fit(FRAME, EFFECT > 3)
    new = FRAME[:4].astype({"colour": object})
    new.loc[new.index[0], "colour"] = "violet"
    new.loc[new.index[1], "colour"] = None
    new.loc[new.index[2], "day"] = pd.NaT
    new.insert(0, "more", 1)
    assert np.isfinite(model.predict_proba(new[new.columns[::-1]])).all()


def test_a_word_among_numbers_that_are_written_as_strings():
    frame = pd.DataFrame({"size": [str(v) for v in X[:, 0].round(3)], "other": X[:, 1]})
    model = AutoKernelRegressor().fit(frame, VALUE)
    compiled = model.compile()
    for value, same in [("", None), ("0.250", 0.25)]:
        new, old = (pd.DataFrame({"size": [v], "other": [0.1]}) for v in (value, same))
        assert compiled.predict(new) == compiled.predict(old)
        np.testing.assert_array_equal(model.predict(new), model.predict(old))
    for word in ("1,234", "abc"):
        new = pd.DataFrame({"size": [word], "other": [0.1]})
        for each in (model, compiled):
            with pytest.raises(ValueError, match=f"'size' must hold numbers, .* got '{word}'"):
                each.predict(new)


def test_polars_gives_the_same_model():
    frame = pl.from_pandas(FRAME.astype({"colour": str}))
    one = AutoKernelRegressor().fit(FRAME, EFFECT).predict(FRAME)
    other = AutoKernelRegressor().fit(frame, pl.Series(EFFECT)).predict(frame)
    np.testing.assert_allclose(one, other)


def test_arrays_of_objects_and_lists_of_rows():
    rows = [[1.5, "a", datetime.date(2024, 1, 1 + i % 28)] for i in range(12)]
    rows += [[-1.0, "b", None]] * 3 + [[None, "c", datetime.date(2024, 2, 1)]] * 3
    y = [0] * 12 + [1] * 6
    model = AutoKernelClassifier().fit(rows, y)
    assert model.predict(np.array(rows, dtype=object)).tolist() == y


def test_sparse_rows_equal_dense_rows():
    S = np.where(np.abs(X) > 0.7, X, 0.0)
    one, other = AutoKernelRegressor().fit(S, VALUE), AutoKernelRegressor().fit(csr_array(S), VALUE)
    np.testing.assert_allclose(one.predict(S), other.predict(csr_array(S)))


# Models --------------------------------------------------------------------------------------


def test_regression_finds_the_function():
    X, y = make_friedman1(300, noise=0.3, random_state=0)
    model = AutoKernelRegressor().fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9
    assert set(model.feature_importances_.argsort()[-5:]) == set(range(5))
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_classes_and_probabilities():
    model = AutoKernelClassifier().fit(IRIS_X[::2], IRIS_Y[::2])
    proba = model.predict_proba(IRIS_X[1::2])
    assert model.score(IRIS_X[1::2], IRIS_Y[1::2]) > 0.9
    assert log_loss(IRIS_Y[1::2], proba) < 0.25
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(IRIS_X), model.predict_proba(IRIS_X).argmax(axis=1))
    np.testing.assert_allclose(model.predict_log_proba(IRIS_X[1::2]), np.log(proba))
    assert model.decision_function(IRIS_X).shape == (150, 3)


def test_the_decision_of_two_classes_is_the_log_odds():
    model = default(AutoKernelClassifier)
    proba = model.predict_proba(X)
    assert model.classes_.tolist() == ["other", "same"]
    np.testing.assert_allclose(model.decision_function(X), np.log(proba[:, 1] / proba[:, 0]))
    assert (model.predict(X) == model.classes_[proba.argmax(axis=1)]).all()
    assert (model.predict(X) == LABEL).mean() > 0.9


def test_few_positive_labels_are_found():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + X[:, 1] > 2.4).astype(int)  # about 5 %
    model = AutoKernelClassifier().fit(X[:400], y[:400])
    found = model.predict(X[400:])
    assert found[y[400:] == 1].mean() > 0.5
    assert model.predict_proba(X[400:])[:, 1].mean() == pytest.approx(y[400:].mean(), abs=0.02)


def test_class_weight_shifts_the_decision():
    noisy = np.where(RNG.uniform(size=N) < 0.3, "same", LABEL)
    plain = AutoKernelClassifier().fit(X, noisy)
    shifted = AutoKernelClassifier(class_weight={"other": 5.0}).fit(X, noisy)
    weighted = AutoKernelClassifier().fit(X, noisy, np.where(noisy == "other", 5.0, 1.0))
    assert (shifted.predict(X) == "other").sum() > (plain.predict(X) == "other").sum()
    np.testing.assert_allclose(shifted.predict_proba(X), weighted.predict_proba(X))


def test_a_target_with_heavy_tails_is_fitted_on_the_log_scale():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(250, 2))
    y = np.exp(4 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=250))
    model = AutoKernelRegressor(scoring="neg_mean_absolute_error").fit(X[:180], y[:180])
    assert model.target_scale_.kind == "log"
    assert model.leaderboard_[0]["candidate"].endswith("of log y")
    assert model.score(X[180:], y[180:]) > 0.8
    assert model.predict(X).min() >= 0


def test_a_log_scale_holds_for_rows_that_the_search_merges():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.exp(2 * X[:, 0] + 0.3 * rng.normal(size=120))
    X, y = np.vstack([X, X[:1]]), np.append(y, 0.0)  # the mean of the two is not 0
    model = AutoKernelRegressor(scoring="neg_mean_absolute_error").fit(X, y)
    assert model.target_scale_.kind == "log"
    assert model.score(X, y) > 0.5


def test_a_constant_target():
    model = AutoKernelRegressor().fit(X, np.full(N, 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5)
    assert not model.feature_importances_.any()


@pytest.mark.parametrize("scale", [1e-150, 1e149])
def test_units_of_the_target_do_not_matter(scale):
    plain = default(AutoKernelRegressor).predict(X)
    np.testing.assert_allclose(
        AutoKernelRegressor().fit(X, scale * VALUE).predict(X) / scale, plain, rtol=0.2, atol=0.2
    )


def test_targets_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match=r"^y must be at most 1e\+150 in size; got 1e\+200\.$"):
        AutoKernelRegressor().fit(X, np.where(np.arange(N) == 3, 1e200, VALUE))


# What is shown -------------------------------------------------------------------------------


@BOTH
def test_the_leaderboard(cls, y):
    model = default(cls)
    board = model.leaderboard_
    assert board
    assert [line["score"] for line in board] == sorted((e["score"] for e in board), reverse=True)
    assert set(board[0]) == {
        "candidate", "score", "spread", "fit_seconds", "predict_us_per_row", "bytes", "columns",
    }  # fmt: skip
    assert all(np.isfinite(list(line.values())[1:]).all() for line in board)
    assert board[0]["candidate"] in model.reason_
    measured = {"neg_log_loss": "log loss", "neg_mean_squared_error": "mean squared error"}
    assert f"the lowest {measured[model.scoring_]}" in model.reason_
    assert model.stop_reason_.rule == "complete"


@BOTH
def test_an_explanation_adds_up_to_the_values(cls, y):
    model = default(cls)
    explanation = model.explain(X[:5])
    values = model.estimator_._decision(model.preparation_.transform(X[:5]))
    total = explanation.by_kernel.sum(axis=1).reshape(5, -1) + explanation.intercept
    np.testing.assert_allclose(total, values, atol=1e-8)


# Parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("prefer", "most"), [("size", 1024), ("speed", 256)])
def test_few_columns_are_preferred(prefer, most):
    X, y, plain = friedman()
    small = AutoKernelRegressor(prefer=prefer).fit(X[:300], y[:300])
    assert small.n_columns_ <= most
    assert small.n_columns_ < plain.n_columns_
    assert small.score(X[300:], y[300:]) > 0.8
    assert f"{small.n_columns_} columns" in small.reason_
    assert prefer in small.reason_


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "f1_macro", "neg_log_loss"])
def test_scoring_of_labels(name):
    model = AutoKernelClassifier(scoring=name).fit(X, LABEL)
    assert model.scoring_ == name
    assert name.removeprefix("neg_").replace("_", " ") in model.reason_
    assert max(line["score"] for line in model.leaderboard_) == model.leaderboard_[0]["score"] <= 1


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "r2", "neg_max_error"])
def test_scoring_of_numbers(name):
    model = AutoKernelRegressor(scoring=name).fit(X, VALUE)
    assert model.scoring_ == name
    assert np.isfinite(model.leaderboard_[0]["score"])


@pytest.mark.parametrize(
    ("cls", "y", "name"),
    [
        (AutoKernelRegressor, VALUE, "roc_auc"),
        (AutoKernelClassifier, LABEL, "r2"),
        (AutoKernelClassifier, np.arange(N) % 3, "roc_auc"),
        (AutoKernelClassifier, LABEL, "f1"),  # which label is the positive one?
    ],
)
def test_a_scorer_of_other_targets_is_refused(cls, y, name):
    message = f"^scoring must be the name of a scorer for such targets; got scoring='{name}'\\.$"
    with pytest.raises(ValueError, match=message):
        cls(scoring=name).fit(X, y)


def test_a_scorer_sees_the_weights():
    weight = np.where(np.arange(N) < 45, 1.0, 3.0)
    repeated = np.repeat(np.arange(N), weight.astype(int))
    heavy = AutoKernelClassifier(scoring="accuracy").fit(X, LABEL, weight)
    twice = AutoKernelClassifier(scoring="accuracy").fit(X[repeated], LABEL[repeated])
    plain = AutoKernelClassifier(scoring="accuracy").fit(X, LABEL)
    scores = [model.leaderboard_[0]["score"] for model in (heavy, twice, plain)]
    assert scores[0] == pytest.approx(scores[1])
    assert scores[0] != pytest.approx(scores[2])


PARAMETERS = [
    (
        {"max_seconds": 0},
        r"^max_seconds must be positive, or 'auto', or None; got max_seconds=0\.$",
    ),
    (
        {"prefer": "small"},
        r"^prefer must be 'accuracy' or 'size' or 'speed'; got prefer='small'\.$",
    ),
    (
        {"scoring": "auc"},
        r"^scoring must be the name of a scorer .*, or None; got scoring='auc'\.$",
    ),
    ({"scoring": len}, r"^scoring must be the name of a scorer of scikit-learn, or None; got "),
    ({"n_jobs": 0}, r"^n_jobs must be an integer other than 0, or None; got n_jobs=0\.$"),
    ({"random_state": "x"}, r"^random_state must be None, a nonnegative integer or a RandomState"),
    ({"verbose": "yes"}, r"^verbose must be an integer; got verbose='yes'\.$"),
]


@BOTH
@pytest.mark.parametrize(("params", "message"), PARAMETERS)
def test_a_bad_parameter_leaves_the_model_unchanged(cls, y, params, message):
    model = copy.deepcopy(default(cls))
    before = model.predict(X)
    state = {name: id(value) for name, value in vars(model).items()}
    old = {name: getattr(model, name) for name in params}
    with pytest.raises(ValueError, match=message):
        model.set_params(**params).fit(X, y)
    model.set_params(**old)
    assert {name: id(value) for name, value in vars(model).items()} == state
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        (
            {"class_weight": "even"},
            LABEL,
            r"^class_weight must be a dict, 'balanced' or None; got ",
        ),
        ({"class_weight": {"x": 1.0}}, LABEL, r"^class_weight must have keys among the classes"),
        ({}, np.full(N, "one"), r"^y must have at least two classes with a positive weight; got "),
        ({}, LABEL[:-1], r"inconsistent numbers of samples"),
        ({}, None, r"requires y to be passed, but the target y is None"),
    ],
)
def test_bad_labels_leave_no_trace(params, y, message):
    model = AutoKernelClassifier(**params)
    before = copy.copy(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


@BOTH
def test_the_order_of_the_rows_does_not_matter(cls, y):
    order = RNG.permutation(N)
    one, other = default(cls), cls().fit(X[order], y[order])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("cls", [AutoKernelRegressor, AutoKernelClassifier])
def test_weights_are_repeated_rows_for_every_family(cls):
    """With more rows than the checks of scikit-learn have: all families compete."""
    X, y = make_friedman1(220, n_features=5, noise=0.5, random_state=0)
    y = y if cls is AutoKernelRegressor else y > 14
    weight = np.random.default_rng(1).integers(0, 3, size=220)
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(220), weight))
    one, other = cls().fit(X, y, weight), cls().fit(X[repeated], y[repeated])
    assert len(families_for(*X.shape)) == len(FAMILIES)
    np.testing.assert_allclose(one._decision(X), other._decision(X), rtol=1e-6, atol=1e-6)
    assert [e["candidate"] for e in one.leaderboard_] == [
        e["candidate"] for e in other.leaderboard_
    ]


@pytest.mark.parametrize("state", [0, 7, None, np.random.RandomState(3)], ids=str)
def test_random_states_fit_as_well(state):
    assert AutoKernelRegressor(random_state=state).fit(X, VALUE).score(X, VALUE) > 0.8


# Limits --------------------------------------------------------------------------------------


@BOTH
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_there_is_a_model_without_time(cls, y):
    model = cls(max_seconds=1e-6).fit(X, y)
    assert model.stop_reason_.rule == "max_seconds"
    assert len(model.leaderboard_) == 1
    assert model.score(X, y) > 0.5  # the first family, at its first width


def test_a_limit_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="max_seconds reached: all rows are fitted"):
        AutoKernelRegressor(max_seconds=1e-6).fit(X, VALUE)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_time_few_of_many_rows_are_fitted(monkeypatch):
    monkeypatch.setattr("kboost.auto.final_fit.HURRIED", 20)
    model = AutoKernelRegressor(max_seconds=1e-6).fit(X, VALUE)
    assert model.n_columns_ == 20
    assert "20 of 90 distinct rows" in model.stop_reason_.message


def interrupt_at(number, monkeypatch):
    """Ctrl-C while the family of this number is learned."""
    calls = []

    def interrupted(*arguments):
        calls.append(arguments[0].name)
        if len(calls) == number:
            raise KeyboardInterrupt
        return learn_rounds(*arguments)

    monkeypatch.setattr("kboost.metric.compare.learn_rounds", interrupted)
    return calls


@BOTH
def test_ctrl_c_keeps_the_best_candidate_so_far(cls, y, monkeypatch):
    calls = interrupt_at(3, monkeypatch)
    model = cls()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    names = {line["candidate"] for line in model.leaderboard_}
    assert names <= {*calls[:2], "blend"}
    assert len(model.kernels_) == 1
    assert model.score(X, y) > 0.8


@BOTH
def test_ctrl_c_before_there_is_a_candidate_changes_nothing(cls, y, monkeypatch):
    interrupt_at(1, monkeypatch)
    model = cls()
    before = copy.copy(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert vars(model) == before


def test_ctrl_c_in_the_search_for_a_size_keeps_the_best_candidate(monkeypatch):
    calls, fit_members = [], basis_size.fit_members

    def interrupted(*arguments, **options):
        calls.append(options["max_columns"])
        result = fit_members(*arguments, **options)
        return replace(result, reason=INTERRUPTED) if calls[-1] == 16 else result

    monkeypatch.setattr(basis_size, "fit_members", interrupted)
    model = AutoKernelRegressor(prefer="size")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, VALUE)
    assert calls == [8] * 5 + [16]  # five folds
    assert model.stop_reason_.rule == "interrupted"
    assert model.n_columns_ == 8


def test_every_step_of_the_search_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="kboost"):
        AutoKernelRegressor().fit(X, VALUE)
    assert any("fold 1 of 5: error" in line for line in caplog.messages)


def test_verbose_shows_the_steps(capsys):
    AutoKernelRegressor(verbose=1).fit(X[:30], VALUE[:30])
    assert "laplacian, fold 1 of 5: error" in capsys.readouterr().err


# scikit-learn --------------------------------------------------------------------------------


@BOTH
def test_not_fitted(cls, y):
    for method in ("predict", "explain"):
        with pytest.raises(NotFittedError):
            getattr(cls(), method)(X)


@BOTH
def test_clone_pickle_and_copy(cls, y):
    model = cls(prefer="accuracy", n_jobs=1).fit(FRAME, EFFECT if y is VALUE else EFFECT > 3)
    assert clone(model).get_params() == model.get_params()
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(same.predict(FRAME), model.predict(FRAME))
        assert same.reason_ == model.reason_
        assert same.columns_per_kernel_ == model.columns_per_kernel_


@BOTH
def test_pipelines_and_grids(cls, y):
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), cls())
    name = cls.__name__.lower()
    grid = GridSearchCV(pipe, {f"{name}__prefer": ["accuracy", "size"]}, cv=2)
    grid.fit(X, y)
    assert grid.best_score_ > 0.5
    assert grid.best_estimator_[-1].feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]


@BOTH
def test_weights_are_routed(cls, y):
    weight = np.arange(N) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        model = cls().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(
            model, X, y, cv=2, params={"sample_weight": weight}, return_estimator=True
        )
    assert all(each.n_columns_ <= 25 * len(each.kernels_) for each in found["estimator"])


@BOTH
def test_predictions_in_float32(cls, y):
    model = copy.deepcopy(default(cls))
    values = model._decision(X)
    model.set_predict_dtype("float32")
    size = np.abs(model.estimator_.dual_coef_).sum()  # the kernels are at most 1
    np.testing.assert_allclose(model._decision(X), values, atol=1e-5 * size)
    assert not np.array_equal(model._decision(X), values)


def test_a_category_that_determines_the_target_has_no_undefined_means():
    """Without variance inside the levels, a level that is absent from a part was 0/0."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 60, 300)
    table = pd.DataFrame({"c": [f"k{i}" for i in code], "x": rng.normal(size=300)})
    model = AutoKernelRegressor().fit(table, code * 1.0)
    assert model.score(table, code) > 0.99
    assert np.isfinite(model.predict(table[:2].assign(c="new"))).all()


def test_weights_that_sum_to_one_leave_probabilities_as_they_are():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 200, 4))
    y = np.sin(2 * A[:, 0]) + A[:, 1] > 0
    plain = AutoKernelClassifier().fit(A, y).predict_proba(B)
    shares = AutoKernelClassifier().fit(A, y, np.full(200, 1 / 200)).predict_proba(B)
    np.testing.assert_allclose(shares, plain, rtol=1e-6, atol=1e-8)


def test_whole_numbers_that_count_the_rows_are_a_feature():
    order = np.random.default_rng(0).permutation(60)
    table = pd.DataFrame({"rank": order, "z": np.random.default_rng(1).normal(size=60)})
    assert AutoKernelRegressor().fit(table, order * 1.0).score(table, order) > 0.99


def test_a_model_without_time_to_count_columns_does_not_claim_it():
    A = np.random.default_rng(0).normal(size=(1000, 3))
    with pytest.warns(ConvergenceWarning):
        model = AutoKernelRegressor(max_seconds=1e-6, prefer="speed").fit(A, A[:, 0])
    assert "prefers" not in model.reason_


def test_few_rows_are_left_out_one_by_one():
    A = np.random.default_rng(0).normal(size=(9, 3))
    noise = np.random.default_rng(1).normal(size=9)
    model = AutoKernelRegressor().fit(A, noise)
    assert model.leaderboard_[0]["score"] < -1e-3 * noise.var()  # not an error of training rows


@pytest.mark.parametrize(("label", "kind"), [("a", "str"), (True, "bool"), (3, "int")])
def test_missing_labels_are_refused_in_one_sentence(label, kind):
    y = np.array([label, None] * 10, dtype=object)
    with pytest.raises(
        ValueError, match=f"of one kind, without missing values; got NoneType, {kind}"
    ):
        AutoKernelClassifier().fit(np.arange(20.0)[:, None], y)


@pytest.mark.parametrize("labels", [[False, True], [3, 7]])
def test_labels_that_are_objects_of_one_kind_are_labels(labels):
    y = np.array(labels * 10, dtype=object)
    model = AutoKernelClassifier(max_seconds=None).fit(np.arange(20.0)[:, None], y)
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.classes_.dtype != object


def test_without_time_the_matrix_of_probabilities_is_not_searched(monkeypatch):
    monkeypatch.setattr("kboost.estimators.auto_classifier.calibrate_jointly", None)
    with pytest.warns(ConvergenceWarning, match="max_seconds reached"):
        model = AutoKernelClassifier(max_seconds=1e-6).fit(IRIS_X, IRIS_Y)
    matrix = model.probabilities_.matrix
    np.testing.assert_array_equal(matrix, matrix[0, 0] * np.eye(3))
    np.testing.assert_allclose(model.predict_proba(IRIS_X).sum(axis=1), 1.0)
