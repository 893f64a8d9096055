"""The peer of the quadratic program: all columns at once, solved by Clarabel, PIQP or libsvm.

It shares no line with kboost; the kernels are written out here. With `H = [K_L K_Q K_R] S^-1`, n
rows and m columns, S the scales, the problem `min 1/2 |coef|^2 + C sum slack` has two forms.

    form "primal": m + 1 + n variables               form "dual": n variables

      1/2 |coef|^2 + C sum slack                       1/2 u' Q u - sum u,   Q = (y*H)(y*H)'
    [ y*H     y    I ]  >=  1,   slack >= 0            0 <= u <= C,   y'u = 0

The dual is an SVM on the kernel matrix `H H' = K S^-2 K'`: libsvm solves that form only.
Coefficients are those of the scaled columns; from the dual they are `(y*H)' u`, and the offset is
the multiplier of its equation.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.datasets import Data, FloatArray
from benchmarks.solvers.full_lp import all_columns, mean_squared_distance

SPIKE_FLOOR = 0.3  # a scale is at least this share of the column's largest value


def scales(H: FloatArray) -> FloatArray:
    """Root mean square of each column, with the floor for spikes."""
    rms, peak = np.sqrt(np.square(H).mean(axis=0)), np.abs(H).max(axis=0)
    return np.asarray(np.maximum(rms, SPIKE_FLOOR * peak))


class Solver:
    """The full program. Timed: setup and solve. Not timed: kernels, scales, the matrix Q."""

    def __init__(
        self,
        library: str = "LQR",
        C: float = 0.01,
        package: str = "clarabel",
        form: str = "dual",
        tol: float = 1e-8,
    ) -> None:
        self.library, self.C, self.form, self.tol = library, C, form, tol
        self.package = package
        self.solve = {"clarabel": clarabel, "piqp": piqp, "libsvm": libsvm}[package]

    def prepare(self, data: Data) -> None:
        started = time.perf_counter()
        self.width = mean_squared_distance(data.X_train)
        H = all_columns(data.X_train, data.X_train, self.library, self.width)
        self.scales = scales(H)
        self.signed = H / self.scales * data.y_train[:, None]
        if self.form == "dual":
            self.Q = self.signed @ self.signed.T
        self.forming = time.perf_counter() - started

    def fit(self, data: Data) -> Model:
        n, m = self.signed.shape
        if self.form == "primal":
            x, _ = self.solve(*primal(self.signed, data.y_train, self.C), self.tol)
            coef, offset = x[:m], float(x[m])
        else:
            u, offset = self.solve(
                self.Q, -np.ones(n), data.y_train[None, :], np.zeros(1),
                np.zeros(n), np.full(n, self.C), None, None, self.tol,
            )  # fmt: skip
            coef = u @ self.signed
        return Model(self, data, coef, offset)


def primal(signed: FloatArray, y: FloatArray, C: float) -> tuple[Any, ...]:
    """P, cost, no equations, bounds, rows of at least 1."""
    n, m = signed.shape
    size = m + 1 + n
    P = sparse.diags(np.concatenate([np.ones(m), np.zeros(1 + n)])).tocsc()
    cost = np.concatenate([np.zeros(m + 1), np.full(n, C)])
    lower = np.concatenate([np.full(m + 1, -np.inf), np.zeros(n)])
    rows = sparse.csc_matrix(np.hstack([signed, y[:, None], np.eye(n)]))
    return P, cost, np.zeros((0, size)), np.zeros(0), lower, np.full(size, np.inf), rows, np.ones(n)


def clarabel(
    P: Any, cost: Any, A: Any, b: Any, lower: Any, upper: Any, rows: Any, least: Any, tol: float
) -> tuple[FloatArray, float]:
    """The solution, and the multiplier of the first equation."""
    import clarabel as package

    eye = sparse.eye(len(cost), format="csr")
    below, above = np.isfinite(lower), np.isfinite(upper)
    parts = [sparse.csr_matrix(A), -eye[below], eye[above]]
    right = [b, -lower[below], upper[above]]
    if rows is not None:
        parts, right = [*parts, -rows], [*right, -least]
    settings = package.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    stacked = sparse.vstack(parts).tocsc()
    cones = [package.ZeroConeT(len(b)), package.NonnegativeConeT(stacked.shape[0] - len(b))]
    half = sparse.triu(sparse.csc_matrix(P)).tocsc()
    found = package.DefaultSolver(
        half, cost, stacked, np.concatenate(right), cones, settings
    ).solve()
    if "Solved" not in str(found.status):
        raise RuntimeError(f"Clarabel: {found.status}")
    return np.array(found.x), float(found.z[0]) if len(b) else 0.0


def piqp(
    P: Any, cost: Any, A: Any, b: Any, lower: Any, upper: Any, rows: Any, least: Any, tol: float
) -> tuple[FloatArray, float]:
    """The same by PIQP: dense where P is."""
    import piqp as package

    solver = package.DenseSolver() if isinstance(P, np.ndarray) else package.SparseSolver()
    settings = solver.settings
    settings.verbose = False
    settings.eps_abs = settings.eps_rel = tol
    A = A if isinstance(P, np.ndarray) else sparse.csc_matrix(A)
    solver.setup(P, cost, A, b, rows, least, None, lower, upper)
    status = solver.solve()
    if status != package.PIQP_SOLVED:
        raise RuntimeError(f"PIQP: {status}")
    return np.asarray(solver.result.x), float(solver.result.y[0]) if len(b) else 0.0


def libsvm(Q: Any, _cost: Any, y: Any, *rest: Any) -> tuple[FloatArray, float]:
    """The dual form only, by scikit-learn."""
    from sklearn.svm import SVC

    y, C, tol = y[0], rest[2][0], rest[-1]
    fitted = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000).fit(Q * np.outer(y, y), y)
    u = np.zeros(len(y))
    u[fitted.support_] = np.abs(fitted.dual_coef_[0])
    return u, float(fitted.intercept_[0])


class Model:
    """Coefficients of all scaled columns."""

    def __init__(self, solver: Solver, data: Data, coef: FloatArray, offset: float) -> None:
        self.library, self.width, self.scales = solver.library, solver.width, solver.scales
        self.centers, self.coef, self.offset = data.X_train, coef, offset
        self.forming = solver.forming

    def decision(self, X: FloatArray) -> FloatArray:
        columns = all_columns(X, self.centers, self.library, self.width)
        return np.asarray(columns @ (self.coef / self.scales) + self.offset)

    def predict(self, X: FloatArray) -> FloatArray:
        return np.where(self.decision(X) >= 0, 1.0, -1.0)

    def penalty(self) -> float:
        return 0.5 * float(self.coef @ self.coef)

    def facts(self) -> dict[str, Any]:
        return {"columns": len(self.coef), "forming_seconds": self.forming}
