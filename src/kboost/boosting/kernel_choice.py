"""The choice of one kernel by the cross-validated error of its support vector machine."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.boosting.fit import BoostingPlan, affordable, rows_in_memory
from kboost.boosting.svm_learners import SVMLearners
from kboost.columns.gram import Gram, signs
from kboost.core.deadline import Deadline
from kboost.data.merged_rows import MergedRows, majority_code
from kboost.data.multiclass import class_scores, predicted_codes
from kboost.data.svm_data import SVMData
from kboost.exceptions import OutOfTimeError
from kboost.solvers.libsvm import STEPS_OF_A_VOTE, solve_dual


def cross_validated_errors(
    plan: BoostingPlan, data: SVMData, folds: IntArray, deadline: Deadline
) -> FloatArray:
    """The error of each kernel over the folds that fit into the time; NaN if none does."""
    rows, problems, n_kernels = data.rows, data.problems, len(data.kernels)
    n_jobs = min(plan.n_jobs, n_kernels)
    wrong, total = np.zeros(n_kernels), 0.0
    largest = max(int(np.sum(folds != fold)) for fold in range(int(folds.max()) + 1))
    fit_in_memory = rows_in_memory(plan, data, largest, deadline)
    with (
        ThreadPool(n_jobs) if n_jobs > 1 else nullcontext() as pool,
        suppress(OutOfTimeError),
    ):
        if fit_in_memory < largest:
            deadline.call_off()
            deadline.check()
        gram = Gram(
            data.kernels, rows.X, data.centers, plan.memory_budget, deadline.check, largest, n_jobs
        )
        if affordable(gram, deadline) < len(rows.weight):
            deadline.call_off()
        for fold in range(int(folds.max()) + 1):
            deadline.check()
            held_out = folds == fold
            values = _held_out_values(plan, gram, data, held_out, pool, n_jobs, deadline)
            predicted = [predicted_codes(class_scores(v, problems, data.n_classes)) for v in values]
            weight = rows.weight[held_out]
            wrong += (np.array(predicted) != rows.codes[held_out]) @ weight
            total += float(weight.sum())
    errors: FloatArray = wrong / total if total else np.full(n_kernels, np.nan)
    return errors


def _held_out_values(
    plan: BoostingPlan,
    gram: Gram,
    data: SVMData,
    held_out: BoolArray,
    pool: ThreadPool | None,
    n_jobs: int,
    deadline: Deadline,
) -> FloatArray:
    """The signs of the SVMs at the held-out rows, (n_kernels, n_held_out, n_problems)."""
    at = np.flatnonzero(held_out)
    values = np.zeros((len(gram.kernels), len(at), len(data.problems)))

    def solve(K: FloatArray, signs: FloatArray, upper: FloatArray) -> Any:
        deadline.check()
        return solve_dual(K, signs, upper, plan.tol, deadline.remaining, STEPS_OF_A_VOTE)

    for k, problem in enumerate(data.problems):
        training = problem.rows[~held_out[problem.rows]]
        if not len(training):
            continue
        targets = np.zeros(len(held_out))
        targets[problem.rows] = problem.signs
        learners = SVMLearners(gram, targets, plan.C, solve)
        weight, every_kernel = data.rows.weight[training], range(len(gram.kernels))
        for svm in learners.train(every_kernel, training, weight, pool, n_jobs):
            values[svm.kernel, :, k] = signs(gram.decisions([svm], at))[0]
    return values


def stratified_folds(rows: MergedRows, count: int, rng: np.random.RandomState) -> IntArray:
    """The fold of each row, stratified by class; rows with the same x share a fold."""
    codes = majority_code(rows)
    order = np.concatenate(
        [rng.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes)]
    )
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % min(count, len(order))
    return fold[rows.center_of_row]
