"""From a nonnegative solution to a basic one: the same sum of columns, at no higher cost, of few.

    A x = b,  x >= 0,  cost sum x      ->      x' >= 0,  A x' = b,  sum x' <= sum x,
                                               at most rank(A) entries of x' above 0

(Caratheodory). A factorisation with pivoting gives a basis B of the columns; each column a outside
it is `B v`, so changing its x by t changes those of the basis by `-t v` and the cost by `t (1 - sum
v)`. It moves in the direction that does not raise the cost until it reaches 0, or one of the basis
does: then the two change places. This is the push phase of a crossover: one move per superfluous
column, each of the cost of an outer product, and none is ever taken back.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from kboost._typing import FloatArray

_RANK = 1e-12  # of the largest pivot: columns with a smaller one depend on the others
_NEGLIGIBLE = 1e-9  # of the largest entry of v: too small for a pivot


def basic_solution(columns: FloatArray, coef: FloatArray) -> FloatArray:
    """Coefficients (k,) with the same `columns @ coef`, fewer, of no larger 1-norm, same signs.

    The sum of columns is kept up to rounding; the caller should check it.
    """
    used = np.flatnonzero(coef)
    signs = np.sign(coef[used])
    factor, order = qr(columns[:, used] * signs, mode="r", pivoting=True)
    pivots = np.abs(np.diag(factor))
    rank = int(np.count_nonzero(pivots > _RANK * pivots.max(initial=0.0)))
    x, basis = np.abs(coef[used]), order[:rank].copy()
    v_of = solve_triangular(factor[:rank, :rank], factor[:rank, rank:])  # (rank, the others)
    for place, number in enumerate(order[rank:].tolist()):
        v = v_of[:, place]
        down = float(v.sum()) <= 1.0
        fall = -v if down else v  # of the basis, per unit of this move
        falls = np.flatnonzero(fall > _NEGLIGIBLE * np.abs(v).max(initial=0.0))
        reach = x[basis[falls]] / fall[falls]
        first = int(np.argmin(reach)) if len(falls) else -1
        step = float(np.min(reach, initial=x[number] if down else np.inf))
        x[basis] = np.maximum(x[basis] - step * fall, 0.0)
        if down and step == x[number]:
            x[number] = 0.0
            continue
        leaving = int(falls[first])
        x[number] += -step if down else step
        x[basis[leaving]], basis[leaving] = 0.0, number
        row = v_of[leaving, place + 1 :] / v[leaving]
        v_of[:, place + 1 :] -= np.outer(v, row)
        v_of[leaving, place + 1 :] = row
    out = np.zeros_like(coef)
    out[used] = signs * x
    return out
