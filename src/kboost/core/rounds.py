"""Records of boosting rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray


@dataclass(frozen=True)
class Round:
    """One draw of rows and its outcome.

    `outcome` is "taken"; "perfect": taken without an error, with a capped weight; "reset": an error
    of 1/2 or more, not taken, and the distribution is reset; or "constant": no draw was taken, and
    the model is the majority class.
    """

    iteration: int  # rounds taken before
    outcome: str
    error: float  # under the distribution of the round
    weight: float  # 0 if not taken
    kernels: tuple[int, ...]  # of the classifiers in the round
    n_trained: int  # classifiers trained
    n_rows: int  # distinct rows drawn
    one_class: bool  # whether all rows drawn are of one class
    seconds: float  # since the start

    def __str__(self) -> str:
        words = f"round {self.iteration:3d}  {self.outcome:<8}  error {self.error:.4f}"
        return f"{words}  {self.n_trained} kernels  {self.seconds:.1f} s"


@dataclass(frozen=True)
class DesignRound:
    """One round of kernel design."""

    iteration: int  # rounds before
    loss: float  # mean loss per pair of rows, after the round
    weight: float  # of the kernel of rank one
    seconds: float  # since the start

    def __str__(self) -> str:
        return f"round {self.iteration + 1:3d}  loss {self.loss:.6g}  {self.seconds:.1f} s"


class Rounds(list[Any]):
    """The rounds of a fit; `rounds.values("error")` is one field as an array."""

    def values(self, name: str) -> FloatArray:
        """One field of every round."""
        return np.array([getattr(record, name) for record in self], dtype=np.float64)
