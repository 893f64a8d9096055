"""What happened in the rounds of a boosting method that has no objective to follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray


@dataclass(frozen=True)
class Round:
    """One draw of rows, and what came of it.

    `outcome` is "taken"; "perfect", taken without an error, its weight capped; "reset", an error of
    1/2 or more: not taken, and the distribution back at its start; or "constant": no draw was any
    good, and the heavier class is all there is.
    """

    iteration: int  # rounds taken before
    outcome: str
    error: float  # under the distribution of the round
    weight: float  # 0 where it was not taken
    kernels: tuple[int, ...]  # of the classifiers that make the round's
    n_trained: int  # kernels drawn
    n_rows: int  # distinct rows drawn
    one_class: bool  # whether these were all of one class
    seconds: float  # since the start

    def __str__(self) -> str:
        words = f"round {self.iteration:3d}  {self.outcome:<8}  error {self.error:.4f}"
        return f"{words}  {self.n_trained} kernels  {self.seconds:.1f} s"


class Rounds(list[Round]):
    """The rounds of a fit; `rounds.values("error")` is one quantity as an array."""

    def values(self, name: str) -> FloatArray:
        """One field of every round."""
        return np.array([getattr(one, name) for one in self], dtype=np.float64)
