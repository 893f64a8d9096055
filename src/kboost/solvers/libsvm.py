"""libsvm on a kernel matrix that is known to be good: no checks, no copies, nothing kept.

    maximise  sum_i u_i - 1/2 sum_ij u_i u_j s_i s_j K_ij     with  0 <= u_i <= caps_i,  s'u = 0

for signs s of -1 and 1, both present, and positive caps (the price of an error times the weight of
its row). This is the only file that knows how scikit-learn calls libsvm.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import _libsvm

from kboost._typing import FloatArray

MOST_STEPS = 10_000_000  # where libsvm does not converge it would go on for ever
_LEAST_CACHE, _MOST_CACHE = 50.0, 2000.0  # MiB


def solve_dual(
    K: FloatArray, signs: FloatArray, upper: FloatArray, tol: float = 1e-3
) -> tuple[FloatArray, float, int]:
    """The duals (n,), the bias, and the steps made; `K` is (n, n), float64, in C order.

    Unless it took MOST_STEPS, no margin is wrong by more than `tol` where it matters.
    """
    n = len(signs)
    _libsvm.set_verbosity_wrap(0)  # it prints its steps otherwise
    found = _libsvm.fit(
        K,
        (signs < 0).astype(np.float64),  # the first label is the positive one
        svm_type=0,
        kernel="precomputed",
        C=1.0,
        sample_weight=upper,
        tol=tol,
        cache_size=min(max(5e-6 * n * n, _LEAST_CACHE), _MOST_CACHE),
        max_iter=MOST_STEPS,
    )
    support, coef, bias, steps = found[0], found[3], found[4], found[8]
    duals = np.zeros(n)
    duals[support] = np.abs(coef[0])
    return duals, float(bias[0]), int(steps[0])
