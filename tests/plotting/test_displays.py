"""Displays show the numbers of the fit, in pictures that can be asked."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kboost import (
    KernelBoostClassifier,
    KernelBoostRegressor,
    MKBoostClassifier,
    SparseKernelRegressor,
    baselines,
)
from kboost import plotting as kp
from kboost.kernels import Gaussian, Linear
from kboost.model_selection import path
from kboost.plotting._fitted import short_name
from kboost.settings import ColumnGeneration, EarlyStopping
from tests.fitted import fitted, one_of_each, rows_of

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def model(moons):
    return KernelBoostClassifier([Linear(), Gaussian("mean")], C=1.0).fit(*moons)


@pytest.fixture(scope="module")
def curve():
    X = np.linspace(-3, 3, 80)[:, None]
    y = np.sinc(X[:, 0]) + 0.05 * np.random.default_rng(0).normal(size=80)
    return X, y, KernelBoostRegressor(["rbf"], C=1.0, epsilon=0.05).fit(X, y)


def test_the_trace_is_drawn_as_it_is(model):
    display = kp.plot_trace(model)
    (line,) = display.ax_.lines
    np.testing.assert_array_equal(line.get_ydata(), [step.objective for step in model.trace_])
    (gap,) = display.gap_ax_.lines
    np.testing.assert_allclose(gap.get_ydata()[-1], max(model.dual_gap_, 1e-8))


def test_axes_may_be_given(model):
    figure, ax = mpl.pyplot.subplots()
    display = kp.TraceDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_nothing_proved_has_no_gap(moons):
    sparse = SparseKernelRegressor(["rbf"], ridge=0.1, max_columns=10).fit(*moons)
    assert kp.plot_trace(sparse).gap_ax_ is None


def test_a_class_of_several():
    X, y = load_iris(return_X_y=True)
    model = KernelBoostClassifier(["rbf"], C=1.0, max_columns=5).fit(X, y)
    display = kp.plot_trace(model, output=2)
    np.testing.assert_array_equal(display.objective, model.trace_[2].values("objective"))
    with pytest.raises(ValueError, match=r"output must be at least 0 and below 3.*output=3"):
        kp.plot_trace(model, output=3)
    surface = KernelBoostClassifier(["rbf"], C=1.0, max_columns=5).fit(X[:, :2], y)
    drawn = kp.plot_decision(surface, X[:, :2], y, grid_resolution=20)
    assert drawn.is_class
    assert set(np.unique(drawn.values)) <= {0.0, 1.0, 2.0}


def test_the_validation_curve_marks_what_was_kept(moons):
    model = KernelBoostClassifier(
        ["rbf"],
        C=1.0,
        solver=ColumnGeneration(
            columns_per_step=1, early_stopping=EarlyStopping(0.3, n_iter_no_change=3)
        ),
    ).fit(*moons)
    display = kp.plot_validation(model)
    errors = model.trace_.values("validation_error")
    assert errors[display.best_] == errors.min()
    kept, stopped = (line.get_xdata()[0] for line in display.ax_.lines[1:])
    assert kept == display.n_columns[display.best_]
    assert stopped == display.n_columns[-1]


def test_no_validation_no_curve(model):
    with pytest.raises(ValueError, match="fitted with early_stopping"):
        kp.plot_validation(model)


def test_columns_and_shares_of_kernels(model, moons):
    display = kp.plot_kernels(model, moons[0])
    assert [bar.get_width() for bar in display.ax_.patches] == list(
        model.columns_per_kernel_.values()
    )
    np.testing.assert_allclose(display.shares.sum(), 1.0)
    assert kp.plot_kernels(model).shares is None


def test_shares_in_a_pipeline_are_those_of_its_rows(moons):
    X, y = moons
    pipe = make_pipeline(StandardScaler(), KernelBoostClassifier(["linear", "rbf"], C=1.0))
    pipe.fit(X, y)
    inner = kp.plot_kernels(pipe[-1], pipe[:-1].transform(X))
    np.testing.assert_array_equal(kp.plot_kernels(pipe, X).shares, inner.shares)


def test_a_path_and_the_path_of_auto(moons):
    found = path(
        KernelBoostClassifier(["rbf"]), *moons, Cs=[0.1, 1.0], X_val=moons[0], y_val=moons[1]
    )
    display = kp.plot_path(found)
    np.testing.assert_array_equal(display.C, [0.1, 1.0])
    np.testing.assert_array_equal(display.columns_ax_.lines[0].get_ydata(), found.n_columns)
    auto = KernelBoostClassifier(["rbf"], max_iter=5).fit(*moons)
    display = kp.plot_path(auto)
    assert display.C[display.best] == auto.C_


def test_no_tuning_no_path(model):
    with pytest.raises(ValueError, match="C='auto'"):
        kp.plot_path(model)


def test_the_surface_has_the_values_and_the_centres(model, moons):
    display = kp.plot_decision(model, *moons, grid_resolution=15)
    corner = [[display.first[3], display.second[7]]]
    np.testing.assert_allclose(display.values[7, 3], model.decision_function(corner)[0])
    shown = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert sum(int(text.split("(")[1][:-1]) for text in shown) == model.n_columns_


def test_searches_pipelines_and_frames(moons):
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame(moons[0], columns=["a", "b"]), moons[1]
    pipe = make_pipeline(StandardScaler(), KernelBoostClassifier(["rbf"], max_columns=5))
    search = GridSearchCV(pipe, {"kernelboostclassifier__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert kp.plot_decision(search.best_estimator_, X, y, grid_resolution=10).centers is None
    assert len(kp.plot_trace(search).objective) == len(search.best_estimator_[-1].trace_)


def test_the_tube_counts_the_points_outside(curve):
    X, y, model = curve
    display = kp.plot_tube(model, X, y)
    beyond = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-6
    assert display.outside.sum() == beyond.sum() > 0
    assert len(display.centers) == model.n_columns_


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (kp.plot_tube, TypeError, "estimator must be a KernelBoostRegressor"),
        (lambda m, X, y: kp.plot_decision(m, X[:, :1]), ValueError, "X must have two features"),
        (
            lambda m, X, y: kp.plot_trace(SVC().fit(X, y)),
            TypeError,
            "must be a kboost estimator.*got SVC",
        ),
    ],
)
def test_bad_input_is_named(call, error, words, model, moons):
    with pytest.raises(error, match=words):
        call(model, *moons)


@pytest.mark.parametrize("name", one_of_each())
def test_every_estimator_has_a_picture_or_a_sentence(name):
    model, rows = fitted(name), rows_of(name)
    counts = list(model.columns_per_kernel_.values())
    shown = kp.plot_kernels(model, rows)
    assert shown.counts.tolist() == counts
    assert sum(counts) == model.n_columns_
    drawn, refused = [], []
    for picture in (kp.plot_trace, kp.plot_validation, kp.plot_path):
        try:
            drawn.append(picture(model))
        except ValueError as error:
            refused.append(str(error))
    assert all(words.startswith("estimator must") and ". " not in words for words in refused)
    assert drawn or not getattr(model, "trace_", None) or hasattr(model, "estimator_weights_")


@pytest.mark.parametrize(
    "model",
    [
        MKBoostClassifier(["rbf", "linear"], max_iter=3),
        baselines.MKLClassifier(["rbf", "linear"]),
        baselines.CompositeSVC(["rbf", "linear"]),
        baselines.KernelDesignClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_support_vectors_belong_to_all_kernels(model, moons):
    display = kp.plot_decision(model.fit(*moons), *moons, grid_resolution=9)
    assert set(display.kernel_of_center) == {"support vectors"} or len(model.kernels_) == 1
    assert len(display.centers) == len(model.centers_)


def test_weights_of_kernels_are_drawn_by_steps(moons):
    model = baselines.MKLClassifier(["rbf", "linear"]).fit(*moons)
    assert kp.plot_trace(model).ax_.get_xlabel() == "step"


def test_rounds_are_no_steps(moons):
    model = MKBoostClassifier(["rbf"], max_iter=2).fit(*moons)
    with pytest.raises(ValueError, match="got a MKBoostClassifier without one"):
        kp.plot_trace(model)


def test_names_are_short(model):
    assert short_name("Laplacian(gamma=0.20001359746754338, on=<Ranks of 30 features>)") == (
        "Laplacian(gamma=0.2, ranks)"
    )
    assert (
        short_name("Gaussian(gamma=0.25, on=<Standardize of 2 features>)") == "Gaussian(gamma=0.25)"
    )
    assert short_name("Linear(on=<Standardize of 30 features>)") == "Linear()"
    assert short_name("Gaussian(gamma=np.float64(0.0138), columns=(0, 1))") == (
        "Gaussian(gamma=0.0138, columns=(0, 1))"
    )
