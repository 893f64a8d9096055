"""The 2-norm peers on tiny data: one objective, whoever solves it and in whichever form."""

from importlib.util import find_spec

import pytest

from benchmarks.objective import Job, answer

TINY = {"n_train": 60, "n_test": 40, "seed": 3}


def row(solver, **parameters):
    found = answer(Job(solver, "friedman", {"C": 0.05, **parameters}, TINY, C=0.05))
    assert found["status"] == "ok", found
    return found


def test_ours_and_all_peers_agree_on_the_objective():
    ours = row("kboost_l2", tol=1e-10, columns_per_step=60)
    assert ours["gap"] <= 1e-9
    assert ours["objective"] == pytest.approx(ours["objective_reported"], rel=1e-8)
    packages = ["clarabel", *(["piqp"] if find_spec("piqp") else [])]
    for package in packages:
        for form in ("primal", "dual"):
            peer = row("full_qp", package=package, form=form)
            assert peer["objective"] == pytest.approx(ours["objective"], rel=1e-6)
            assert peer["test_error"] == ours["test_error"]
    libsvm = row("full_qp", package="libsvm", tol=1e-8)
    assert libsvm["objective"] == pytest.approx(ours["objective"], rel=1e-6)


def test_the_objective_is_that_of_the_model_given():
    """Stopped early, ours is above the optimum by no more than the gap it states."""
    early = row("kboost_l2", tol=1e-2, columns_per_step=5)
    optimum = row("full_qp")["objective"]
    assert early["objective"] > optimum * (1 + 1e-4)
    assert (early["objective"] - optimum) / early["objective"] <= early["gap"]
