"""From a point inside to a basic one: the same sum of columns, no dearer, from few of them.

    A x = b,  x >= 0,  cost sum x      ->      x' >= 0,  A x' = b,  sum x' <= sum x,
                                               no more than rank(A) entries of x' above 0

(Caratheodory). A basis B of the columns is named by a factorisation with pivoting; each column a
outside it is `B v`, so moving its x by t moves those of the basis by `-t v` and the cost by
`t (1 - sum v)`. It goes the way that is not dearer until it is 0 itself, or one of the basis is:
then the two change places. That is the push phase of a crossover: as many moves as there are
columns too many, each a product of two vectors in size, and never a choice to take back.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from kboost._typing import FloatArray

_RANK = 1e-12  # of the largest pivot: columns whose own part is smaller are sums of others
_NO_MOVE = 1e-9  # of the largest entry of v: such a coefficient stays, it is no pivot


def basic(columns: FloatArray, coef: FloatArray) -> FloatArray:
    """Coefficients of the same `columns @ coef`, (k,): fewer, none larger in sum, no sign changed.

    The sum of columns is kept to rounding, so the caller may want to look at it again.
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
        fall = -v if down else v  # of the basis, a unit that this one moves
        falls = np.flatnonzero(fall > _NO_MOVE * np.abs(v).max(initial=0.0))
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
