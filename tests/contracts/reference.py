"""Reference solutions of the full problems by independent solvers."""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from kboost.columns.library import KernelLibrary
from kboost.formulations import MarginRows
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial

MIXED = (Linear(), Polynomial(2, gamma=0.5), Gaussian(0.3), Gaussian(2.0), Laplacian(0.7))


@dataclass(frozen=True)
class Solved:
    """An optimum and where it is taken."""

    objective: float
    coef: np.ndarray
    bias: float
    duals: np.ndarray


def margin_lp(H, rows, nonnegative=False, intercept="free"):
    """Solve the margin LP over the columns H cold: coef+, coef-, bias+, bias-, slacks >= 0."""
    n, k = H.shape
    ones = np.ones((n, 1))
    parts = [H, -H, ones, -ones]
    g = np.hstack([rows.signs[:, None] * np.hstack(parts), np.eye(n)])
    bias_cost = {"free": 0.0, "penalized": 1.0, "none": 0.0}[intercept]
    cost = np.concatenate([np.ones(2 * k), [bias_cost, bias_cost], rows.slack_costs])
    upper = np.full(len(cost), np.inf)
    if nonnegative:
        upper[k : 2 * k] = 0.0
    if intercept == "none":
        upper[2 * k : 2 * k + 2] = 0.0
    bounds = np.column_stack([np.zeros(len(cost)), upper])
    found = linprog(cost, A_ub=-g, b_ub=-rows.targets, bounds=bounds, method="highs")
    assert found.status == 0, found.message
    x = found.x
    return Solved(
        objective=float(found.fun),
        coef=x[:k] - x[k : 2 * k],
        bias=float(x[2 * k] - x[2 * k + 1]),
        duals=-found.ineqlin.marginals,
    )


def margin_objective(H, rows, coef, bias, intercept="free"):
    """The margin LP's objective, written out row by row."""
    total = sum(abs(c) for c in coef) + (abs(bias) if intercept == "penalized" else 0.0)
    for h, sign, target, cap in zip(H, rows.signs, rows.targets, rows.slack_costs, strict=True):
        total += cap * max(0.0, target - sign * (h @ coef + bias))
    return total


def naive_columns(kernels, X, centers):
    """Every unscaled column, kernel after kernel, pair by pair."""
    blocks = [
        np.hstack([kernel(X, centers[[c]]) for c in range(centers.shape[0])]) for kernel in kernels
    ]
    return np.hstack(blocks)


def table(seed, n=24, d=3):
    """Rows with a non-linear boundary, labels of both signs, weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] ** 2 - 0.7 + 0.4 * rng.normal(size=n)
    y = np.where(score > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, rng.uniform(0.3, 2.0, size=n)


def margin_problem(seed, n=24, kernels=MIXED, scaling="floored", C=1.5, noisy_targets=False):
    """A library, hinge rows on it, and all its columns."""
    X, y, weight = table(seed, n)
    targets = np.ones(n)
    if noisy_targets:
        targets = np.random.default_rng(seed + 1000).uniform(-0.5, 1.5, size=n)
    library = KernelLibrary(kernels, X, sample_weight=weight, scaling=scaling)
    return library, MarginRows(y, targets, C * weight), library.values(np.arange(library.n_columns))


def margin_qp(H, rows, nonnegative=False, intercept="free"):
    """Solve the margin QP over the columns H cold, by Clarabel: coef, bias, level, slacks."""
    G = rows.signed(H)
    r, k = G.shape
    margin_width = np.zeros(r) if rows.margin_width is None else np.full(r, rows.margin_width.sign)
    square = np.concatenate([np.ones(k), [float(intercept == "penalized"), 0.0], np.zeros(r)])
    price = 0.0 if rows.margin_width is None else rows.margin_width.cost
    cost = np.concatenate([np.zeros(k + 1), [price], rows.slack_costs])
    reach = np.hstack([G, rows.signs[:, None], margin_width[:, None], np.eye(r)])
    least = np.eye(k + 2 + r)[np.r_[np.arange(k if nonnegative else 0), k + 1 : k + 2 + r]]
    absent = np.eye(k + 2 + r)[[k] if intercept == "none" else []]
    A = sparse.csc_matrix(np.vstack([absent, -reach, -least]))
    b = np.concatenate([np.zeros(len(absent)), -rows.targets, np.zeros(len(least))])
    cones = [clarabel.ZeroConeT(len(absent)), clarabel.NonnegativeConeT(r + len(least))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P = sparse.diags(square).tocsc()
    found = clarabel.DefaultSolver(P, cost, A, b, cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved"), found.status
    x = np.array(found.x)
    duals = np.array(found.z)[len(absent) : len(absent) + r]
    return Solved(objective=float(found.obj_val), coef=x[:k], bias=float(x[k]), duals=duals)


def margin_qp_objective(H, rows, coef, bias, intercept="free", margin_width=0.0):
    """The margin QP's objective, written out row by row."""
    total = 0.5 * sum(c * c for c in coef) + (0.5 * bias**2 if intercept == "penalized" else 0.0)
    if rows.margin_width is not None:
        total += rows.margin_width.cost * margin_width
    sample = np.arange(len(H)) if rows.sample is None else rows.sample
    for s, sign, target, cap in zip(
        sample, rows.signs, rows.targets, rows.slack_costs, strict=True
    ):
        reached = sign * (H[s] @ coef + bias)
        if rows.margin_width is not None:
            reached += rows.margin_width.sign * margin_width
        total += cap * max(0.0, target - reached)
    return total


def ridge_bound(F, Q, y, offset, weight, loss, ridge, coef, bias):
    """A lower bound on `sum_i w_i loss(y_i, offset_i + b + F c) + ridge/2 c'Qc`, by duality.

    In an orthonormal basis, `|gradient|^2 / (2 ridge)` below the value of any point where the
    slopes sum to 0. The point is (bias, coef) after Newton steps by least squares: its own
    coefficients may be too large for a gradient without rounding.
    """
    values, vectors = np.linalg.eigh(Q)
    kept = values > 1e-14 * values.max()
    root, vectors = np.sqrt(values[kept]), vectors[:, kept]
    A = np.column_stack([np.ones(len(F)), F @ (vectors / root)])
    penalty = np.append(0.0, np.full(len(root), ridge))
    u = np.append(bias, root * (vectors.T @ coef))
    for _ in range(4):
        f = offset + A @ u
        curvature = np.sqrt(weight * loss.curvature(y, f))
        curved = curvature > 0
        scaled = (weight * loss.slope(y, f))[curved] / curvature[curved]
        above = np.vstack([curvature[curved, None] * A[curved], np.diag(np.sqrt(penalty))])
        u = u + np.linalg.lstsq(above, np.append(scaled, -np.sqrt(penalty) * u), rcond=None)[0]
    f = offset + A @ u
    slope = weight * loss.slope(y, f)
    assert abs(slope.sum()) <= 1e-6 * np.abs(slope).sum()
    gradient = (penalty * u - A.T @ slope)[1:]
    value = weight @ loss.value(y, f) + 0.5 * penalty @ u**2
    return value - gradient @ gradient / (2 * ridge)
