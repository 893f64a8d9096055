"""A view of the features: a selection of features, then an optional fitted transform.

Kernels with equal views share the selected and transformed rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from kboost._typing import Matrix
from kboost.kernels.transforms import Transform


@dataclass(frozen=True)
class View:
    """Selected features and a transform, equal by value.

    Examples
    --------
    >>> import numpy as np
    >>> View(columns=(1,)).apply(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[2.],
           [4.]])
    """

    columns: tuple[int, ...] | None = None
    transform: Transform | None = None

    def apply(self, X: Matrix) -> Matrix:
        """Return the selected, transformed features; the identity view returns ``X`` itself."""
        if self.columns is not None:
            X = X[:, list(self.columns)]
        return X if self.transform is None else self.transform.apply(X)
