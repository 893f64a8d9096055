"""Rows of the user's own to judge by: TR3 and `C="auto"` on them, through metadata routing too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.data.merged_rows import hold_out, merge_rows
from kboost.kernels import Gaussian, Linear
from kboost.plans import bases
from kboost.selection.platt import calibrated_log_loss
from kboost.settings import ColumnGeneration, EarlyStopping

LIBRARY = [Linear(), Gaussian(0.1)]
N = 137  # rows to judge by: a prime


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(160 + N, 8, flip_y=0.2, random_state=0)
    return X[N:], y[N:], X[:N], y[:N]


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_step_of_the_lowest_error_is_kept(noisy, penalty):
    X, y, X_val, y_val = noisy
    model = KernelBoostClassifier(
        LIBRARY,
        penalty=penalty,
        C=10.0,
        solver=ColumnGeneration(
            columns_per_step=2, early_stopping=EarlyStopping(None, n_iter_no_change=3)
        ),
    ).fit(X, y, X_val=X_val, y_val=y_val)
    errors = model.trace_.values("validation_error")
    assert str(model.stop_reason_).startswith("TR3: the validation error")
    assert int(np.argmin(errors)) == len(errors) - 4
    loss = calibrated_log_loss(model.decision_function(X_val), y_val, np.ones(N))
    assert errors.min() == pytest.approx(loss, rel=1e-6)


def test_a_rare_class_does_not_end_the_fit_at_its_first_step():
    X, y = make_classification(500, 6, n_informative=4, weights=[0.9], flip_y=0.02, random_state=3)
    solver = ColumnGeneration(columns_per_step=2, early_stopping=EarlyStopping(0.25, 2))
    model = KernelBoostClassifier(LIBRARY, C=1.0, solver=solver).fit(X, y)
    assert model.n_columns_ >= 3
    assert (model.predict(X) == 1).any()
    errors = model.trace_.values("validation_error")
    assert errors.min() < 0.8 * errors[0]


def test_it_is_what_a_fraction_held_out_does(noisy):
    X, y, *_ = noisy
    fraction, given = (
        ColumnGeneration(columns_per_step=2, early_stopping=EarlyStopping(share, 3))
        for share in (0.3, None)
    )
    rows = merge_rows(X, y, np.ones(len(y)))
    learn, held = hold_out(rows, 0.3, np.random.RandomState(0), by_code=True)
    drawn = KernelBoostClassifier(LIBRARY, C=1.0, solver=fraction).fit(X, y)
    own = KernelBoostClassifier(LIBRARY, C=1.0, solver=given)
    own.fit(learn.X, learn.codes, X_val=held.X, y_val=held.codes)
    assert own.objective_ == drawn.objective_
    assert_allclose(own.decision_function(X), drawn.decision_function(X), atol=1e-9)


def test_weights_of_these_rows_count_like_rows(noisy):
    X, y, X_val, y_val = noisy
    count = np.random.default_rng(0).integers(0, 4, N)
    fits = [
        KernelBoostClassifier(
            LIBRARY,
            C=1.0,
            class_weight={0: 1.0, 1: 3.0},
            solver=ColumnGeneration(columns_per_step=2),
        )
        for _ in range(2)
    ]
    fits[0].fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=count)
    again = np.repeat(np.arange(N), count)
    fits[1].fit(X, y, X_val=X_val[again], y_val=y_val[again])
    first, second = (model.trace_.values("validation_error") for model in fits)
    assert_allclose(first, second, atol=1e-12)
    assert_allclose(fits[0].dual_coef_, fits[1].dual_coef_, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_they_judge_c_too(n_classes):
    X, y = make_classification(
        120 + N, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=1
    )
    model = KernelBoostClassifier(LIBRARY).fit(X[N:], y[N:], X_val=X[:N], y_val=y[:N])
    tuning = model.tuning_
    assert tuning.C[tuning.best] == model.C_
    entropy = -np.sum(np.bincount(y[:N]) / N * np.log(np.bincount(y[:N]) / N))
    assert tuning.error[0] == pytest.approx(entropy, rel=0.02)  # a model without columns
    assert tuning.error.min() < 0.9 * entropy


def test_regression_is_judged_by_values_that_fit_has_not_seen():
    X, y = make_regression(120, 4, noise=20.0, random_state=0)
    model = KernelBoostRegressor(
        LIBRARY,
        C=1.0,
        epsilon=0.1,
        solver=ColumnGeneration(
            columns_per_step=1, early_stopping=EarlyStopping(None, n_iter_no_change=2)
        ),
    ).fit(X[:80], y[:80], X_val=X[80:], y_val=y[80:])
    lowest = model.trace_.values("validation_error").min()
    assert lowest == pytest.approx(np.mean((model.predict(X[80:]) - y[80:]) ** 2))


def test_several_classes_are_judged_one_by_one():
    X, y = load_iris(return_X_y=True)
    model = KernelBoostClassifier(
        LIBRARY,
        C=1.0,
        solver=ColumnGeneration(early_stopping=EarlyStopping(None, n_iter_no_change=1)),
    )
    model.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert len(model.stop_reason_) == 3
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_a_pipeline_transforms_and_passes_them(noisy):
    X, y, X_val, y_val = noisy
    X, X_val = 50 * X + 3, 50 * X_val + 3
    with config_context(enable_metadata_routing=True):
        model = KernelBoostClassifier(
            LIBRARY,
            C=1.0,
            solver=ColumnGeneration(
                columns_per_step=2, early_stopping=EarlyStopping(None, n_iter_no_change=2)
            ),
        )
        model.set_fit_request(X_val=True, y_val=True)
        pipe = make_pipeline(StandardScaler(), model, transform_input=["X_val"])
        pipe.fit(X, y, X_val=X_val, y_val=y_val)
    scaler = StandardScaler().fit(X)
    X, X_val = scaler.transform(X), scaler.transform(X_val)
    alone = KernelBoostClassifier(
        LIBRARY,
        C=1.0,
        solver=ColumnGeneration(
            columns_per_step=2, early_stopping=EarlyStopping(None, n_iter_no_change=2)
        ),
    )
    alone.fit(X, y, X_val=X_val, y_val=y_val)
    assert pipe[-1].stop_reason_ == alone.stop_reason_
    assert str(pipe[-1].stop_reason_).startswith("TR3")
    assert_allclose(pipe[-1].decision_function(X_val), alone.decision_function(X_val))


BAD = [
    ({"X_val": "X"}, r"^X_val and y_val must be given together; got only X_val\.$"),
    ({"y_val": "y"}, r"^X_val and y_val must be given together; got only y_val\.$"),
    ({"sample_weight_val": "y"}, r"got only sample_weight_val\.$"),
    (
        {"X_val": "narrow", "y_val": "y"},
        r"^X_val and y_val must have the form of X and y; X has 3 features",
    ),
    (
        {"X_val": "X", "y_val": "short"},
        r"^X_val and y_val must have the form of X and y; .*inconsistent",
    ),
    ({"X_val": "X", "y_val": "other"}, r"^y_val must hold classes of y; got 7, y has \[0, 1\]\.$"),
    ({"X_val": "X", "y_val": "words"}, r"^y_val must hold classes of y; got 'a', y has \[0, 1\]"),
    (
        {"X_val": "X", "y_val": "y", "sample_weight_val": "zero"},
        r"^sample_weight_val must not be zero",
    ),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_what_does_not_fit_is_refused(noisy, given, message):
    X, y, X_val, y_val = noisy
    values = {
        "X": X_val,
        "narrow": X_val[:, :3],
        "y": y_val,
        "short": y_val[:5],
        "other": np.full(N, 7),
        "words": np.full(N, "a"),
        "zero": np.zeros(N),
    }
    model = KernelBoostClassifier(LIBRARY, C=1.0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, **{name: values[which] for name, which in given.items()})
    assert not hasattr(model, "classes_")


def test_two_ways_to_hold_out_contradict_each_other(noisy):
    X, y, X_val, y_val = noisy
    solver = ColumnGeneration(early_stopping=0.2)
    for model in (KernelBoostClassifier, KernelBoostRegressor):
        with pytest.raises(
            ValueError, match=r"X_val and y_val are given; got validation_fraction=0\.2"
        ):
            model(LIBRARY, C=1.0, solver=solver).fit(X, y, X_val=X_val, y_val=y_val)


def test_early_stopping_without_a_fraction_requires_rows(noisy):
    X, y, *_ = noisy
    solver = ColumnGeneration(early_stopping=EarlyStopping(None))
    with pytest.raises(ValueError, match=r"requires X_val and y_val; got neither\.$"):
        KernelBoostClassifier(LIBRARY, C=1.0, solver=solver).fit(X, y)


def test_rows_of_no_weight_cannot_judge(noisy):
    X, y, X_val, _ = noisy
    three = np.where(np.arange(len(y)) < 5, 2, y)
    model = KernelBoostClassifier(LIBRARY, C=1.0, class_weight={2: 0.0})
    with pytest.raises(ValueError, match=r"^X_val must have rows of a class with"):
        model.fit(X, three, X_val=X_val, y_val=np.full(N, 2))


@pytest.mark.parametrize("budget", [2**30, 10**6])
def test_the_libraries_of_auto_share_the_budget(noisy, monkeypatch, budget):
    X, y, *_ = noisy
    plain, given = bases.KernelLibrary, []

    def noted(*arguments, **options):
        given.append(options["memory_budget"])
        return plain(*arguments, **options)

    monkeypatch.setattr(bases, "KernelLibrary", noted)
    KernelBoostClassifier(LIBRARY, solver=ColumnGeneration(memory_budget=budget)).fit(X, y)
    *tuning, last = given
    assert len(tuning) == 5  # alive together
    assert 0.9 * budget < sum(tuning) <= budget
    assert last == budget
