"""The restricted LP: its vertex is optimal over all columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost.core.protocols import Problem
from kboost.masters import _restricted_lp
from kboost.masters.lp import LPMaster
from tests.contracts.reference import margin_lp, margin_problem


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_each_step_is_the_optimum_of_all_columns_though_idle_ones_are_dropped(
    nonnegative, intercept, monkeypatch
):
    monkeypatch.setattr(_restricted_lp, "_PATIENCE", 1)
    monkeypatch.setattr(_restricted_lp, "_SHARE", 0.0)
    library, rows, H = margin_problem(1)
    run = LPMaster(nonnegative, intercept, few_rows=0).start(Problem(library, rows))
    active = []
    for j in np.random.default_rng(0).permutation(H.shape[1]).tolist():
        run.columns = np.hstack([run.columns, H[:, [j]]])
        run._solve()
        active.append(set(run._restricted._active.tolist()))
        if len(active) % 3:
            continue
        optimum = margin_lp(run.columns, rows, nonnegative, intercept).objective
        assert_allclose(run.fit.objective, optimum, rtol=1e-7)
    steps = enumerate(pairwise(active), start=1)
    moves = [(old - new, {j for j in new - old if j < step}) for step, (old, new) in steps]
    assert any(left for left, _ in moves)
    assert any(back for _, back in moves)
