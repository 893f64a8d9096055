"""A point inside with no more columns than rows, where there is no time for the vertex.

A point inside has a coefficient for every column it holds, and an infinite library has many that
say nearly the same. The same decision at the rows costs no more with as many columns as rows or
fewer (solvers/basic_solution.py): Corollary 4 of SRE for a fit that a limit has ended. It is no
vertex of
the whole problem, but it is as good as the point it comes from.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kboost.core.protocols import Fit
from kboost.masters.margin import MarginRun
from kboost.solvers.basic_solution import basic

_SAME = 1e-8  # relative, what rounding may cost
_QUICK = 1e10  # rows squared times columns: a few seconds


def basic_fit(run: MarginRun, fit: Fit) -> Fit:
    """`fit`, or one that is no worse, of no more columns than rows, if that can be had quickly."""
    n, used = run.rows.n_samples, int(np.count_nonzero(fit.coef))
    if used <= n or n * n * used > _QUICK:
        return fit
    coef = np.zeros(run.columns.shape[1])  # columns of a step that did not end have come since
    coef[: len(fit.coef)] = basic(run.columns[:, : len(fit.coef)], fit.coef)
    found = run.make_fit(coef, fit.bias, run.duals, fit.margin_width)
    if found.objective > fit.objective + _SAME * abs(fit.objective):
        return fit
    return replace(found, coef=coef[: len(fit.coef)], weights=fit.weights, converged=fit.converged)
