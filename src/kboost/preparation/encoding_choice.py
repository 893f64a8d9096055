"""Which encoding a category of many values gets: the one of the lowest error on rows left out.

Thirds of the rows are left out in turn. Encodings are fitted to the other rows, which see the means
of the target as in a fit: without their own. On a sample of them, kernel ridge regression with one
round of learned widths (metric/rounds.py) learns the target from the encoded category and all other
columns; its squared errors at rows left out judge the encoding. The usual encoding stays unless
another one has a mean error that is lower by 3 % and by the standard error of the difference,

    sqrt(sum_i w_i^2 (d_i - d)^2) / sum_i w_i,    d_i = difference at row i,  d = their mean,

or by twice as much where several others compete: the best of them looks good by chance.

Categories are judged one after another, those of the most values first, each together with the
encodings chosen so far. Rows are divided by their content, and those of one content are one row, of
their total weight and mean target: weights are repetitions, and the order does not matter.

When the time limit is reached, the categories that are not judged yet keep the usual encoding.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.exceptions import OutOfTimeError
from kboost.metric.families import FAMILIES
from kboost.metric.rounds import START, Fold, learn_rounds
from kboost.preparation.categories import fit_category, means_of
from kboost.preparation.readable import readable
from kboost.preparation.target import Target
from kboost.preparation.training_rows import TrainingRows
from kboost.solvers.threads import one_blas_thread

_MATERN = next(family for family in FAMILIES if family.name == "matern")
_PARTS = 3
_SAMPLE = 1800  # distinct rows
_TRAINING = 600  # of them to learn from, while a part is left out
_FEWEST = 60  # distinct rows below which nothing is compared
_COLUMNS = 5  # categories that are compared, at most
_GAIN = 0.03  # part of the error that another encoding must save


class Choice(NamedTuple):
    """An encoding, and the errors by which it was chosen."""

    how: str
    errors: Mapping[str, float]  # mean squared errors, as shares of the variance
    late: bool = False  # whether there was no time to compare it

    @property
    def words(self) -> str:
        """The encoding and the errors, for the user."""
        if not self.errors:
            return f"{self.how}, without time to compare it" if self.late else self.how
        others = [f"{how} {error:.3f}" for how, error in self.errors.items() if how != self.how]
        return (
            f"{self.how}: error {self.errors[self.how]:.3f} on rows left out, {', '.join(others)}"
        )


def choose_encodings(
    rows: TrainingRows,
    encodings: Sequence[Any],
    candidates: Mapping[int, Sequence[str]],
    max_levels: int,
    deadline: Deadline = NO_LIMIT,
) -> dict[int, Choice]:
    """The choice for each column that has candidates, the usual one first."""
    chosen = {j: Choice(names[0], {}) for j, names in candidates.items()}
    if not candidates or rows.target is None or len(rows.distinct) < _FEWEST:
        return chosen
    sizes = {j: len(rows.columns[j].levels) for j in candidates}
    order = sorted(candidates, key=lambda j: (-sizes[j], j))[:_COLUMNS]
    chosen |= {j: chosen[j]._replace(late=True) for j in order}  # until it is compared
    if not deadline.remaining:
        return chosen
    contents = _Contents(rows, rows.target)
    context = _context(rows, encodings, candidates, contents.number[:_SAMPLE])
    folds = [_Fold(rows, contents, context, max_levels, k) for k in range(_PARTS)]
    left_out = np.concatenate([part.left_out for part in folds])
    weight, targets = contents.weight[left_out], contents.targets[left_out]
    share = weight / weight.sum()
    variance = float(share @ ((targets - share @ targets) ** 2).sum(axis=1))
    if variance <= np.finfo(float).eps * float(share @ (targets**2).sum(axis=1)):
        return {j: choice._replace(late=False) for j, choice in chosen.items()}
    with one_blas_thread(), suppress(OutOfTimeError):  # problems are small
        errors: FloatArray | None = None
        for j in order:
            names = {i: choice.how for i, choice in chosen.items()}
            usual = candidates[j][0]
            tried = {usual: _errors(folds, names, deadline) if errors is None else errors}
            for how in candidates[j][1:]:
                tried[how] = _errors(folds, names | {j: how}, deadline)
            means = {how: float(share @ each) for how, each in tried.items()}
            best = min(means, key=lambda how: means[how])
            if not _is_lower(tried[best], tried[usual], share, min(len(tried) - 1, 2)):
                best = usual
            errors = tried[best]
            chosen[j] = Choice(best, {how: mean / variance for how, mean in means.items()})
    return chosen


def _is_lower(error: FloatArray, usual: FloatArray, share: FloatArray, times: int) -> bool:
    """Whether errors are lower on average, by this multiple of the standard error."""
    gain = usual - error
    mean = float(share @ gain)
    chance = float(np.sqrt(np.sum((share * (gain - mean)) ** 2)))
    return mean > max(times * chance, _GAIN * float(share @ usual))


def _errors(folds: Sequence[_Fold], encodings: Mapping[int, str], deadline: Deadline) -> FloatArray:
    """The squared errors at the rows left out, part by part."""
    out = []
    for part in folds:
        deadline.check()
        out.append(part.errors(encodings))
    return np.concatenate(out)


class _Contents:
    """One row per content, in the order of the hashes: its number, weight and mean targets."""

    def __init__(self, rows: TrainingRows, target: Target) -> None:
        hashes, weight = rows.hashes[rows.order], rows.weight
        _, first, self.of_row = np.unique(hashes, return_index=True, return_inverse=True)
        self.number: IntArray = rows.order[first]
        self.weight = np.bincount(self.of_row, weights=weight).astype(np.float64)
        sums = [np.bincount(self.of_row, weights=weight * y) for y in target.values.T]
        self.targets: FloatArray = np.column_stack(sums) / self.weight[:, None]


class _Fold:
    """A part of the rows left out, and a sample of the others to learn from."""

    def __init__(
        self, rows: TrainingRows, contents: _Contents, context: FloatArray, max_levels: int, k: int
    ) -> None:
        numbers = np.arange(len(context))
        self.training: IntArray = numbers[numbers % _PARTS != k][:_TRAINING]
        self.left_out: IntArray = numbers[numbers % _PARTS == k]
        chosen = np.concatenate([self.training, self.left_out])
        self._inside = replace(rows, order=rows.order[contents.of_row % _PARTS != k])
        self._contents, self._max_levels = contents, max_levels
        self._context, self._numbers = context[chosen], contents.number[chosen]
        self._blocks: dict[tuple[int, str], FloatArray] = {}
        self._starts: list[tuple[float, float]] = [START]  # of the search for width and ridge

    def errors(self, encodings: Mapping[int, str]) -> FloatArray:
        """The squared error at each row left out, summed over the targets."""
        blocks = [self._block(j, how) for j, how in sorted(encodings.items())]
        X, n = np.column_stack([self._context, *blocks]), len(self.training)
        weight, targets = self._contents.weight, self._contents.targets
        of_mean = weight[self.training] / weight[self.training].sum()
        mean = of_mean @ targets[self.training]
        fold = Fold(
            X[:n], targets[self.training] - mean, weight[self.training],
            X[n:], targets[self.left_out] - mean, weight[self.left_out], mean, self.left_out,
        )  # fmt: skip
        fits = learn_rounds(_MATERN, fold, 1, starts=self._starts)
        self._starts = [(fits[0].length, fits[0].ridge)]
        best = min(fits, key=lambda fit: fit.error)
        errors: FloatArray = ((best.left_out - fold.targets_left_out) ** 2).sum(axis=1)
        return errors

    def _block(self, j: int, how: str) -> FloatArray:
        """The columns of a category; rows to learn from do not see their own targets."""
        if (j, how) not in self._blocks:
            inside = self._inside
            encoding = fit_category(
                inside.columns[j].take(inside.order), inside.target, inside.weight, how,
                self._max_levels,
            )  # fmt: skip
            block: FloatArray = np.zeros((len(self._numbers), 0))
            if encoding is not None:  # not only rare levels
                block = encoding.encode(inside.columns[j].take(self._numbers))
            first, end = means_of(encoding)
            means = inside.crossfitted_means(j) if end > first else None
            if means is not None:
                n = len(self.training)
                block[:n, first:end] = means[self._numbers[:n]]
            self._blocks[j, how] = block
        return self._blocks[j, how]


def _context(
    rows: TrainingRows, encodings: Sequence[Any], open_ones: Container[int], numbers: IntArray
) -> FloatArray:
    """The columns without a choice, at the rows of these numbers."""
    out = [np.zeros((len(numbers), 0))]
    for j, encoding in enumerate(encodings):
        if encoding is not None and j not in open_ones:
            column = rows.columns[j].take(numbers)
            out.append(encoding.encode(readable(column, encoding)))
    return np.column_stack(out)
