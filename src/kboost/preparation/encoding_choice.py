"""Which encoding a category of many values gets: the one of the lowest error on rows left out.

Thirds of the rows are left out in turn. Encodings are fitted to the other rows, which see the means
of the target as in a fit: without their own. On a sample of them, kernel ridge regression with one
round of learned widths (metric/rounds.py) learns the target from the encoded category and all other
columns; its squared errors at rows left out judge the encoding. The usual encoding stays unless
another one has a mean error that is lower by 1 % and by the standard error of the difference,

    sqrt(sum_i w_i^2 (d_i - d)^2) / sum_i w_i,    d_i = difference at row i,  d = their mean.

Categories are judged one after another, those of the most values first, each in the company of the
encodings chosen so far. Rows are divided by their content, and those of one content are one row, of
their total weight and mean target: weights are repetitions, and the order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.metric.families import FAMILIES
from kboost.metric.rounds import Fold, learn_rounds
from kboost.preparation.categories import fit_category, means_of
from kboost.preparation.readable import readable
from kboost.preparation.training_rows import TrainingRows
from kboost.solvers.threads import one_blas_thread

_MATERN = next(family for family in FAMILIES if family.name == "matern")
_PARTS = 3
_TRAINING, _LEFT = 600, 600  # rows of a fold, at most
_FEWEST = 60  # distinct rows below which nothing is compared
_COLUMNS = 5  # categories that are compared, at most
_GAIN = 0.01  # part of the error that another encoding must save


class Choice(NamedTuple):
    """An encoding, and the errors by which it was chosen."""

    how: str
    errors: Mapping[str, float]  # mean squared errors, as shares of the variance

    @property
    def words(self) -> str:
        """The encoding and the errors, for the user."""
        if not self.errors:
            return self.how
        others = [f"{how} {error:.3f}" for how, error in self.errors.items() if how != self.how]
        return (
            f"{self.how}: error {self.errors[self.how]:.3f} on rows left out, {', '.join(others)}"
        )


def choose_encodings(
    rows: TrainingRows,
    encodings: Sequence[Any],
    candidates: Mapping[int, Sequence[str]],
    max_levels: int,
) -> dict[int, Choice]:
    """The choice for each column that has candidates, the usual one first."""
    chosen = {j: Choice(hows[0], {}) for j, hows in candidates.items()}
    if rows.target is None or len(rows.distinct) < _FEWEST:
        return chosen
    sizes = {j: len(rows.columns[j].levels) for j in candidates}
    order = sorted(candidates, key=lambda j: (-sizes[j], j))[:_COLUMNS]
    folds = [_Part(rows, encodings, candidates, max_levels, part) for part in range(_PARTS)]
    weight = np.concatenate([fold.weights(fold.left) for fold in folds])
    targets = np.concatenate([fold.targets(fold.left) for fold in folds])
    share = weight / weight.sum()
    variance = float(share @ ((targets - share @ targets) ** 2).sum(axis=1))
    if variance <= np.finfo(float).eps * float(share @ (targets**2).sum(axis=1)):
        return chosen
    with one_blas_thread():  # folds are small
        errors: FloatArray | None = None
        for j in order:
            hows = {i: choice.how for i, choice in chosen.items()}
            usual = candidates[j][0]
            tried = {usual: _errors(folds, hows) if errors is None else errors}
            for how in candidates[j][1:]:
                tried[how] = _errors(folds, hows | {j: how})
            means = {how: float(share @ each) for how, each in tried.items()}
            best = min(means, key=lambda how: means[how])
            if not _is_lower(tried[best], tried[usual], share):
                best = usual
            errors = tried[best]
            chosen[j] = Choice(best, {how: mean / variance for how, mean in means.items()})
    return chosen


def _is_lower(error: FloatArray, usual: FloatArray, share: FloatArray) -> bool:
    """Whether errors are lower on average, by more than could be chance."""
    gain = usual - error
    mean = float(share @ gain)
    chance = float(np.sqrt(np.sum((share * (gain - mean)) ** 2)))
    return mean > max(chance, _GAIN * float(share @ usual))


def _errors(folds: Sequence[_Part], hows: Mapping[int, str]) -> FloatArray:
    """The squared error at each row left out, summed over the targets."""
    return np.concatenate([fold.errors(hows) for fold in folds])


@dataclass(frozen=True)
class _Part:
    """A part of the rows left out, and a sample of the others to learn from."""

    rows: TrainingRows
    encodings: Sequence[Any]
    candidates: Mapping[int, Sequence[str]]
    max_levels: int
    part: int

    @cached_property
    def contents(self) -> tuple[IntArray, IntArray]:
        """The first of the ordered rows of each content, and the content of each ordered row."""
        hashes = self.rows.hashes[self.rows.order]
        _, first, content = np.unique(hashes, return_index=True, return_inverse=True)
        return first, content

    @cached_property
    def inside(self) -> TrainingRows:
        """The rows that are not left out."""
        kept = self.contents[1] % _PARTS != self.part
        return replace(self.rows, order=self.rows.order[kept])

    @cached_property
    def training(self) -> IntArray:
        """Contents to learn from."""
        number = np.arange(len(self.contents[0]))
        return number[number % _PARTS != self.part][:_TRAINING]

    @cached_property
    def left(self) -> IntArray:
        """Contents to be predicted."""
        number = np.arange(len(self.contents[0]))
        return number[number % _PARTS == self.part][:_LEFT]

    def weights(self, contents: IntArray) -> FloatArray:
        """The total weight of each content."""
        sums = np.bincount(self.contents[1], weights=self.rows.weight)
        weights: FloatArray = sums[contents]
        return weights

    def targets(self, contents: IntArray) -> FloatArray:
        """The mean targets of each content."""
        assert self.rows.target is not None
        weight, content = self.rows.weight, self.contents[1]
        sums = [np.bincount(content, weights=weight * y) for y in self.rows.target.values.T]
        return np.column_stack(sums)[contents] / self.weights(contents)[:, None]

    def errors(self, hows: Mapping[int, str]) -> FloatArray:
        """The squared error at each row left out, with these encodings."""
        blocks = [self.context, *(self._block(j, how) for j, how in sorted(hows.items()))]
        n = len(self.training)
        X = np.column_stack(blocks)
        weight, targets = self.weights(self.training), self.targets(self.training)
        left = self.targets(self.left)
        mean = weight @ targets / weight.sum()
        fold = Fold(
            X[:n], targets - mean, weight, X[n:], left - mean, self.weights(self.left), mean,
            self.left,
        )  # fmt: skip
        fits = learn_rounds(_MATERN, fold, 1, **self._start)
        self._start["start"] = fits[0].length, fits[0].ridge  # of the next search
        best = min(fits, key=lambda fit: fit.error)
        errors: FloatArray = ((best.left_out + mean - left) ** 2).sum(axis=1)
        return errors

    @cached_property
    def numbers(self) -> IntArray:
        """The numbers of the rows to learn from and of those left out."""
        contents = np.concatenate([self.training, self.left])
        numbers: IntArray = self.rows.order[self.contents[0][contents]]
        return numbers

    @cached_property
    def context(self) -> FloatArray:
        """The columns without a choice."""
        out = [np.zeros((len(self.numbers), 0))]
        for j, encoding in enumerate(self.encodings):
            if encoding is not None and j not in self.candidates:
                column = self.rows.columns[j].take(self.numbers)
                out.append(encoding.encode(readable(column, encoding)))
        return np.column_stack(out)

    @cached_property
    def _start(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _blocks(self) -> dict[tuple[int, str], FloatArray]:
        return {}

    def _block(self, j: int, how: str) -> FloatArray:
        """The columns of a category; rows to learn from do not see their own targets."""
        if (j, how) not in self._blocks:
            inside, column = self.inside, self.rows.columns[j]
            encoding = fit_category(
                column.take(inside.order), inside.target, inside.weight, how, self.max_levels
            )
            n = len(self.training)
            if encoding is None:
                return np.zeros((len(self.numbers), 0))
            block = encoding.encode(column.take(self.numbers))
            first, end = means_of(encoding)
            means = inside.crossfitted_means(j) if end > first else None
            if means is not None:
                block[:n, first:end] = means[self.numbers[:n]]
            self._blocks[j, how] = block
        return self._blocks[j, how]
