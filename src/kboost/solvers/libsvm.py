"""The dual of a support vector machine by libsvm, on a valid kernel matrix: no checks, no copies.

    maximise  sum_i u_i - 1/2 sum_ij u_i u_j s_i s_j K_ij     with  0 <= u_i <= upper_i,  s'u = 0

for signs s of -1 and 1, both present, and positive upper bounds (cost of an error times weight). No
other file calls libsvm through scikit-learn's private module.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import _libsvm

from kboost._typing import FloatArray

MOST_STEPS = 10_000_000  # libsvm has no limit of its own
STEPS_OF_A_VOTE = 100_000  # of a machine that only votes: enough for C = 100, a start for 1e6
_SECONDS_OF_STEP, _OVERHEAD = 5e-9, 100  # of a row, and rows that the rest of a step is worth
_LEAST_CACHE, _MOST_CACHE = 50.0, 2000.0  # MiB


def solve_dual(
    K: FloatArray,
    signs: FloatArray,
    upper: FloatArray,
    tol: float = 1e-3,
    seconds: float = float("inf"),
    most_steps: int = MOST_STEPS,
) -> tuple[FloatArray, float, int]:
    """The duals (n,), the bias, and the number of steps; `K` is (n, n), float64, in C order.

    With fewer than `most_steps` steps the optimality conditions hold up to `tol`. There are at most
    as many steps as take about `seconds`.
    """
    n = len(signs)
    most = min(float(most_steps), 1.0 + seconds / (_SECONDS_OF_STEP * (n + _OVERHEAD)))
    _libsvm.set_verbosity_wrap(0)  # no output
    result = _libsvm.fit(
        K,
        (signs < 0).astype(np.float64),  # the first label is the positive one
        svm_type=0,
        kernel="precomputed",
        C=1.0,
        sample_weight=upper,
        tol=tol,
        cache_size=min(max(5e-6 * n * n, _LEAST_CACHE), _MOST_CACHE),
        max_iter=int(most),
    )
    support, coef, bias, steps = result[0], result[3], result[4], result[8]
    duals = np.zeros(n)
    duals[support] = np.abs(coef[0])
    return duals, float(bias[0]), int(steps[0])
