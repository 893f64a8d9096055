"""Checked input of a margin problem, and what its outputs make of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.data.merged_rows import MergedRows
from kboost.data.multiclass import predicted_codes
from kboost.formulations import MarginRows
from kboost.selection.platt import calibrated_log_loss

PRICE = "C times the largest sample weight"
HIGHEST_PRICE = 1e12
ALIKE = 1e-2  # log losses
LEVEL = 0.005  # relative fall of the loss of numbers over two values of C that ends their path
ALIKE_SQUARES = 3e-2  # mean squared errors
ALIKE_PINBALL = 1.5e-2  # mean pinball losses, which grow with the error, not with its square

Loss = Callable[[FloatArray], float]  # of decision values


@dataclass(frozen=True)
class TrainingData:
    """The training rows, and the validation rows that the user gave, if any."""

    rows: MergedRows
    held_out: MergedRows | None = None


HeldOut = Sequence[tuple[MergedRows, FloatArray]]  # of several splits, with decisions


@dataclass(frozen=True)
class MarginOutput:
    """One output of a model: its problem on some rows at some C, and its loss on held-out rows."""

    formulate: Callable[[MergedRows, float], Any]  # rows for a master; see formulations.py
    held_out_loss: Callable[[MergedRows], Loss]


@dataclass(frozen=True)
class OutputSet:
    """The outputs of a model; their error and their loss together, of decisions (n, n_outputs)."""

    outputs: Sequence[MarginOutput]
    joint_error: Callable[[MergedRows], Loss]  # share of wrong labels, or error of the numbers
    held_out_loss: Callable[[HeldOut], float]  # by which C is chosen
    targets: Callable[[MergedRows], FloatArray]  # (n, n_outputs): -1 and 1, or numbers
    alike: float = 0.0  # relative difference of such losses that does not count
    level: float | None = None  # the path over C ends where the loss falls by less than this

    def problems(self, rows: MergedRows, C: float) -> list[Any]:
        """The problem of each output on these rows."""
        return [output.formulate(rows, C) for output in self.outputs]


def one_vs_rest(
    n_classes: int, formulation: Callable[[FloatArray, FloatArray, float], Any]
) -> OutputSet:
    """One output per class; two classes share one. `formulation` takes signs, weights and C."""
    classes = [1] if n_classes == 2 else range(n_classes)

    def joint_error(rows: MergedRows) -> Loss:
        share = rows.weight / rows.weight.sum()
        return lambda decisions: float(share @ (predicted_codes(_narrow(decisions)) != rows.codes))

    def held_out_loss(splits: HeldOut) -> float:
        decisions = np.concatenate([values for _, values in splits])
        codes = np.concatenate([rows.codes for rows, _ in splits])
        weight = np.concatenate([rows.weight for rows, _ in splits])
        return calibrated_log_loss(_narrow(decisions), codes, weight)

    outputs = [_class_output(k, formulation) for k in classes]

    def signs(rows: MergedRows) -> FloatArray:
        return np.where(rows.codes[:, None] == np.array(classes), 1.0, -1.0)

    return OutputSet(outputs, joint_error, held_out_loss, signs, ALIKE)


def class_balance(rows: MergedRows) -> FloatArray:
    """The mean sign of each output of `one_vs_rest`: what a model without columns says."""
    share = np.bincount(rows.codes, weights=rows.weight) / rows.weight.sum()
    balance: FloatArray = 2.0 * (share[1:] if len(share) == 2 else share) - 1.0
    return balance


def regression(
    values: FloatArray,
    formulation: Callable[[FloatArray, FloatArray, float], Any],
    quantile: float | None = None,
) -> OutputSet:
    """One output; codes index `values`. `formulation` takes targets, weights and C.

    Errors are mean squares, or the mean pinball loss of a quantile.
    """

    def loss(residual: FloatArray) -> FloatArray:
        if quantile is None:
            return residual**2
        pinball: FloatArray = np.maximum(quantile * residual, (quantile - 1.0) * residual)
        return pinball

    def error(rows: MergedRows) -> Loss:
        targets, share = values[rows.codes], rows.weight / rows.weight.sum()
        return lambda decision: float(share @ loss(targets - np.ravel(decision)))

    def held_out_loss(splits: HeldOut) -> float:
        return float(np.mean([error(rows)(decisions) for rows, decisions in splits]))

    output = MarginOutput(lambda rows, C: formulation(values[rows.codes], rows.weight, C), error)

    def targets(rows: MergedRows) -> FloatArray:
        return values[rows.codes][:, None]

    alike = ALIKE_SQUARES if quantile is None else ALIKE_PINBALL
    return OutputSet([output], error, held_out_loss, targets, alike, LEVEL)


def quantile_of(values: FloatArray, quantile: float = 0.5) -> Callable[[MergedRows], FloatArray]:
    """A weighted quantile, by default the median, of the targets that codes index."""

    def constant(rows: MergedRows) -> FloatArray:
        targets = values[rows.codes]
        order = np.argsort(targets, kind="stable")
        mass = np.cumsum(rows.weight[order])
        return targets[order[[np.searchsorted(mass, quantile * mass[-1])]]]

    return constant


def check_prices(problems: Sequence[Any], what: str = PRICE, factor: float = 1.0) -> None:
    """Raise if slack costs, times a factor, are too high for the precision of the solvers."""
    costs = [float(rows.slack_costs.max()) for rows in problems if isinstance(rows, MarginRows)]
    check_price(factor * max(costs, default=0.0), what)


def check_price(highest: float, what: str = PRICE) -> None:
    """Raise if the highest cost of an error is too high for the precision of the solvers."""
    if not highest < HIGHEST_PRICE:
        raise ValueError(f"{what} must be below {HIGHEST_PRICE:g}; got {highest:g}.")


def _class_output(
    target: int, formulation: Callable[[FloatArray, FloatArray, float], Any]
) -> MarginOutput:
    def held_out_loss(rows: MergedRows) -> Loss:
        codes = (rows.codes == target).astype(np.intp)
        return lambda decision: calibrated_log_loss(decision, codes, rows.weight)

    def formulate(rows: MergedRows, C: float) -> Any:
        return formulation(np.where(rows.codes == target, 1.0, -1.0), rows.weight, C)

    return MarginOutput(formulate, held_out_loss)


def _narrow(decisions: FloatArray) -> FloatArray:
    """The values of a single output as (n,)."""
    return decisions[:, 0] if decisions.shape[1] == 1 else decisions
