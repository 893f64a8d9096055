"""A fit with no more columns than rows, where there is no time for simplex.

An interior solution has a coefficient for every column, and an infinite library has many columns
that are nearly equal. The same decision values at the same or a lower cost are possible with at
most as many columns as rows (solvers/basic_solution.py): Corollary 4 of SRE for a fit ended by a
limit. The result is not a vertex of the whole problem, but as good as the fit it comes from.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kboost.core.protocols import Fit
from kboost.masters.margin import MarginRun
from kboost.solvers.basic_solution import basic_solution

_ROUNDING = 1e-8  # relative rise of the objective that counts as rounding
_MAX_WORK = 1e10  # rows squared times columns: a few seconds


def basic_fit(run: MarginRun, fit: Fit) -> Fit:
    """`fit`, or one no worse with at most as many columns as rows, if that is quick."""
    n, used = run.rows.n_samples, int(np.count_nonzero(fit.coef))
    if used <= n or n * n * used > _MAX_WORK:
        return fit
    coef = np.zeros(run.columns.shape[1])  # an unfinished step may have added columns
    coef[: len(fit.coef)] = basic_solution(run.columns[:, : len(fit.coef)], fit.coef)
    basic = run.make_fit(coef, fit.bias, run.duals, fit.margin_width)
    if basic.objective > fit.objective + _ROUNDING * abs(fit.objective):
        return fit
    return replace(basic, coef=coef[: len(fit.coef)], weights=fit.weights, converged=fit.converged)
