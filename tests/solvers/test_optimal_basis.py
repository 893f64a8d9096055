"""The basic solution that an interior one points to: the vertex, also of a tube without width."""

import numpy as np
import pytest
from scipy.optimize import linprog

from kboost.formulations import MarginRows, hinge, nu_tube, tube
from kboost.solvers.interior_point import begin, solve_interior
from kboost.solvers.margin_lp import MarginData
from kboost.solvers.optimal_basis import basic_solutions_near
from kboost.solvers.predictor_corrector import scaled_lp

N, K = 40, 12


def problem(kind: str) -> tuple[np.ndarray, MarginRows]:
    """Columns and rows; "no width" has so many columns that the tube around f has none."""
    rng = np.random.default_rng(3)
    H = rng.normal(size=(N, 3 * N if kind == "no width" else K))
    weight = rng.uniform(0.5, 2.0, size=N)
    if kind == "hinge":
        return H, hinge(np.sign(H[:, 0] + rng.normal(size=N)), weight, 0.5)
    y = H[:, :3].sum(axis=1) + rng.normal(size=N)
    return H, tube(y, weight, 1.0, 0.3) if kind == "tube" else nu_tube(y, weight, 1.0, 0.5)


def optimum(G: np.ndarray, rows: MarginRows, cost: np.ndarray, two_sided: np.ndarray) -> float:
    """The optimum by HiGHS: x+, x-, b+, b-, slacks >= 0."""
    sides = np.hstack([G, -G[:, two_sided], rows.signs[:, None] * [1.0, -1.0], np.eye(len(G))])
    costs = np.concatenate([cost, cost[two_sided], [0.0, 0.0], rows.slack_costs])
    return float(linprog(costs, A_ub=-sides, b_ub=-rows.targets, method="highs").fun)


@pytest.mark.parametrize("kind", ["hinge", "tube", "nu tube", "no width"])
def test_the_vertex_of_an_independent_solver(kind):
    H, rows = problem(kind)
    G, cost, two_sided = rows.signed(H), np.ones(H.shape[1]), np.ones(H.shape[1], dtype=bool)
    if rows.margin_width is not None:
        G = np.column_stack([G, np.ones(len(G))])
        cost, two_sided = np.append(cost, rows.margin_width.cost), np.append(two_sided, False)
    data = MarginData(rows.signs, rows.targets, rows.slack_costs, False, "free")
    lp, _ = scaled_lp(np.asfortranarray(G), data, cost, two_sided, free_bias=True)
    start = begin(lp, np.zeros(len(cost)), 0.0, rows.slack_costs / 2)
    best = solve_interior(lp, start, tol=1e-9).best
    found = next(basic_solutions_near(lp, best.x, best.bias, best.duals))
    expected = pytest.approx(optimum(G, rows, cost, two_sided), rel=1e-10)
    assert lp.objective(found.x, found.bias) == expected
    assert rows.targets @ found.duals == expected
    assert (lp.spread(lp.edges(found.duals)) / lp.costs).max() <= 1 + 1e-12
    assert (found.duals >= -1e-12).all()
    assert (found.duals <= rows.slack_costs + 1e-12).all()
    assert np.count_nonzero(found.x) <= N
