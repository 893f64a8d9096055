"""AdaBoost's distribution over the rows, and the weight of a weak classifier.

    D_1(i) = w_i / W
    error  = sum_i D_t(i) [h_t(x_i) != y_i]
    weight = 1/2 ln((1 - error) / error)                        negative above an error of 1/2
    D_t+1(i) = D_t(i) exp(-weight y_i h_t(x_i)) / Z_t

A classifier without an error would weigh infinitely much; errors are clipped to
[1/(4W), 1 - 1/(4W)], a quarter of a row. There is no optimum to certify.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray, IntArray

_ONE_BY_ONE = 1 << 24  # draws
SAME = 1e-12  # errors that differ by less are equal: sums in another order must not decide


class AdaBoost:
    """The distribution at work; `targets` are -1 and 1."""

    def __init__(self, targets: FloatArray, row_weight: FloatArray) -> None:
        self.targets = targets
        self._start: FloatArray = row_weight / row_weight.sum()
        self._least = min(0.25, 0.25 / float(row_weight.sum()))
        self.distribution = self._start

    def errors(self, predicted: FloatArray) -> FloatArray:
        """Of classifiers that say -1 or 1, (k, n), under the distribution, (k,)."""
        wrong: FloatArray = (predicted != self.targets) @ self.distribution
        return wrong

    def weights(self, errors: FloatArray) -> FloatArray:
        """What classifiers with these errors weigh."""
        clipped = np.clip(errors, self._least, 1 - self._least)
        weights: FloatArray = 0.5 * np.log((1 - clipped) / clipped)
        return weights

    def extend(self, predicted: FloatArray, weight: float) -> None:
        """Take a classifier in."""
        moved = self.distribution * np.exp(-weight * self.targets * predicted)
        self.distribution = moved / moved.sum()

    def reset(self) -> None:
        """Back to the rows' own weights."""
        self.distribution = self._start

    def draw(self, size: int, rng: np.random.RandomState) -> tuple[IntArray, FloatArray]:
        """Rows drawn with replacement, by inverse of the cumulative sum, and how often each.

        Where rows weigh millions, how often each is drawn is drawn at once.
        """
        if size > _ONE_BY_ONE:
            counts = rng.multinomial(size, self.distribution / self.distribution.sum())
        else:
            cumulative = np.cumsum(self.distribution)
            places = rng.random_sample(size) * cumulative[-1]
            found = np.searchsorted(cumulative, places, side="right")
            counts = np.bincount(np.minimum(found, len(cumulative) - 1), minlength=len(cumulative))
        rows = counts.nonzero()[0]
        return rows, counts[rows].astype(np.float64)


def least(errors: FloatArray) -> int:
    """The place of the lowest error; the first of equal ones."""
    return int(np.argmax(errors <= errors.min() + SAME))
