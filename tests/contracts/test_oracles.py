"""The battery of kboost.testing for every oracle of a dictionary; the rest is in tests/oracles."""

from __future__ import annotations

import pytest

from kboost.columns.library import KernelLibrary
from kboost.core.protocols import Problem
from kboost.formulations import hinge
from kboost.masters.lp import LPMaster
from kboost.masters.qp import QPMaster
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle
from kboost.testing.oracles import ORACLE_CHECKS
from tests.contracts.reference import MIXED, table

ORACLES = {
    f"{name} {per_step} of {limit}": oracle(per_step, limit)
    for name, oracle in {"scan": ScanOracle, "stratified": StratifiedOracle}.items()
    for per_step, limit in ((1, None), (1, 10), (4, None), (4, 1), (4, 10), (1000, None))
}
# With another master an oracle sees other prices and another bound, and does the same with them.
SOME = [f"{name} {size}" for name in ("scan", "stratified") for size in ("1 of None", "4 of 10")]
MASTERS = {
    "lp": LPMaster(),
    "lp nonnegative": LPMaster(nonnegative=True, intercept="none"),
    "qp": QPMaster(),
}


@pytest.mark.parametrize("check", ORACLE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    ("master", "oracle"),
    [(m, o) for m in MASTERS for o in ORACLES if m == "lp" or o in SOME],
)
@pytest.mark.parametrize("scaling", [None, "floored"])
def test_battery(check, oracle, master, scaling):
    X, y, weight = table(0, 20)
    X[:2] = 0.0  # linear columns at the origin are 0 and must not be proposed
    library = KernelLibrary(MIXED, X, sample_weight=weight, scaling=scaling)
    assert (library.rms[:2] == 0).all()
    check(ORACLES[oracle], MASTERS[master], Problem(library, hinge(y, weight, 2.0)))


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES.keys())
@pytest.mark.parametrize("master", MASTERS.values(), ids=MASTERS.keys())
def test_the_price_at_error_points_is_reported(oracle, master):
    X, y, weight = table(0, 20)
    problem = Problem(KernelLibrary(MIXED, X, sample_weight=weight), hinge(y, weight, 2.0))
    search, run = oracle.start(problem), master.start(problem)
    for _ in range(8):
        proposal = search.propose(run)
        assert (proposal.error_price is None) == (run.fit.errors is None)
        run.extend(proposal)
