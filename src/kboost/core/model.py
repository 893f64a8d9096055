"""The additive model `f(x) = bias + sum_j coef_j h_j(x)`, ready to predict.

Training objects stay out: a model holds hypotheses and coefficients. `compact` drops zeros and
lets each family combine its members into one part (for a linear kernel, one vector). Prediction
goes over the rows in chunks, so that its memory does not depend on their number; the chunks do not
depend on the number of threads that share them, and so neither do the values, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray
from kboost.core.protocols import Family, Fit, Hypothesis, Part

_CHUNK_ENTRIES = 1 << 21  # 16 MiB of float64 at a time, kernel values or features
_FEWEST = 256  # rows of a chunk, at least
_ZERO = 1e-14  # coefficients this far below the largest are rounding


@dataclass(frozen=True)
class AdditiveModel:
    """Parts and a bias; several outputs share the parts. Made by `assemble`."""

    parts: tuple[Part, ...]
    bias: FloatArray  # (n_outputs,)

    @classmethod
    def assemble(
        cls, hypotheses: Sequence[Hypothesis], coef: FloatArray, bias: FloatArray
    ) -> AdditiveModel:
        """Group by family in order of appearance; `coef` is (m, n_outputs), zeros are dropped."""
        size = np.abs(coef).max(axis=1, initial=0.0)
        kept = np.flatnonzero(size > _ZERO * size.max(initial=0.0))
        members: dict[Family, list[int]] = {}
        for j in kept.tolist():
            members.setdefault(hypotheses[j].family, []).append(j)
        parts = tuple(
            family.combine([hypotheses[j] for j in ids], coef[ids])
            for family, ids in members.items()
        )
        return cls(parts, np.asarray(bias, dtype=np.float64))

    @classmethod
    def stack(cls, outputs: Sequence[tuple[Sequence[Hypothesis], Fit]]) -> AdditiveModel:
        """One model of several outputs; equal hypotheses are shared."""
        number: dict[Hypothesis, int] = {}
        for hypotheses, _ in outputs:
            for hypothesis in hypotheses:
                number.setdefault(hypothesis, len(number))
        coef = np.zeros((len(number), len(outputs)))
        for k, (hypotheses, fit) in enumerate(outputs):
            coef[[number[h] for h in hypotheses], k] = fit.coef
        return cls.assemble(list(number), coef, np.array([fit.bias for _, fit in outputs]))

    @property
    def n_columns(self) -> int:
        return sum(len(part.coef) for part in self.parts)

    @property
    def coef(self) -> FloatArray:  # (n_columns, n_outputs), part after part
        empty = np.zeros((0, len(self.bias)))
        return np.concatenate([empty, *(part.coef for part in self.parts)])

    def chunks(self, n_rows: int, n_features: int) -> list[slice]:
        """Rows to predict together, few where they or the model are wide."""
        widest = max((getattr(p, "width", len(p.coef)) for p in self.parts), default=1)
        widest = max(widest, n_features)
        size = max(_FEWEST, _CHUNK_ENTRIES // max(1, widest))
        return [slice(start, start + size) for start in range(0, n_rows, size)]

    def decision(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """Values at the rows of X, (n, n_outputs), `n_jobs` chunks at a time."""
        out = np.empty((X.shape[0], len(self.bias)))
        out[:] = self.bias

        def add(rows: slice) -> None:
            chunk = X[rows]
            for part in self.parts:
                out[rows] += part(chunk)

        if X.shape[0] <= _FEWEST:
            add(slice(None))
            return out
        chunks = self.chunks(*X.shape)
        if n_jobs == 1 or len(chunks) <= 1:
            for rows in chunks:
                add(rows)
            return out
        pool = ThreadPool(min(n_jobs, len(chunks)))
        try:
            for future in [pool.submit(add, rows) for rows in chunks]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)
        return out
