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
from dataclasses import dataclass
from importlib import import_module
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


@dataclass
class Program:
    """`min 1/2 x'Px + cost'x`, `A x = b`, `lower <= x <= upper`, `rows x >= least`."""

    P: Any
    cost: FloatArray
    A: FloatArray
    b: FloatArray
    lower: FloatArray
    upper: FloatArray
    rows: Any = None
    least: Any = None


class Solver:
    """The full program. Timed: setup and solve. Not timed: imports, kernels, matrices."""

    def __init__(
        self,
        library: str = "LQR",
        C: float = 0.01,
        package: str = "clarabel",
        form: str = "dual",
        tol: float = 1e-8,
    ) -> None:
        self.library, self.C, self.form, self.tol = library, C, form, tol
        methods: dict[str, Any] = {"clarabel": Clarabel, "piqp": PIQP, "libsvm": LibSVM}
        self.method = methods[package]

    def prepare(self, data: Data) -> None:
        started = time.perf_counter()
        self.width = mean_squared_distance(data.X_train)
        H = all_columns(data.X_train, data.X_train, self.library, self.width)
        self.scales = scales(H)
        self.signed = H / self.scales * data.y_train[:, None]
        program = (dual if self.form == "dual" else primal)(self.signed, data.y_train, self.C)
        self.forming = time.perf_counter() - started
        self.solver = self.method(program, self.tol)

    def fit(self, data: Data) -> Model:
        x, multiplier = self.solver.solve()
        m = self.signed.shape[1]
        if self.form == "primal":
            return Model(self, data, x[:m], float(x[m]))
        return Model(self, data, x @ self.signed, multiplier)


def dual(signed: FloatArray, y: FloatArray, C: float) -> Program:
    n = len(y)
    Q = signed @ signed.T
    return Program(Q, -np.ones(n), y[None, :], np.zeros(1), np.zeros(n), np.full(n, C))


def primal(signed: FloatArray, y: FloatArray, C: float) -> Program:
    n, m = signed.shape
    size = m + 1 + n
    return Program(
        P=sparse.diags(np.concatenate([np.ones(m), np.zeros(1 + n)])).tocsc(),
        cost=np.concatenate([np.zeros(m + 1), np.full(n, C)]),
        A=np.zeros((0, size)),
        b=np.zeros(0),
        lower=np.concatenate([np.full(m + 1, -np.inf), np.zeros(n)]),
        upper=np.full(size, np.inf),
        rows=sparse.csc_matrix(np.hstack([signed, y[:, None], np.eye(n)])),
        least=np.ones(n),
    )


class Clarabel:
    """`solve` gives the solution and the multiplier of the first equation, if there is one."""

    def __init__(self, program: Program, tol: float) -> None:
        self.package = import_module("clarabel")
        p, eye = program, sparse.eye(len(program.cost), format="csr")
        below, above = np.isfinite(p.lower), np.isfinite(p.upper)
        parts = [sparse.csr_matrix(p.A), -eye[below], eye[above]]
        right = [p.b, -p.lower[below], p.upper[above]]
        if p.rows is not None:
            parts, right = [*parts, -p.rows], [*right, -p.least]
        self.half, self.cost = sparse.triu(sparse.csc_matrix(p.P)).tocsc(), p.cost
        self.matrix, self.right = sparse.vstack(parts).tocsc(), np.concatenate(right)
        self.equations = len(p.b)
        self.settings = self.package.DefaultSettings()
        self.settings.verbose = False
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
            setattr(self.settings, name, tol)

    def solve(self) -> tuple[FloatArray, float]:
        package, others = self.package, len(self.right) - self.equations
        cones = [package.ZeroConeT(self.equations), package.NonnegativeConeT(others)]
        given = (self.half, self.cost, self.matrix, self.right, cones, self.settings)
        found = package.DefaultSolver(*given).solve()
        if "Solved" not in str(found.status):
            raise RuntimeError(f"Clarabel: {found.status}")
        return np.array(found.x), float(found.z[0]) if self.equations else 0.0


class PIQP:
    """Dense where P is."""

    def __init__(self, program: Program, tol: float) -> None:
        self.package, self.program = import_module("piqp"), program
        dense = isinstance(program.P, np.ndarray)
        self.A = program.A if dense else sparse.csc_matrix(program.A)
        self.solver = self.package.DenseSolver() if dense else self.package.SparseSolver()
        self.solver.settings.verbose = False
        self.solver.settings.eps_abs = self.solver.settings.eps_rel = tol

    def solve(self) -> tuple[FloatArray, float]:
        p = self.program
        self.solver.setup(p.P, p.cost, self.A, p.b, p.rows, p.least, None, p.lower, p.upper)
        status = self.solver.solve()
        if status != self.package.PIQP_SOLVED:
            raise RuntimeError(f"PIQP: {status}")
        found = self.solver.result
        return np.asarray(found.x), float(found.y[0]) if len(p.b) else 0.0


class LibSVM:
    """The dual only, by scikit-learn, on the kernel matrix without the signs."""

    def __init__(self, program: Program, tol: float) -> None:
        self.y = program.A[0]
        self.K = program.P * np.outer(self.y, self.y)
        make = import_module("sklearn.svm").SVC
        self.svc = make(C=program.upper[0], kernel="precomputed", tol=tol, cache_size=1000)

    def solve(self) -> tuple[FloatArray, float]:
        fitted = self.svc.fit(self.K, self.y)
        u = np.zeros(len(self.y))
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
