"""What every machine of two sides asks of its rows and kernels before a duel begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost.data.kernel_checks import check_symmetric_psd, is_user_kernel
from kboost.data.merged_rows import MergedRows
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel


def check_two_classes(classes: Any, rows: MergedRows) -> None:
    """Refuse rows that have nobody to fight."""
    if len(np.unique(rows.codes)) < 2:
        raise ValueError(
            "y must have at least two classes with a positive weight; got one class, "
            f"{classes[rows.codes[0]]}."
        )


def machine_kernels(
    estimator: Any, rows: MergedRows, centers: Any, n_input_rows: int
) -> Sequence[Kernel]:
    """The kernels of an estimator, resolved on its rows; each must be positive semidefinite.

    `centers` are the rows as the second argument of a kernel.
    """
    names = getattr(estimator, "feature_names_in_", None)
    kernels = as_kernels(estimator.kernels, rows.X, rows.weight, names, n_input_rows)
    if not all(kernel.is_psd for kernel in kernels):
        raise ValueError(
            "kernels must be positive semidefinite for a support vector machine; "
            f"got kernels={estimator.kernels!r}."
        )
    for kernel in kernels:
        if is_user_kernel(kernel):  # the signed duals of a machine sum to 0
            check_symmetric_psd(kernel, rows.X, centers, "a support vector machine", centred=True)
    return kernels
