"""The preparation of a table in ONNX: one input per column, encoded as in kboost.preparation.

    number, boolean   (n, 1) of the dtype of the graph           missing: NaN
    category          (n, 1) strings                             missing: ""
    date              (n, 1) int64, microseconds since 1970      missing: NaT of datetime64

A table of numbers only is one input X, (n, columns). A month follows from the days since 1 March of
the year 0 in whole numbers: 400 years have 146097 days, and from March on, month m of a year begins
on day (153 m + 2) // 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kboost.export._graph import DOUBLE, INT, STRING, TYPES, Builder
from kboost.preparation import TablePreparation
from kboost.preparation.dates import DateEncoding
from kboost.preparation.joined_levels import JoinedEncoding
from kboost.preparation.level_means import MeanEncoding
from kboost.preparation.levels import LevelEncoding
from kboost.preparation.numbers import NumberEncoding

_DAY = 86_400_000_000  # microseconds
_NAT = np.iinfo(np.int64).min
_OUTPUTS = ("label", "decision", "probabilities", "prediction")

Inputs = dict[str, tuple[int, tuple[Any, ...]]]


def is_numeric(preparation: TablePreparation) -> bool:
    """Whether all columns that are used are numbers or booleans."""
    return all(e is None or isinstance(e, NumberEncoding) for e in preparation._encodings)


def graph_inputs(model: Any, dtype: str) -> Inputs:
    """The inputs of the graph of an estimator; raises if a column cannot be an input."""
    preparation = getattr(model, "preparation_", None)
    if preparation is None or is_numeric(preparation):
        return {"X": (TYPES[dtype], ("n", model.n_features_in_))}
    kinds = {NumberEncoding: TYPES[dtype], DateEncoding: INT}
    inputs: Inputs = {}
    for column, encoding in _used(preparation):
        if type(encoding) not in _ENCODERS:
            raise ValueError(
                "columns must be numbers, booleans, categories or dates for ONNX; "
                f"got {column.kind} in {column.name!r}."
            )
        if column.name in _OUTPUTS:
            raise ValueError(
                f"columns must not have the name of an output of the graph, {', '.join(_OUTPUTS)}; "
                f"got {column.name!r}."
            )
        inputs[column.name] = (kinds.get(type(encoding), STRING), ("n", 1))
    return inputs


def prepared(model: Any, b: Builder, X: str = "X") -> str:
    """The prepared rows of an estimator, float64; X is their name if all columns are numbers."""
    preparation = getattr(model, "preparation_", None)
    if preparation is not None and not is_numeric(preparation):
        return _joined(b, [_encoded(b, column.name, e) for column, e in _used(preparation)])
    rows = b.cast(X, DOUBLE)
    if preparation is None:
        return rows
    plain = [e is not None and e.has_value and not e.has_indicator for e in preparation._encodings]
    if all(plain):
        fill = b.double([e.fill for e in preparation._encodings])
        return b.op("Where", b.op("IsNaN", rows), fill, rows)
    blocks = []
    for j, encoding in enumerate(preparation._encodings):
        if encoding is not None:
            blocks.append(_number(b, b.op("Gather", rows, b.whole([j]), axis=1), encoding))
    return _joined(b, blocks)


def _used(preparation: TablePreparation) -> list[tuple[Any, Any]]:
    pairs = zip(preparation.columns_, preparation._encodings, strict=True)
    return [(column, encoding) for column, encoding in pairs if encoding is not None]


def _joined(b: Builder, blocks: list[str]) -> str:
    return blocks[0] if len(blocks) == 1 else b.op("Concat", *blocks, axis=1)


def _encoded(b: Builder, name: str, encoding: Any) -> str:
    column = b.cast(name, DOUBLE) if isinstance(encoding, NumberEncoding) else name
    return _ENCODERS[type(encoding)](b, column, encoding)


def _number(b: Builder, column: str, encoding: NumberEncoding) -> str:
    missing = b.op("IsNaN", column)
    out = []
    if encoding.has_value:
        out.append(b.op("Where", missing, b.double(encoding.fill), column))
    if encoding.has_indicator:
        out.append(b.cast(missing, DOUBLE))
    return _joined(b, out)


def _levels(b: Builder, column: str, encoding: LevelEncoding) -> str:
    group = np.append(encoding.group, [encoding.group_of_unseen, encoding.group_of_gap])
    table = np.eye(encoding.n_groups + 1, encoding.n_groups)[group]
    table = table[:, 1:] if encoding.n_groups == 2 else table
    return _looked_up(b, column, encoding.levels, table)


def _means(b: Builder, column: str, encoding: MeanEncoding) -> str:
    return _looked_up(b, column, encoding.levels, encoding.table)


def _joined_levels(b: Builder, column: str, encoding: JoinedEncoding) -> str:
    parts = [_levels(b, column, encoding.one_hots), _means(b, column, encoding.means)]
    return _joined(b, parts)


def _looked_up(b: Builder, column: str, levels: list[str], table: Any) -> str:
    """The rows of a table: of each level, of unseen levels, of missing values."""
    n = len(levels)
    places = {"": n + 1} | {level: i for i, level in enumerate(levels)}
    codes = b.op(
        "LabelEncoder",
        column,
        domain="ai.onnx.ml",
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=n,
    )
    return b.op("Gather", b.double(table), b.reshape(codes, -1))


def _date(b: Builder, column: str, encoding: DateEncoding) -> str:
    missing = b.op("Equal", column, b.whole(_NAT))
    dates = b.op("Where", missing, b.whole(encoding.fill), column)
    out = [_PARTS[part](b, dates) for part in encoding.parts]
    return _joined(b, out + [b.cast(missing, DOUBLE)] * encoding.has_indicator)


def _whole_days(b: Builder, dates: str) -> str:
    return _quotient(b, dates, _DAY)


def _quotient(b: Builder, value: str, divisor: int) -> str:
    """The quotient rounded down; `Div` rounds towards zero."""
    rest = b.op("Mod", value, b.whole(divisor))
    return b.op("Div", b.op("Sub", value, rest), b.whole(divisor))


def _days(b: Builder, dates: str) -> str:
    return b.op("Div", b.cast(dates, DOUBLE), b.double(_DAY))


def _weekday(b: Builder, dates: str) -> str:
    thursday = b.op("Add", _whole_days(b, dates), b.whole(3))
    return b.cast(b.op("Mod", thursday, b.whole(7)), DOUBLE)


def _hour(b: Builder, dates: str) -> str:
    return b.op("Div", b.cast(b.op("Mod", dates, b.whole(_DAY)), DOUBLE), b.double(_DAY / 24))


def _month(b: Builder, dates: str) -> str:
    since = b.op("Add", _whole_days(b, dates), b.whole(719_468))  # 1 March of the year 0
    of_era = b.op("Mod", since, b.whole(146_097))
    leap = b.op("Sub", _quotient(b, of_era, 36_524), _quotient(b, of_era, 1_460))
    leap = b.op("Sub", leap, _quotient(b, of_era, 146_096))
    year = _quotient(b, b.op("Add", of_era, leap), 365)
    begins = b.op("Sub", _quotient(b, year, 4), _quotient(b, year, 100))
    begins = b.op("Add", begins, b.op("Mul", year, b.whole(365)))
    of_year = b.op("Mul", b.op("Sub", of_era, begins), b.whole(5))
    from_march = _quotient(b, b.op("Add", of_year, b.whole(2)), 153)
    month = b.op("Mod", b.op("Add", from_march, b.whole(2)), b.whole(12))
    return b.cast(b.op("Add", month, b.whole(1)), DOUBLE)


_PARTS: dict[str, Callable[[Builder, str], str]] = {
    "days": _days,
    "month": _month,
    "weekday": _weekday,
    "hour": _hour,
}
_ENCODERS: dict[type, Callable[[Builder, str, Any], str]] = {
    NumberEncoding: _number,
    LevelEncoding: _levels,
    MeanEncoding: _means,
    JoinedEncoding: _joined_levels,
    DateEncoding: _date,
}
