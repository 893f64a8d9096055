"""Composed estimators: scikit-learn estimators, with default parts and parts of one's own."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.compose import ColumnGenerationClassifier, ColumnGenerationRegressor
from kboost.core.base_run import BaseRun
from kboost.core.protocols import Fit
from kboost.core.stopping import MaxColumns, MaxIterations
from kboost.kernels import Gaussian, Linear
from kboost.masters.qp import QPMaster
from kboost.oracles.scan import ScanOracle

LIBRARY = [Linear(), Gaussian("mean")]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([ColumnGenerationClassifier(), ColumnGenerationRegressor()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_optimum_is_that_of_the_estimator_with_the_same_parts(penalty):
    X, y = make_moons(80, noise=0.2, random_state=0)
    master = QPMaster() if penalty == "l2" else None
    model = ColumnGenerationClassifier(LIBRARY, master=master).fit(X, y)
    plain = KernelBoostClassifier(LIBRARY, penalty=penalty, C=1.0).fit(X, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-3)
    assert model.dual_gap_ <= 1e-4
    tube = ColumnGenerationRegressor(LIBRARY, master=master).fit(X, X[:, 0] * y)
    plain = KernelBoostRegressor(LIBRARY, penalty=penalty, C=1.0, epsilon=0.1)
    assert tube.objective_ == pytest.approx(plain.fit(X, X[:, 0] * y).objective_, rel=1e-3)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = ColumnGenerationClassifier(LIBRARY, stop=MaxColumns(5)).fit(X, y)
    assert len(model.stop_reason_) == 3
    assert model.dual_coef_.shape == (3, model.n_columns_)
    assert model.score(X, y) > 0.9


class MeanMaster:
    """Gives every column the coefficient 0: the model stays the mean."""

    def start(self, problem):
        return MeanRun(problem.rows)


class MeanRun(BaseRun):
    def __init__(self, rows):
        self.targets, self.weight = rows
        self.fit = self.solve(0)

    def price(self, edges):
        return np.abs(edges)

    def extend(self, proposal):
        self.fit = self.solve(len(self.fit.coef) + len(proposal.ids))

    def solve(self, k):
        mean = float(np.average(self.targets, weights=self.weight))
        residual = self.weight * (self.targets - mean)
        decision = np.full(len(self.targets), mean)
        return Fit(np.zeros(k), mean, decision, residual, float(np.sum(residual**2)))


def rows(targets, weight):
    return targets, weight


def test_a_master_of_ones_own_with_rows_of_ones_own():
    X, y = make_moons(40, noise=0.2, random_state=0)
    model = ColumnGenerationRegressor(
        LIBRARY, formulation=rows, master=MeanMaster(), stop=MaxIterations(3)
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model.fit(X, y)
    assert_allclose(model.predict(X), y.mean())
    assert model.dual_gap_ is None
    assert model.n_iter_ == 3
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.predict(X), model.predict(X))
    assert isinstance(clone(model).master, MeanMaster)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oracle": "scan"}, "oracle must be an object .* with a method start, or None; got ora"),
        ({"master": 3}, "master must be an object .* with a method start, or None; got master=3"),
        ({"master": QPMaster}, "master must be an object .not a class. with a method start"),
        ({"stop": 10}, "stop must be callable .not a class., or None; got stop=10"),
        ({"stop": MaxColumns}, "stop must be callable .not a class., or None; got stop="),
        ({"formulation": "hinge"}, "formulation must be callable, or None; got formulation="),
        ({"memory_budget": 0}, "memory_budget must be an integer of at least 1"),
    ],
)
def test_bad_parts(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ColumnGenerationClassifier(**options).fit([[0.0], [1.0]], [0, 1])


def test_a_formulation_without_its_master():
    model = ColumnGenerationRegressor(["rbf"], formulation=rows)
    with pytest.raises(AttributeError) as error:
        model.fit(*make_moons(30, random_state=0))
    assert "master is the default here, give one that fits" in error.value.__notes__[0]


@pytest.mark.parametrize("answer", ["enough", False])
def test_a_stop_rule_that_gives_no_reason(answer):
    model = ColumnGenerationClassifier(["rbf"], stop=lambda trace: answer)
    with pytest.raises(TypeError, match="stop must return a StopReason or None; got a"):
        model.fit(*make_moons(30, random_state=0))


def test_the_search_is_the_one_given():
    X, y = make_moons(60, noise=0.2, random_state=0)
    model = ColumnGenerationClassifier(LIBRARY, oracle=ScanOracle(1), stop=MaxColumns(4)).fit(X, y)
    assert_allclose(model.trace_.values("n_columns"), range(5))
