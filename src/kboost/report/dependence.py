"""Partial dependence: the mean prediction as one column, or a pair of columns, takes each value.

    PD_j(v)      = mean_i f(x_i with column j = v)            one line per row i is an ICE curve
    PD_jk(v, w)  = mean_i f(x_i with columns j, k = v, w)

The interaction of a pair is what its dependence has beyond the sum of the two (Friedman's H):

    H_jk = root mean square of PD_jk - PD_j - PD_k + constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.plotting._axes import AMBER, BLUE, GREEN, GREY
from kboost.report.charts import chart
from kboost.report.page import figure, figure_words
from kboost.report.report_data import ReportData
from kboost.report.response import response, response_name
from kboost.report.table_rows import (
    LEVELS,
    column,
    is_missing,
    is_number,
    names_of,
    positions,
    take,
    with_column,
)

ROWS, CURVES, POINTS = 60, 25, 16  # averaged; drawn; values of a column
PAIRED, PAIR_ROWS, PAIR_POINTS = 4, 40, 5  # columns in pairs, rows and values of each
LEAST = 0.02  # interactions below this part of the spread of predictions are not shown


@dataclass(frozen=True)
class Grid:
    """Values of a column."""

    values: Any
    is_number: bool

    @property
    def at(self) -> Any:
        """Where they are on an axis."""
        return self.values if self.is_number else np.arange(len(self.values))


def grid_of(X: Any, j: int, points: int) -> Grid | None:
    """Quantiles of a column, or its most frequent values; None if there are not two."""
    all_values = column(X, j)
    values = all_values[~is_missing(all_values)]
    if is_number(values) and len(np.unique(values)) > LEVELS:
        shares = np.linspace(0.02, 0.98, points)
        grid = np.unique(np.quantile(values, shares, method="nearest"))
    else:
        grid, counts = np.unique(values.astype(str) if _is_mixed(values) else values,
                                  return_counts=True)  # fmt: skip
        if len(grid) > LEVELS and counts.max(initial=0) == 1:
            return None  # texts or ids
        grid = grid[np.sort(np.argsort(-counts, kind="stable")[: min(points, LEVELS)])]
    return Grid(grid, is_number(values)) if len(grid) > 1 else None


def _is_mixed(values: Any) -> bool:
    """Whether objects of several types are in a column, which have no order."""
    return values.dtype.kind == "O" and len({type(v) for v in values.tolist()}) > 1


def curves(s: ReportData, X: Any, j: int, grid: Grid) -> FloatArray:
    """The response of each row at each value, (n, n_values)."""
    n, m = X.shape[0], len(grid.values)
    many = take(X, np.repeat(np.arange(n), m))
    return response(s, with_column(many, j, np.tile(grid.values, n))).reshape(n, m)


def dependence_charts(s: ReportData, columns: Sequence[int]) -> list[str]:
    """One chart per column: the mean in bold, single rows behind it."""
    X = take(s.X, positions(s.X.shape[0], ROWS))
    names, charts = names_of(s), []
    for number, j in enumerate(columns):
        grid = grid_of(s.X, j, POINTS)
        if grid is not None:
            values = curves(s, X, j, grid)
            charts.append(_dependence(s, f"dependence-{number}", names[j], grid, values))
    return charts


def _dependence(s: ReportData, name: str, feature: str, grid: Grid, values: FloatArray) -> str:
    mean = values.mean(axis=0)
    low, high = int(mean.argmin()), int(mean.argmax())
    words = (
        f"The mean {response_name(s)} goes from {figure_words(mean[low])} at {feature} = "
        f"{_value(grid.values[low])} to {figure_words(mean[high])} at {_value(grid.values[high])}."
    )

    def draw(ax: Any) -> None:
        mark = "-" if grid.is_number else "o-"
        for row in values[:CURVES]:
            ax.plot(grid.at, row, color=GREY, lw=0.6, alpha=0.45)
        ax.plot(grid.at, mean, mark, color=BLUE, lw=2.4, ms=4)
        _name_axes(ax, s, feature, grid)

    svg = chart(name, f"{feature}: partial dependence", words, draw, size=(4.0, 2.9))
    return figure(svg, f"{feature}. {words}")


def interaction_chart(s: ReportData, columns: Sequence[int]) -> str:
    """The pair of columns with the strongest interaction, if there is one worth a chart."""
    X = take(s.X, positions(s.X.shape[0], PAIR_ROWS))
    grids = {j: grid for j in columns if (grid := grid_of(s.X, j, PAIR_POINTS)) is not None}
    pairs = []
    for j, k in combinations(list(grids)[:PAIRED], 2):
        surface = pair_dependence(s, X, j, k, grids[j], grids[k])
        pairs.append((interaction(surface), j, k, surface))
    spread = float(np.std(response(s, X)))
    if not pairs or (best := max(pairs, key=lambda each: each[0]))[0] <= LEAST * spread:
        return ""
    strength, j, k, surface = best
    names = names_of(s)
    words = (
        f"{names[j]} and {names[k]} have the strongest interaction of the first columns: "
        f"{strength:.3g} in {response_name(s)} (root mean square), beyond the sum of their effects."
    )
    shown = np.unique([0, len(grids[k].values) // 2, len(grids[k].values) - 1])

    def draw(ax: Any) -> None:
        mark = "-" if grids[j].is_number else "o-"
        for v, colour in zip(shown, (AMBER, GREEN, BLUE), strict=False):
            label = f"{names[k]} = {_value(grids[k].values[v])}"
            (line,) = ax.plot(grids[j].at, surface[:, v], mark, color=colour, lw=2)
            line.set_label(label)
        _name_axes(ax, s, names[j], grids[j])
        legend = ax.legend(fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)

    svg = chart("interaction", "The strongest interaction", words, draw, size=(5.2, 3.2))
    return figure(svg, f"{words} Lines that are not parallel show it.")


def pair_dependence(s: ReportData, X: Any, j: int, k: int, first: Grid, second: Grid) -> FloatArray:
    """The mean response at each pair of values, (n_first, n_second)."""
    n, a, b = X.shape[0], len(first.values), len(second.values)
    many = take(X, np.tile(np.arange(n), a * b))
    many = with_column(many, j, np.repeat(first.values, n * b))
    many = with_column(many, k, np.tile(np.repeat(second.values, n), a))
    return np.asarray(response(s, many).reshape(a, b, n).mean(axis=2))


def interaction(surface: FloatArray) -> float:
    """What a surface has beyond a sum of its two sides, as a root mean square."""
    sides = surface.mean(axis=1, keepdims=True) + surface.mean(axis=0) - surface.mean()
    return float(np.sqrt(np.mean((surface - sides) ** 2)))


def _name_axes(ax: Any, s: ReportData, feature: str, grid: Grid) -> None:
    ax.set_xlabel(feature, parse_math=False)
    ax.set_ylabel(response_name(s), parse_math=False)
    if not grid.is_number:
        labels = [_value(value)[:14] for value in grid.values]
        slanted = max(map(len, labels)) * len(labels) > 30
        ax.set_xticks(grid.at, labels, parse_math=False, rotation=30 if slanted else 0,
                      ha="right" if slanted else "center")  # fmt: skip
    elif np.asarray(grid.values).dtype.kind == "M":
        ax.tick_params(axis="x", labelrotation=30)


def _value(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    if isinstance(value, float | np.floating):
        return figure_words(float(value))
    return str(value)
