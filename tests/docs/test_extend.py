"""The pages of docs/extend, executed block by block; the parts they build work with the others."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import MaxColumns, PriceBelow
from kboost.formulations import hinge
from kboost.masters.lp import LPMaster
from kboost.masters.qp import QPMaster
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle
from kboost.testing import MasterReference, check_equivalent, check_master, check_oracle
from tests.contracts.reference import MIXED, table

PAGES = Path(__file__).resolve().parents[2] / "docs" / "extend"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run_page(name):
    """The names that the blocks of a page define, executed in order as a module."""
    module = ModuleType(f"extend_{name}")
    sys.modules[module.__name__], scope = module, vars(module)  # its classes can be pickled
    for block in FENCE.findall((PAGES / f"{name}.md").read_text(encoding="utf-8")):
        exec(compile(block, f"docs/extend/{name}.md", "exec"), scope)
    return scope


@pytest.fixture(scope="module")
def master_page():
    return run_page("master")


@pytest.fixture(scope="module")
def oracle_page():
    return run_page("oracle")


def test_the_first_page_runs():
    assert run_page("index")["model"].n_columns_ > 0


def test_every_page_is_here():
    assert {page.stem for page in PAGES.glob("*.md")} == {
        "index", "kernel", "master", "oracle", "stop_rule",
    }  # fmt: skip


def ridge_problem(page, seed, order=slice(None)):
    X, y, weight = table(seed, 16)
    library = KernelLibrary(MIXED, X[order], centers=X, sample_weight=weight[order])
    targets = y + np.random.default_rng(seed).normal(size=16)
    return Problem(library, page["RidgeRows"](targets[order], weight[order]))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ridge", [0.05, 2.0])
def test_the_master_passes_the_battery(master_page, ridge, seed):
    problem = ridge_problem(master_page, seed)
    rows, scope = problem.rows, master_page

    def optimum(H):
        A = np.column_stack([np.ones(len(H)), H])
        penalty = ridge * np.eye(A.shape[1])
        penalty[0, 0] = 0.0
        solution = np.linalg.solve(
            A.T @ (rows.sample_weight[:, None] * A) + penalty,
            A.T @ (rows.sample_weight * rows.targets),
        )
        return objective(H, solution[1:], solution[0])

    def objective(H, coef, bias):
        residual = rows.targets - H @ coef - bias
        return 0.5 * rows.sample_weight @ residual**2 + 0.5 * ridge * coef @ coef

    reference = MasterReference(objective, optimum, lambda fit: 0.5 * ridge * fit.coef**2)
    check_master(scope["RidgeMaster"](ridge), problem, reference, seed)
    order = np.random.default_rng(seed).permutation(16)
    check_equivalent(scope["RidgeMaster"](ridge), problem, ridge_problem(scope, seed, order), seed)


@pytest.mark.parametrize("oracle", [ScanOracle(4), StratifiedOracle(4)])
def test_the_master_works_in_column_generation(master_page, oracle):
    assert master_page["result"].gap <= 1e-2
    assert master_page["values"].shape == (20, 1)
    problem = ridge_problem(master_page, 0)
    result = grow(problem, oracle, master_page["RidgeMaster"](0.1), PriceBelow(1e-9))
    assert result.reason.rule == "tol"
    assert result.gap < 1e-6
    prediction = result.model.decision(problem.columns.centers)[:, 0]
    np.testing.assert_allclose(prediction, result.fit.decision, atol=1e-9)


@pytest.mark.parametrize("master", [LPMaster(), QPMaster()])
@pytest.mark.parametrize("n_sampled", [5, 10**6])
def test_the_oracle_passes_the_battery(oracle_page, master, n_sampled):
    X, y, weight = table(1, 20)
    problem = Problem(KernelLibrary(MIXED, X, sample_weight=weight), hinge(y, weight, 2.0))
    check_oracle(oracle_page["SamplingOracle"](n_sampled, 3), master, problem)


def test_the_oracle_works_in_column_generation(oracle_page):
    problem, stop = oracle_page["hinge_problem"], PriceBelow(1e-6)
    scanned = grow(problem, ScanOracle(), LPMaster(), stop)
    assert oracle_page["result"].reason.rule == "tol"
    assert oracle_page["result"].fit.objective == pytest.approx(scanned.fit.objective, rel=1e-6)


def test_master_and_oracle_of_the_pages_work_together(master_page, oracle_page):
    problem = ridge_problem(master_page, 0)
    oracle, master = oracle_page["SamplingOracle"](20, 4), master_page["RidgeMaster"](0.1)
    result = grow(problem, oracle, master, MaxColumns(30))
    assert len(result.fit.coef) >= 30
    assert result.gap is not None


def test_the_stop_rule_ends_a_fit():
    scope = run_page("stop_rule")
    assert scope["result"].reason.rule == "objective"
    assert len(scope["result"].trace) > 3


def test_the_kernel_page_runs():
    assert run_page("kernel")["RationalQuadratic"]().is_psd
