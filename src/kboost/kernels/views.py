"""A view of the features: a choice of columns, then an optional fitted transform.

Kernels that look at the same features in the same way hold equal views, so rows are selected
and transformed once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from kboost._typing import Matrix
from kboost.kernels.transforms import Transform


@dataclass(frozen=True)
class View:
    """Columns and a transform, equal by value.

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
        """Return the rows seen through the view; the identity returns ``X`` itself."""
        if self.columns is not None:
            X = X[:, list(self.columns)]
        return X if self.transform is None else self.transform.apply(X)
