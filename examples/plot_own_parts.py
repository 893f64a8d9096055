"""
A master and an oracle of your own
==================================

A method of column generation is a table of parts: a formulation, a master that solves for the
coefficients, an oracle that proposes columns, and a stop rule. Here all four are new, and
:class:`kboost.compose.ColumnGenerationRegressor` runs them: ridge regression on kernel columns,
which are chosen among a random sample in each step.
"""

# %%
# The problem, for rows of weight w and the columns h_j added so far:
#
# .. math:: \min_{c, b} \; \tfrac12 \sum_i w_i (y_i - b - \sum_j c_j h_j(x_i))^2
#           + \tfrac\lambda2 \sum_j c_j^2
#
# The master keeps the columns and solves the normal equations in ``extend``. ``fit.weights`` goes
# to the oracle: here it is the weighted residual. A column of unit root mean square, entered alone,
# lowers the objective by about ``edge ** 2 / (2 (W + ridge))``: that is its price.
# :class:`~kboost.core.base_run.BaseRun` supplies the rest of the contract.

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from kboost.compose import ColumnGenerationRegressor
from kboost.core.base_run import BaseRun
from kboost.core.protocols import Fit, Proposal
from kboost.core.stopping import StopReason


@dataclass(frozen=True)
class SquaredLoss:
    """The formulation: targets and weights as they are."""

    targets: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class RidgeMaster:
    """The hyper-parameters; ``start`` makes the state of one fit."""

    ridge: float = 1.0

    def start(self, problem):
        return RidgeRun(self.ridge, problem.rows)


class RidgeRun(BaseRun):
    """Columns, normal equations, and the last fit."""

    def __init__(self, ridge, rows):
        self.ridge, self.rows = ridge, rows
        self.columns = np.zeros((len(rows.targets), 0))
        self.fit = self.solve()

    def price(self, edges):
        return edges**2 / (2 * (self.rows.weight.sum() + self.ridge))

    def extend(self, proposal):
        self.columns = np.hstack([self.columns, proposal.values])
        self.fit = self.solve()

    def solve(self):
        y, w = self.rows.targets, self.rows.weight
        design = np.column_stack([self.columns, np.ones(len(y))])
        penalty = np.append(np.full(self.columns.shape[1], self.ridge), 0.0)
        x = np.linalg.solve(design.T @ (w[:, None] * design) + np.diag(penalty), design.T @ (w * y))
        decision = design @ x
        residual = y - decision
        objective = 0.5 * w @ residual**2 + 0.5 * penalty @ x**2
        return Fit(x[:-1], float(x[-1]), decision, w * residual, float(objective))


# %%
# The oracle prices a random sample of the library and proposes the best column. It says that the
# library was not priced completely, so no stop rule takes its price for a proof of optimality.


@dataclass(frozen=True)
class RandomOracle:
    """Prices ``n_candidates`` random columns per step."""

    n_candidates: int = 60
    seed: int = 0

    def start(self, problem):
        return RandomSearch(self, problem.columns)


class RandomSearch:
    """The columns that are still available."""

    def __init__(self, oracle, library):
        self.n_candidates, self.library = oracle.n_candidates, library
        self.rng = np.random.default_rng(oracle.seed)
        self.available = library.rms > 0

    def propose(self, run):
        open_ids = np.flatnonzero(self.available)
        ids = self.rng.choice(open_ids, min(self.n_candidates, len(open_ids)), replace=False)
        prices = run.price(self.library.edges(run.fit.weights, ids))
        best = ids[[np.argmax(prices)]]
        self.available[best] = False
        return Proposal(
            best,
            self.library.hypotheses(best),
            self.library.values(best),
            price=float(prices.max()),
            bound=None,
            n_priced=len(ids),
            complete=False,
        )

    def bound(self, run):
        return None


# %%
# A stop rule is called with the trace. This one stops when ten columns have gained little.


@dataclass(frozen=True)
class LittleGain:
    share: float = 0.01
    steps: int = 10

    def __call__(self, trace):
        if len(trace) <= self.steps:
            return None
        before, now = trace[-1 - self.steps].objective, trace[-1].objective
        if before - now > self.share * before:
            return None
        return StopReason(
            "gain", f"{self.steps} columns lowered the objective by less than {self.share:.0%}."
        )


# %%
# The estimator is a scikit-learn regressor like any other.

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(200, 1))
y = np.sinc(X[:, 0]) + 0.05 * rng.normal(size=200)
model = ColumnGenerationRegressor(
    formulation=SquaredLoss,
    oracle=RandomOracle(),
    master=RidgeMaster(ridge=0.1),
    stop=LittleGain(),
).fit(X, y)
print(f"{model.n_columns_} columns after {model.n_iter_} steps, R2 {model.score(X, y):.3f}")
print(model.stop_reason_)

line = np.linspace(-3, 3, 300)[:, None]
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.plot(X[:, 0], y, ".", color="0.7")
axis.plot(line[:, 0], model.predict(line))
axis.set_title("Ridge regression on columns chosen at random")
plt.show()
