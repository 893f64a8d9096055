"""Models without some rows, against the same problem solved cold without them."""

import numpy as np
import pytest

from kboost.core.deadline import Deadline
from kboost.core.protocols import Problem, Proposal
from kboost.exceptions import OutOfTimeError
from kboost.formulations import MarginRows, hinge, nu_margin
from kboost.masters.lp import LPMaster
from kboost.masters.margin import MarginPenalty
from kboost.masters.nu_lp import NuLPMaster
from kboost.masters.qp import QPMaster
from kboost.selection.left_out import leave_out
from tests.contracts.reference import margin_lp

FOREVER = Deadline(float("inf"))
PENALTIES = [
    MarginPenalty(nonnegative, intercept)
    for nonnegative in (False, True)
    for intercept in ("free", "penalized", "none")
]


def problem(seed, n=60, k=8):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, k))
    signs = np.where(H[:, 0] + 0.5 * H[:, 1] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    return H, signs, rng.uniform(0.5, 2.0, n)


def solved(master, rows, H):
    run = master.start(Problem(None, rows))
    k = H.shape[1]
    run.extend(Proposal(np.arange(k), [None] * k, H, 0.0, None, 0))
    return run.finish()


def two_parts(n):
    return [np.arange(n) % 4 == 1, np.arange(n) % 4 == 2]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("seed", range(3))
def test_linear_program(seed, penalty):
    H, signs, w = problem(seed)
    rows = hinge(signs, w, 0.3)
    fit = solved(LPMaster(penalty.nonnegative, penalty.intercept), rows, H)
    parts = two_parts(len(H))
    options = {"norm": "l1", "penalty": penalty, "deadline": FOREVER}
    found = leave_out(H, rows, fit, parts, **options, tol=1e-10)
    assert np.isnan(found[~(parts[0] | parts[1])]).all()
    for part in parts:
        kept = ~part
        rest = MarginRows(signs[kept], np.ones(kept.sum()), rows.slack_costs[kept])
        cold = margin_lp(H[kept], rest, penalty.nonnegative, penalty.intercept)
        np.testing.assert_allclose(found[part], H[part] @ cold.coef + cold.bias, atol=1e-6)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_a_model_without_columns(intercept, norm, capfd):
    signs = np.where(np.arange(40) % 4 == 0, 1.0, -1.0)
    rows, H = hinge(signs, np.ones(40), 0.3), np.zeros((40, 0))
    master = (LPMaster if norm == "l1" else QPMaster)(False, intercept)
    fit = master.start(Problem(None, rows)).finish()
    part = np.arange(40) < 8
    options = {"norm": norm, "penalty": MarginPenalty(False, intercept), "deadline": FOREVER}
    found = leave_out(H, rows, fit, [part], **options, tol=1e-10)
    np.testing.assert_allclose(found[part], 0.0 if intercept == "none" else -1.0, atol=1e-6)
    assert capfd.readouterr() == ("", "")  # BLAS complains there


@pytest.mark.parametrize("penalty", PENALTIES)
def test_quadratic_program(penalty):
    H, signs, w = problem(3)
    rows = hinge(signs, w, 0.3)
    master = QPMaster(penalty.nonnegative, penalty.intercept)
    fit = solved(master, rows, H)
    parts = two_parts(len(H))
    found = leave_out(H, rows, fit, parts, norm="l2", penalty=penalty, deadline=FOREVER)
    for part in parts:
        kept = ~part
        cold = solved(master, hinge(signs[kept], w[kept], 0.3), H[kept])
        # a relative gap of 1e-3 is a distance of its root, at most, in the norm of the penalty
        reach = np.sqrt(2e-3 * cold.objective) * (1 + np.linalg.norm(H[part], axis=1))
        assert (np.abs(found[part] - H[part] @ cold.coef - cold.bias) <= reach).all()


@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("form", ["hinge", "nu"])
def test_rows_without_a_dual_are_not_missed(form, norm, intercept):
    H, signs, w = problem(5)
    rows = hinge(signs, w, 0.3) if form == "hinge" else nu_margin(signs, w, 0.6)
    penalty = MarginPenalty(False, intercept)
    if norm == "l2":
        master = QPMaster(False, intercept)
    elif form == "hinge":
        master = LPMaster(False, intercept)
    else:
        master = NuLPMaster(0.6, free_bias=intercept == "free")
    fit = solved(master, rows, H)
    idle = np.abs(fit.weights) < 1e-9 * np.abs(fit.weights).max()
    assert idle.sum() > 5
    options = {"norm": norm, "penalty": penalty, "deadline": FOREVER}
    found = leave_out(H, rows, fit, [idle], **options, tol=1e-10)
    np.testing.assert_allclose(found[idle], fit.decision[idle], atol=1e-5)


def test_no_time():
    H, signs, w = problem(0)
    rows = hinge(signs, w, 0.3)
    fit, over = solved(LPMaster(), rows, H), Deadline.after(0.0)
    with pytest.raises(OutOfTimeError, match="no time is left"):
        leave_out(H, rows, fit, two_parts(60), norm="l1", penalty=MarginPenalty(), deadline=over)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_a_model_of_nothing_but_a_bias(norm, intercept):
    H, signs, w = problem(2)
    nothing, rows = H[:, :0], hinge(signs, w, 0.3)
    penalty = MarginPenalty(False, intercept)
    master = (LPMaster if norm == "l1" else QPMaster)(False, intercept)
    fit = master.start(Problem(None, rows)).fit
    part = np.arange(len(H)) % 4 == 1
    options = {"norm": norm, "penalty": penalty, "deadline": FOREVER}
    found = leave_out(nothing, rows, fit, [part], **options, tol=1e-10)[part]
    rest = hinge(signs[~part], w[~part], 0.3)
    assert np.ptp(found) == 0.0

    def objective(bias):
        charge = {"free": 0.0, "penalized": abs(bias) if norm == "l1" else 0.5 * bias**2}
        return charge[intercept] + rest.slack_costs @ rest.slack(np.full(len(rest.signs), bias))

    grid = np.linspace(-2, 2, 4001)
    assert objective(found[0]) <= min(map(objective, grid)) + 1e-6
