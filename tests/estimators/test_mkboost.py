"""MKBoost against Algorithms 1 to 4 written out, and what the paper leaves open."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kboost import KernelBoostClassifier, MKBoostClassifier, SparseKernelClassifier
from kboost.baselines import (
    BoostedSVMClassifier,
    CompositeSVC,
    KernelDesignClassifier,
    MKLClassifier,
)
from kboost.boosting import fit as boosting_fit
from kboost.data.merged_rows import merge_rows
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial

KERNELS = [Gaussian(4.0), Gaussian(1.0), Gaussian(0.05), Linear(), Polynomial(2)]
VARIANTS = ["D1", "D2", "S1", "S2"]


def problem(n=80, seed=0, n_classes=2):
    """Rows in the order in which `fit` puts them, so that draws can be compared."""
    X, y = make_classification(n, 4, n_informative=3, n_redundant=0, n_classes=n_classes,
                               flip_y=0.1, n_clusters_per_class=1, random_state=seed)  # fmt: skip
    rows = merge_rows(X, y, np.ones(n))
    return rows.X, rows.codes


def algorithm(variant, X, y, X_new, rounds, ratio, decay, C, seed):
    """Algorithms 1 to 4, step by step, one scikit-learn SVM after the other."""
    N, M = len(y), len(KERNELS)
    target = np.where(y == 1, 1, -1)
    scales = [np.mean(np.diag(k(X))) for k in KERNELS]
    grams = [k(X) / s for k, s in zip(KERNELS, scales, strict=True)]
    grams_new = [k(X_new, X) / s for k, s in zip(KERNELS, scales, strict=True)]
    rng = np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1, size=1)[0])
    D, S = np.full(N, 1 / N), np.ones(M)
    F, chosen, alphas, errors, probabilities = np.zeros(len(X_new)), [], [], [], [S.copy()]
    n = round(ratio * N)

    def half_log_odds(error):
        error = min(max(error, 1 / (4 * N)), 1 - 1 / (4 * N))
        return 0.5 * np.log((1 - error) / error)

    for _ in range(rounds):
        sample = np.sort([int(np.searchsorted(np.cumsum(D), u)) for u in rng.random_sample(n)])
        kernels = [j for j, u in enumerate(rng.random_sample(M)) if u < S[j]]
        f, f_new, e = {}, {}, {}
        for j in kernels:
            svm = SVC(kernel="precomputed", C=C, tol=1e-9)
            svm.fit(grams[j][np.ix_(sample, sample)], target[sample])
            f[j] = np.where(svm.decision_function(grams[j][:, sample]) > 1e-6, 1, -1)
            f_new[j] = np.where(svm.decision_function(grams_new[j][:, sample]) > 1e-6, 1, -1)
            e[j] = sum(D[i] for i in range(N) if f[j][i] != target[i])
            if variant[0] == "S":
                S[j] *= decay ** e[j]
        S /= S.max()
        probabilities.append(S.copy())
        if variant[1] == "1":
            best = min(kernels, key=lambda j: (round(e[j], 12), j))
            vote, vote_new, used = f[best], f_new[best], (best,)
        else:
            a = {j: half_log_odds(e[j]) for j in kernels}
            vote = np.where(sum(a[j] * f[j] for j in kernels) > 1e-9, 1, -1)
            vote_new = np.where(sum(a[j] * f_new[j] for j in kernels) > 1e-9, 1, -1)
            used = tuple(kernels)
        error = sum(D[i] for i in range(N) if vote[i] != target[i])
        assert error < 0.5
        alpha = half_log_odds(error)
        D = D * np.exp(-alpha * target * vote)
        D /= D.sum()
        F += alpha * vote_new
        chosen.append(used)
        alphas.append(alpha)
        errors.append(error)
    return F, chosen, alphas, errors, probabilities


BUDGETS = {"matrices kept": 2**30, "blocks kept": 8 * 80**2 * 3, "made anew": 1}


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_step_is_that_of_the_algorithm(variant, budget):
    X, y = problem()
    new = np.random.default_rng(3).normal(size=(40, 4))
    settings = {"max_iter": 8, "sample_ratio": 0.3, "kernel_decay": 0.1, "C": 5.0}
    model = MKBoostClassifier(
        KERNELS, variant=variant, tol=1e-9, memory_budget=budget, random_state=7, **settings
    ).fit(X, y)
    F, chosen, alphas, errors, probabilities = algorithm(
        variant, X, y, new, rounds=8, ratio=0.3, decay=0.1, C=5.0, seed=7
    )
    assert [step.kernels for step in model.trace_] == chosen
    np.testing.assert_allclose(model.estimator_weights_, alphas, atol=1e-9)
    np.testing.assert_allclose(model.errors_, errors, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(new), F, atol=1e-9)
    assert (np.min(probabilities) < 1) == (variant[0] == "S")


@pytest.mark.parametrize(("stochastic", "plain"), [("S1", "D1"), ("S2", "D2")])
def test_without_decay_the_stochastic_variants_are_the_others(stochastic, plain):
    X, y = problem()
    one = MKBoostClassifier(KERNELS, variant=stochastic, kernel_decay=1.0, max_iter=6).fit(X, y)
    other = MKBoostClassifier(KERNELS, variant=plain, max_iter=6).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.kernel_usage_ == other.kernel_usage_


def test_fewer_kernels_are_trained_as_they_err():
    X, y = problem(150)
    model = MKBoostClassifier(KERNELS, variant="S1", max_iter=40).fit(X, y)
    trained = model.trace_.values("n_trained")
    assert trained[0] == len(KERNELS)
    assert trained[20:].mean() < trained[0]
    assert trained.min() >= 1
    use = list(model.kernel_usage_.values())
    assert sum(u.trained for u in use) == trained.sum()
    assert sum(u.rounds for u in use) == 40
    assert sum(u.weight for u in use) == pytest.approx(model.estimator_weights_.sum())


def test_a_vote_shares_the_weight_of_its_round():
    X, y = problem()
    model = MKBoostClassifier(KERNELS, variant="D2", max_iter=5).fit(X, y)
    use = list(model.kernel_usage_.values())
    assert [u.rounds for u in use] == [5] * len(KERNELS)
    assert sum(u.weight for u in use) == pytest.approx(model.estimator_weights_.sum())


def test_a_round_without_error_weighs_much_but_not_infinitely():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5) + np.linspace(0, 0.1, 20)[:, None]
    y = (X[:, 0] > 0).astype(int)
    model = MKBoostClassifier([Linear()], max_iter=4, sample_ratio=1.0).fit(X, y)
    assert {step.outcome for step in model.trace_} == {"perfect"}
    cap = 0.5 * np.log((1 - 1 / 80) / (1 / 80))
    np.testing.assert_allclose(model.estimator_weights_, cap)
    np.testing.assert_array_equal(model.errors_, 0)
    assert model.score(X, y) == 1.0


def test_a_round_at_chance_is_not_taken_and_resets_the_distribution():
    """The corners of a square, each a hundred times: no line is better than 1/2 for long."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], 25, axis=0)
    X += 0.01 * rng.normal(size=X.shape)
    y = np.repeat([0, 0, 1, 1], 25)
    model = MKBoostClassifier([Linear()], max_iter=30, sample_ratio=0.05).fit(X, y)
    outcomes = [step.outcome for step in model.trace_]
    assert "reset" in outcomes
    taken = [step for step in model.trace_ if step.outcome == "taken"]
    assert all(step.error < 0.5 and step.weight > 0 for step in taken)
    assert all(step.weight == 0 for step in model.trace_ if step.outcome == "reset")
    assert len(taken) == len(model.estimator_weights_) == len(model.errors_)


def test_labels_that_cannot_be_told_apart_give_the_heavier_class_and_say_so():
    X, y = np.zeros((10, 2)), np.array([0] * 5 + [1] * 5)
    model = MKBoostClassifier([Gaussian(1.0)]).fit(X, y)
    assert [step.outcome for step in model.trace_] == ["reset"] * 10 + ["constant"]
    assert "no error below 1/2" in str(model.stop_reason_)
    np.testing.assert_array_equal(model.predict(X), 0)  # nothing speaks for either


def test_a_draw_of_one_class_gives_its_constant():
    X, y = problem(40)
    weight = np.where(y == 1, 1.0, 1e-6)
    model = MKBoostClassifier(KERNELS, max_iter=1, sample_ratio=0.1).fit(X, y, weight)
    assert model.trace_[0].one_class
    np.testing.assert_array_equal(model.predict(X), 1)
    assert sum(use.rounds for use in model.kernel_usage_.values()) == 0


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = MKBoostClassifier(max_iter=10, multi_class=multi_class).fit(X[::2], names[::2])
    assert model.score(X[1::2], names[1::2]) > 0.9
    assert model.decision_function(X).shape == (150, 3)
    assert len(model.estimator_weights_) == len(model.trace_) == len(model.errors_) == 3
    winners = model.classes_[model.decision_function(X).argmax(axis=1)]
    np.testing.assert_array_equal(winners, model.predict(X))


def test_one_against_one_is_the_vote_of_its_pairs():
    X, y = problem(120, n_classes=3)
    model = MKBoostClassifier(KERNELS, max_iter=6).fit(X, y)
    votes = np.zeros((len(y), 3))
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=3)
    for k, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        some = np.isin(y, [a, b])
        scaled = [kernel * (1 / np.mean(np.diag(kernel(X)))) for kernel in KERNELS]
        pair = MKBoostClassifier(scaled, max_iter=6, column_scaling=None, random_state=0)
        pair = _with_seed(pair, seeds[k]).fit(X[some], y[some])
        np.testing.assert_array_equal(pair.estimator_weights_, model.estimator_weights_[k])
        said = pair.predict(X)
        votes[np.arange(len(y)), said] += 1
    clear = np.sort(votes, axis=1)[:, -1] > np.sort(votes, axis=1)[:, -2]
    np.testing.assert_array_equal(votes.argmax(axis=1)[clear], model.predict(X)[clear])


def _with_seed(model, seed):
    """The model, to draw from this seed: a generator whose first integer it is."""

    class Fixed(np.random.RandomState):
        def randint(self, *_args, size=None, **_kwargs):
            return np.full(size, seed)

    return model.set_params(random_state=Fixed())


def test_a_class_without_weight_is_never_predicted():
    X, y = problem(90, n_classes=3)
    for multi_class in ("ovo", "ovr"):
        model = MKBoostClassifier(KERNELS, max_iter=4, multi_class=multi_class)
        model.fit(X, y, (y != 2).astype(float))
        assert set(model.predict(X)) == {0, 1}
        assert model.decision_function(X).shape == (90, 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stages_are_the_fits_with_fewer_rounds(n_classes):
    X, y = problem(90, n_classes=n_classes)
    stages = list(MKBoostClassifier(KERNELS, max_iter=6).fit(X, y).staged_predict(X))
    assert len(stages) == 6
    for rounds in (1, 4, 6):
        fewer = MKBoostClassifier(KERNELS, max_iter=rounds).fit(X, y)
        np.testing.assert_array_equal(stages[rounds - 1], fewer.predict(X))


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_fall_the_same_way_however_weights_are_added(n_classes, multi_class):
    """Rounds without an error weigh the same, so that sums of them are often even."""
    rng = np.random.default_rng(0)
    corners = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 5.0]])[:n_classes]
    y = np.repeat(np.arange(n_classes), 30)
    X = corners[y] + rng.normal(size=(len(y), 2))
    between = rng.normal(0.5, 1.0, size=(600, 2))
    for seed in range(3):
        model = MKBoostClassifier(
            [Linear(), Gaussian(0.1)], max_iter=20, multi_class=multi_class, random_state=seed
        ).fit(X, y)
        expected = model.predict(between)
        np.testing.assert_array_equal(list(model.staged_predict(between))[-1], expected)
        alone = [model.predict(row[None])[0] for row in between[:100]]
        np.testing.assert_array_equal(alone, expected[:100])


@pytest.mark.parametrize("variant", ["D1", "S2"])
def test_sparse_rows_and_frames_give_the_same(variant):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = problem()
    settings = {"variant": variant, "max_iter": 5, "column_scaling": "trace"}
    expected = MKBoostClassifier(KERNELS, **settings).fit(X, y).decision_function(X)
    names = ["a", "b", "c", "d"]
    for table in (
        sparse.csr_matrix(X),
        pandas.DataFrame(X, columns=names),
        polars.DataFrame(X, schema=names),
    ):
        model = MKBoostClassifier(KERNELS, **settings).fit(table, y)
        np.testing.assert_allclose(model.decision_function(table), expected, atol=1e-8)


def test_precomputed_matrices_give_the_svms_of_their_kernels():
    X, y = problem()
    side_by_side = np.hstack([kernel(X) for kernel in KERNELS])
    order = [np.flatnonzero((side_by_side == row).all(axis=1))[0]
             for row in merge_rows(side_by_side, y, np.ones(len(y))).X]  # fmt: skip
    new = np.random.default_rng(0).normal(size=(30, 4))
    F, chosen, *_ = algorithm("D1", X[order], y[order], new, 6, 0.2, 1.0, 50.0, 0)
    new_values = np.hstack([kernel(new, X) for kernel in KERNELS])
    model = MKBoostClassifier("precomputed", max_iter=6, tol=1e-9).fit(side_by_side, y)
    assert [step.kernels for step in model.trace_] == chosen
    np.testing.assert_allclose(model.decision_function(new_values), F, atol=1e-9)


BEHIND = {
    "MKBoost": MKBoostClassifier("precomputed", max_iter=5),
    "MKL": MKLClassifier("precomputed"),
    "design": KernelDesignClassifier("precomputed", max_iter=5),
    "boosted": BoostedSVMClassifier("precomputed", max_iter=5, n_folds=3),
    "composite": CompositeSVC("precomputed"),
    "mixture": KernelBoostClassifier("precomputed", C=1.0),
    "sparse": SparseKernelClassifier("precomputed", max_columns=10),
}


@pytest.mark.parametrize("estimator", BEHIND.values(), ids=BEHIND)
def test_matrices_behind_one_another_are_those_side_by_side_and_cut_by_folds(estimator):
    X, y = problem()
    parts = [kernel(X) for kernel in (Linear(), Gaussian(0.05), Gaussian(1.0))]
    behind, beside = np.dstack(parts), np.hstack(parts)
    one, other = clone(estimator).fit(behind, y), clone(estimator).fit(beside, y)
    np.testing.assert_array_equal(
        one.decision_function(behind[:9]), other.decision_function(beside[:9])
    )
    assert one.n_features_in_ == 3 * len(y)
    scores = cross_val_score(estimator, behind, y, cv=3)
    learn, test = next(StratifiedKFold(3).split(X, y))
    cut = clone(estimator).fit(np.hstack([K[np.ix_(learn, learn)] for K in parts]), y[learn])
    assert scores[0] == cut.score(np.hstack([K[np.ix_(test, learn)] for K in parts]), y[test])
    search = GridSearchCV(make_pipeline(estimator), {}, cv=3, error_score="raise")
    assert search.fit(behind, y).best_score_ == pytest.approx(scores.mean())


@pytest.mark.parametrize("estimator", BEHIND.values(), ids=BEHIND)
def test_matrices_with_their_axes_swapped_are_refused(estimator):
    X, y = problem()
    swapped = np.stack([kernel(X) for kernel in (Linear(), Gaussian(1.0))], axis=1)
    with pytest.raises(ValueError, match=r"X must have shape \(n, n, P\).*got shape"):
        clone(estimator).fit(swapped, y)


SVMS = [name for name in BEHIND if name != "mixture"]


@pytest.mark.parametrize("name", SVMS)
def test_matrices_and_functions_that_are_no_kernels_are_refused(name):
    X, y = problem()
    good, bad = Gaussian(1.0)(X), np.tanh(X @ X.T - 1.0) + np.eye(len(y))
    estimator = clone(BEHIND[name])
    message = r"^kernels must be positive semidefinite .*; got Precomputed\(part=1, .* from -.* to "
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.hstack([good, bad]), y)
    with pytest.raises(ValueError, match=r"^kernels must be symmetric; got Precomputed\(part=0"):
        estimator.fit(np.hstack([good + 0.1 * np.triu(np.ones_like(good), 1), good]), y)
    assert vars(estimator) == vars(clone(estimator))
    with pytest.raises(ValueError, match=r"^kernels must be positive semidefinite"):
        clone(estimator).set_params(kernels=lambda A, B: -A @ B.T).fit(X, y)
    rounded = np.hstack([good.astype(np.float32), (X @ X.T).astype(np.float32)])
    estimator.fit(rounded, y)


def test_a_matrix_may_lack_an_offset():
    X, y = problem()
    apart = ((X[:, None] - X) ** 2).sum(axis=2)
    model = MKLClassifier("precomputed", tol=1e-5).fit(np.hstack([9.0 - apart, X @ X.T]), y)
    assert model.dual_gap_ <= 1e-5


def test_tables_are_not_taken_for_matrices():
    X, y = problem()
    with pytest.raises(ValueError, match="dim 3"):
        MKBoostClassifier(KERNELS).fit(np.dstack([X, X]), y)


def test_groups_of_features_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    library = [Gaussian("mean", columns=["a", "b"]), Laplacian("mean", columns=["c", "d"])]
    model = MKBoostClassifier([*library, "linear"], max_iter=5).fit(frame, y)
    assert [kernel.columns for kernel in model.kernels_[:2]] == [(0, 1), (2, 3)]


def minimum(A, B):
    return np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2)


def test_callables_are_kernels():
    X, y = problem()
    X = X - X.min(axis=0)
    model = MKBoostClassifier([minimum, "rbf"], max_iter=5).fit(X, y)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("scaling", ["mean", "trace", None])
def test_the_scale_of_the_kernels(scaling):
    X, y = problem()
    kernels = [Linear(), Gaussian(1.0)]
    model = MKBoostClassifier(kernels, max_iter=1, column_scaling=scaling).fit(X, y)
    diagonals = [np.diag(kernel(X)) for kernel in model.kernels_]
    for kernel, diagonal in zip(kernels, diagonals, strict=True):
        plain = np.diag(kernel(X)).sum()
        expected = {"mean": len(y), "trace": 1.0, None: plain}[scaling]
        assert diagonal.sum() == pytest.approx(expected)


def test_weights_are_copies():
    X, y = problem()
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = MKBoostClassifier(max_iter=5).fit(X, y, weight)
    copied = MKBoostClassifier(max_iter=5).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


@pytest.mark.parametrize("estimator", [MKBoostClassifier, BoostedSVMClassifier])
def test_class_weight_shifts_weight_between_classes(estimator):
    X, y = make_classification(60, weights=[0.8], random_state=3)
    weight = np.random.default_rng(3).integers(1, 4, size=60).astype(float)
    made = {"kernels": [Gaussian(0.1), Linear()], "max_iter": 5}
    one = estimator(class_weight={1: 3.0}, **made).fit(X, y, weight)
    shifted = weight * np.where(y == 1, 3.0, 1.0)
    other = estimator(**made).fit(X, y, shifted * (weight.sum() / shifted.sum()))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-12)
    plain = estimator(**made).fit(X, y)
    for size in (1e308, 1e-320):  # only ratios count
        same = estimator(class_weight={0: size, 1: size}, **made).fit(X, y)
        np.testing.assert_array_equal(same.decision_function(X), plain.decision_function(X))
    with pytest.raises(
        ValueError, match=r"^class_weight must have keys among the classes .* of y; got 7"
    ):
        estimator(class_weight={7: 1.0}, **made).fit(X, y)


@pytest.mark.parametrize("size", [1e12, 1e20, 1e300])
def test_weights_may_be_huge(size):
    X, y = problem()
    weight = np.where(np.arange(len(y)) % 2, size, 3 * size)
    model = MKBoostClassifier([Gaussian(0.05), Gaussian(1.0)], max_iter=3).fit(X, y, weight)
    assert [step.n_rows for step in model.trace_] == [len(y)] * 3  # every row, very often
    assert np.average(model.predict(X) == y, weights=weight) > 0.9


@pytest.mark.parametrize("budget", [2**30, 1])
def test_threads_change_nothing(budget):
    X, y = problem()
    one, two = (
        MKBoostClassifier(max_iter=5, variant="S2", n_jobs=n, memory_budget=budget).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    np.testing.assert_array_equal(one.estimator_weights_, two.estimator_weights_)


def test_pickle_pipeline_and_grid_search():
    X, y = problem()
    pipe = make_pipeline(StandardScaler(), MKBoostClassifier(max_iter=5, variant="S1"))
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.7
    search = GridSearchCV(pipe, {"mkboostclassifier__sample_ratio": [0.1, 0.4]}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))


def test_max_seconds_ends_with_a_model():
    X, y = problem(120, n_classes=3)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = MKBoostClassifier(max_iter=10**6, max_seconds=1e-6).fit(X, y)
    assert all(reason.rule == "max_seconds" for reason in model.stop_reason_)
    assert [len(weights) for weights in model.estimator_weights_] == [1, 1, 1]


def interrupted_after(monkeypatch, calls):
    solve, left = boosting_fit.solve_dual, [calls]

    def counted(*args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return solve(*args, **kwargs)

    monkeypatch.setattr(boosting_fit, "solve_dual", counted)


def test_ctrl_c_keeps_the_rounds_so_far(monkeypatch):
    X, y = problem()
    interrupted_after(monkeypatch, 3 * len(KERNELS) + 1)
    model = MKBoostClassifier(KERNELS)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == 3
    assert model.score(X, y) > 0.6
    assert model.stop_reason_.rule == "interrupted"


def test_ctrl_c_before_there_is_a_model_changes_nothing(monkeypatch):
    X, y = problem(90, n_classes=3)
    interrupted_after(monkeypatch, 4 * len(KERNELS))
    model = MKBoostClassifier(KERNELS)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert vars(model) == before


BAD = [
    ({"variant": "D3"}, r"^variant must be 'D1' or 'D2' or 'S1' or 'S2'; got variant='D3'\.$"),
    ({"max_iter": 0}, r"^max_iter must be an integer of at least 1; got max_iter=0\.$"),
    ({"sample_ratio": 0.0}, r"^sample_ratio must be above 0 and at most 1; got sample_ratio=0\.0"),
    ({"kernel_decay": 2}, r"^kernel_decay must be above 0 and at most 1; got kernel_decay=2\.$"),
    ({"C": -1.0}, r"^C must be positive; got C=-1\.0\.$"),
    ({"column_scaling": "max"}, r"^column_scaling must be 'mean' or 'trace' or None; got "),
    ({"multi_class": "all"}, r"^multi_class must be 'ovo' or 'ovr'; got multi_class='all'\.$"),
    ({"kernels": ["sigmoid"]}, r"^kernels must be positive semidefinite for a support vector"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_parameters(options, message):
    X, y = problem(20)
    model = MKBoostClassifier(KERNELS, max_iter=1).fit(X, y).set_params(**options)
    before = {k: v for k, v in vars(model).items() if k.endswith("_")}
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert all(vars(model)[k] is before[k] for k in before)


def test_predictions_are_in_float64():
    model = MKBoostClassifier()
    assert model.set_predict_dtype("float64") is model
    with pytest.raises(ValueError, match=r"^dtype must be 'float64'; got dtype='float32'\.$"):
        model.set_predict_dtype("float32")


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes with a positive weight"):
        MKBoostClassifier().fit(np.eye(4), np.zeros(4))
