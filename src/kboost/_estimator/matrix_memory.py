"""Refusals of support vector machines whose kernel matrices do not fit into `memory_budget`.

Multiple kernel learning keeps P matrices of n rows and needs four more: the mixture, a multiple of
a matrix that is added to it, libsvm's cache, and the free rows of the active-set method. A sum of
kernels needs its matrix, a copy, and the cache. Designed kernels have a count of their own.
"""

from __future__ import annotations

from kboost.boosting.kernel_design import design_bytes, most_rank
from kboost.data.svm_data import SVMData

_BESIDE_MIXTURES, _FOR_SUM = 4, 3


def check_mixture_memory(data: SVMData, memory_budget: int, n_jobs: int) -> None:
    """Raise if multiple kernel learning on the binary problems exceeds the budget."""
    n_kernels, n_rows = len(data.kernels), _largest(data)
    at_once = min(n_jobs, len(data.problems))
    needed = 8 * (n_kernels + _BESIDE_MIXTURES) * n_rows**2 * at_once
    check_budget(needed, memory_budget, f"{n_kernels} kernel matrices of {n_rows} rows")


def check_design_memory(data: SVMData, memory_budget: int, n_jobs: int) -> None:
    """Raise if the design of a kernel for the binary problems exceeds the budget."""
    n_rows, at_once = _largest(data), min(n_jobs, len(data.problems))
    needed = at_once * design_bytes(n_rows, most_rank(data.kernels, data.rows.X, n_rows))
    check_budget(needed, memory_budget, f"the pairs of {n_rows} rows")


def check_sum_memory(n_rows: int, memory_budget: int) -> None:
    """Raise if a support vector machine on a sum of kernels exceeds the budget."""
    needed = 8 * _FOR_SUM * n_rows**2
    check_budget(needed, memory_budget, f"the kernel matrix of {n_rows} rows")


def check_budget(needed: int, memory_budget: int, what: str) -> None:
    """Raise if the bytes needed exceed the budget."""
    if needed > memory_budget:
        raise ValueError(
            f"memory_budget must be at least {needed} bytes for {what}; "
            f"got memory_budget={memory_budget}."
        )


def _largest(data: SVMData) -> int:
    return max(len(problem.rows) for problem in data.problems)
