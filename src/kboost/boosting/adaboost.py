"""AdaBoost's distribution over the rows, and the weight of a weak classifier.

    D_1(i) = w_i / W
    error  = sum_i D_t(i) [h_t(x_i) != y_i]
    weight = 1/2 ln((1 - error) / error)                        negative above an error of 1/2
    D_t+1(i) = D_t(i) exp(-weight y_i h_t(x_i)) / Z_t

The weight of a classifier without an error would be infinite, so errors are clipped to
[1/(4W), 1 - 1/(4W)], a quarter of a row. There is no optimum to certify.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray, IntArray

_MAX_SINGLE_DRAWS = 1 << 24
TIE = 1e-12  # errors that differ by less are equal, whatever the order of their sums


class AdaBoost:
    """The distribution over the rows; `targets` are -1 and 1."""

    def __init__(self, targets: FloatArray, row_weight: FloatArray) -> None:
        self.targets = targets
        self._start: FloatArray = row_weight / row_weight.sum()
        self._lowest_error = min(0.25, 0.25 / float(row_weight.sum()))
        self.distribution = self._start

    def errors(self, predicted: FloatArray) -> FloatArray:
        """The errors of classifiers under the distribution, (k,), from their signs, (k, n)."""
        errors: FloatArray = (predicted != self.targets) @ self.distribution
        return errors

    def weights(self, errors: FloatArray) -> FloatArray:
        """The weights of classifiers with these errors."""
        clipped = np.clip(errors, self._lowest_error, 1 - self._lowest_error)
        weights: FloatArray = 0.5 * np.log((1 - clipped) / clipped)
        return weights

    def extend(self, predicted: FloatArray, weight: float) -> None:
        """Update the distribution after a classifier was taken."""
        moved = self.distribution * np.exp(-weight * self.targets * predicted)
        self.distribution = moved / moved.sum()

    def reset(self) -> None:
        """Return to the weights of the rows."""
        self.distribution = self._start

    def draw(self, size: int, rng: np.random.RandomState) -> tuple[IntArray, FloatArray]:
        """Draw rows with replacement; return the distinct rows and how often each was drawn.

        Very many draws are made at once, from the multinomial distribution of the counts.
        """
        if size > _MAX_SINGLE_DRAWS:
            counts = rng.multinomial(size, self.distribution / self.distribution.sum())
        else:
            cumulative = np.cumsum(self.distribution)
            points = rng.random_sample(size) * cumulative[-1]
            drawn = np.searchsorted(cumulative, points, side="right")
            counts = np.bincount(np.minimum(drawn, len(cumulative) - 1), minlength=len(cumulative))
        rows = counts.nonzero()[0]
        return rows, counts[rows].astype(np.float64)


def lowest(errors: FloatArray) -> int:
    """The index of the lowest error; the first one of a tie."""
    return int(np.argmax(errors <= errors.min() + TIE))
