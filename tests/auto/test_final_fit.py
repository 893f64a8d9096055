"""The final fit: one model from several members, and what is left of it after a limit."""

import pickle

import numpy as np
import pytest

from kboost.auto import final_fit
from kboost.auto.final_fit import CUT_SHORT, Member, first_rows, fit_in_time, fit_members
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.data.indexed_rows import indexed_rows
from kboost.exceptions import OutOfTimeError
from kboost.kernels import Gaussian, Laplacian, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 5.0
ROWS = indexed_rows(X, Y, RNG.uniform(0.5, 2.0, size=60))
MEMBERS = [
    Member(Gaussian(0.3), 0.1, 0.5),
    Member(Laplacian(0.5), 0.2, 0.3),
    Member(Linear(), 1.0, 0.2),
]


def fitted(members, **options):
    return fit_members(members, X, ROWS, labels=False, **options)


def ridge_regression(kernel, ridge):
    """Kernel ridge regression around the weighted mean, by its normal equations."""
    Z, weight = X[ROWS.order], ROWS.weight
    mean = np.average(ROWS.targets, axis=0, weights=weight)
    coef = np.linalg.solve(kernel(Z, Z) + np.diag(ridge / weight), ROWS.targets - mean)
    return kernel(X, Z) @ coef + mean


def test_a_member_is_kernel_ridge_regression():
    for member in MEMBERS[:2]:
        np.testing.assert_allclose(
            fitted([member]).model.decision(X),
            ridge_regression(member.kernel, member.ridge),
            atol=1e-4,
        )


def test_the_model_is_the_weighted_sum_of_the_members():
    alone = [fitted([member]).model.decision(X) for member in MEMBERS]
    expected = np.tensordot([m.weight for m in MEMBERS], np.array(alone), axes=1)
    result = fitted(MEMBERS)
    np.testing.assert_allclose(result.model.decision(X), expected, atol=1e-10)
    assert len(result.kernels) == 3


def test_members_share_their_centres():
    first, second, _ = fitted(MEMBERS).model.parts
    assert first.centers is second.centers
    few = [fitted(MEMBERS[:1]).model, fitted(MEMBERS[:2]).model]
    alone, both = (len(pickle.dumps(model)) for model in few)
    assert both < alone + 60 * 2 * 8 + 1000  # coefficients, and no more centres


def test_few_columns():
    result = fitted(MEMBERS[:1], max_columns=7)
    assert result.model.n_columns == 7


def test_without_time_the_first_member_is_fitted_to_few_rows(monkeypatch):
    monkeypatch.setattr(final_fit, "HURRIED", 20)
    result = fitted(MEMBERS, deadline=Deadline.after(1e-9))
    assert result.reason.rule == "max_seconds"
    assert "20 of 60 distinct rows are fitted" in result.reason.message
    few = ROWS.take(np.arange(60) < 20)
    expected = fit_members(MEMBERS[:1], X, few, labels=False).model
    np.testing.assert_array_equal(result.model.decision(X), expected.decision(X))


def test_without_time_few_columns_are_as_many_as_there_are():
    result = fitted(MEMBERS[:1], max_columns=7, deadline=Deadline.after(1e-9))
    assert result.reason.rule == "max_seconds"
    assert result.model.n_columns < 7


def test_without_time_few_columns_are_fitted_to_few_rows_in_a_hurry(monkeypatch):
    monkeypatch.setattr(final_fit, "HURRIED", 20)
    result = fitted(MEMBERS[:1], max_columns=7, deadline=Deadline.after(1e-9), hurry=True)
    assert result.reason.rule == "max_seconds"
    assert "20 of 60 distinct rows are fitted" in result.reason.message
    assert result.model.n_columns == 7


def test_without_time_and_hurry_nothing_is_fitted(monkeypatch):
    monkeypatch.setattr(final_fit, "fit", None)
    with pytest.raises(OutOfTimeError):
        fitted(MEMBERS, deadline=Deadline.after(1e-9), hurry=False)


def test_cells_of_many_rows_are_not_begun_without_the_time_of_one(monkeypatch):
    monkeypatch.setattr(final_fit, "HURRIED", 20)
    monkeypatch.setattr(final_fit, "CELL_SECONDS", 1000.0)
    result = fitted(MEMBERS, deadline=Deadline.after(100.0))
    assert result.reason.rule == "max_seconds"
    assert result.model.n_columns == 20


def test_rows_of_one_x_stay_together():
    twice = indexed_rows(np.repeat(X, 2, axis=0), np.arange(120.0)[:, None], np.ones(120))
    few = first_rows(twice, 3)
    assert len(few.order) == 6
    assert len(np.unique(few.order // 2)) == len(few.center_rows) == 3


def interrupt_at(number, monkeypatch):
    calls, fit = [], final_fit.fit

    def interrupted(*arguments):
        calls.append(None)
        if len(calls) == number:
            raise KeyboardInterrupt
        return fit(*arguments)

    monkeypatch.setattr(final_fit, "fit", interrupted)


def test_ctrl_c_keeps_the_mean_of_the_complete_members(monkeypatch):
    alone = [fitted([member]).model.decision(X) for member in MEMBERS[:2]]
    interrupt_at(3, monkeypatch)
    result = fitted(MEMBERS)
    assert result.reason.rule == "interrupted"
    expected = 0.625 * alone[0] + 0.375 * alone[1]  # 0.5 and 0.3, scaled to a sum of 1
    np.testing.assert_allclose(result.model.decision(X), expected, atol=1e-10)


def test_ctrl_c_before_a_member_is_complete_leaves_a_fit_of_few_rows(monkeypatch):
    monkeypatch.setattr(final_fit, "HURRIED", 20)
    interrupt_at(1, monkeypatch)
    result = fitted(MEMBERS)
    assert result.reason.rule == "interrupted"
    assert result.model.n_columns == 20


def test_ctrl_c_before_there_are_columns_is_raised(monkeypatch):
    interrupt_at(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        fitted(MEMBERS, max_columns=7)


def in_time(members, row_seconds, deadline):
    return fit_in_time(
        members, X, ROWS, row_seconds=row_seconds, deadline=deadline, labels=False, hurry=True
    )


@pytest.mark.parametrize(
    ("row_seconds", "kept", "words"),
    [
        (0.0, 3, "complete"),  # unknown
        (2.0, 3, "complete"),
        (5.0, 2, "max_seconds reached: 2 of 3 members are fitted; raise max_seconds."),
        (9.0, 1, "max_seconds reached: 1 of 3 members are fitted; raise max_seconds."),
    ],
)
def test_members_are_fitted_as_far_as_their_seconds_allow(row_seconds, kept, words):
    """60 rows, with 1,000 s of which 800 may be used."""
    result = in_time(MEMBERS[::-1], row_seconds, Deadline.after(1000))
    heaviest = sorted(MEMBERS, key=lambda member: -member.weight)[:kept]
    np.testing.assert_allclose(result.model.decision(X), fitted(heaviest).model.decision(X))
    if words == "complete":
        assert result.reason.rule not in CUT_SHORT
    else:
        assert result.reason.message == words


def test_one_member_learns_from_the_rows_that_there_is_time_for(monkeypatch):
    monkeypatch.setattr(final_fit, "HURRIED", 20)
    result = in_time(MEMBERS, 20.0, Deadline.after(1000))  # of 60 rows, 40 in 800 s
    n = int(result.reason.message.split()[2])
    assert 39 <= n <= 40
    words = f"max_seconds reached: {n} of 60 distinct rows are fitted; raise max_seconds."
    assert result.reason.message == words
    expected = fit_members(MEMBERS[:1], X, first_rows(ROWS, n), labels=False).model
    np.testing.assert_allclose(result.model.decision(X), expected.decision(X))
    fewest = in_time(MEMBERS, 1e6, Deadline.after(1000))
    assert "20 of 60 distinct rows" in fewest.reason.message


def test_without_a_limit_everything_is_fitted():
    result = in_time(MEMBERS, 1e9, NO_LIMIT)
    np.testing.assert_allclose(result.model.decision(X), fitted(MEMBERS).model.decision(X))
    assert result.reason.rule != "max_seconds"


@pytest.mark.parametrize(("limit", "rows"), [(1e-9, 10), (1.0, 20)])
def test_a_short_limit_leaves_fewer_rows(monkeypatch, limit, rows):
    monkeypatch.setattr(final_fit, "HURRIED", 20)
    monkeypatch.setattr(final_fit, "_AT_ONCE", 10)
    over = Deadline.after(limit)
    over.call_off()
    assert f"{rows} of 60 distinct rows" in fitted(MEMBERS, deadline=over).reason.message
