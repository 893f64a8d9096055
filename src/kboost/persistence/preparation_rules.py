"""Rules for a saved preparation: its encodings are consistent, and fill the output."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kboost._rules import BOOLEAN, INTEGER, Rule, one_of
from kboost.persistence.rules import INDICES, NUMBER, TABLE, TEXT, VECTOR
from kboost.preparation.date_texts import FORMATS
from kboost.preparation.dates import PARTS, DateEncoding
from kboost.preparation.joined_levels import JoinedEncoding
from kboost.preparation.level_means import MeanEncoding
from kboost.preparation.levels import LevelEncoding
from kboost.preparation.numbers import NumberEncoding
from kboost.preparation.prepared_column import PreparedColumn
from kboost.preparation.text import TextEncoding

_ENCODINGS = (
    *(NumberEncoding, LevelEncoding, MeanEncoding, JoinedEncoding, DateEncoding, TextEncoding),
)
_ONE_HOTS = Rule("one-hots of levels", lambda v: isinstance(v, LevelEncoding))
_MEANS = Rule("means of levels", lambda v: isinstance(v, MeanEncoding))
_PLACE = Rule("a slice of indices", lambda v: isinstance(v, slice) and _is_place(v))
TEXTS = Rule(
    "a list of text", lambda v: isinstance(v, list) and all(isinstance(item, str) for item in v)
)

FIELDS = {
    "prepared_column.PreparedColumn": {
        "name": TEXT,
        "kind": TEXT,
        "n_missing": INTEGER,
        "note": TEXT,
        "output": _PLACE,
        "encoding": TEXT,
    },
    "numbers.NumberEncoding": {
        "kind": one_of("number", "boolean"),
        "fill": NUMBER,
        "has_value": BOOLEAN,
        "has_indicator": BOOLEAN,
        "zero_one": BOOLEAN,
    },
    "levels.LevelEncoding": {
        "levels": TEXTS,
        "group": INDICES,
        "n_groups": INTEGER,
        "group_of_gap": INTEGER,
        "group_of_unseen": INTEGER,
        "labels": TEXTS,
    },
    "level_means.MeanEncoding": {
        "levels": TEXTS,
        "labels": TEXTS,
        "means": TABLE,
        "log_count": VECTOR,
        "counted": BOOLEAN,
    },
    "joined_levels.JoinedEncoding": {"one_hots": _ONE_HOTS, "means": _MEANS},
    "dates.DateEncoding": {
        "parts": TEXTS,
        "fill": INTEGER,
        "has_indicator": BOOLEAN,
        "written": one_of("", *FORMATS),
    },
    "text.TextEncoding": {
        "vocabulary": TEXTS,
        "idf": VECTOR,
        "directions": TABLE,
        "has_indicator": BOOLEAN,
    },
}


def part_fits(instance: Any) -> bool:
    """The sizes of an encoding agree, and its indices are valid."""
    if isinstance(instance, LevelEncoding):
        groups = np.append(instance.group, [instance.group_of_gap, instance.group_of_unseen])
        fits = (
            len(instance.group) == len(instance.levels)
            and instance.n_groups == len(instance.labels) >= 2
        )
        return bool(fits and (groups >= -1).all() and (groups < instance.n_groups).all())
    if isinstance(instance, MeanEncoding):
        shape = (len(instance.levels) + 2, len(instance.labels))
        fits = instance.means.shape == shape and instance.log_count.shape == shape[:1]
        return bool(fits and instance.one_hot)
    if isinstance(instance, DateEncoding):
        return set(instance.parts) <= set(PARTS) and abs(instance.fill) < 1 << 62
    if isinstance(instance, TextEncoding):
        n = len(instance.vocabulary)
        words = all(len(word) == 3 for word in instance.vocabulary)
        return (
            words
            and instance.vocabulary == sorted(instance.vocabulary)
            and n == len(instance.idf) == len(instance.directions)
        )
    return True


def preparation_fits(instance: Any) -> bool:
    """There is one encoding per column, or None, and they fill the output in order."""
    attributes = vars(instance)
    columns, encodings = attributes.get("columns_"), attributes.get("_encodings")
    if columns is None and encodings is None:
        return True
    if not (isinstance(columns, list) and isinstance(encodings, list)):
        return False
    names, flags = attributes.get("feature_names_in_"), attributes.get("one_hot_")
    if not (
        len(columns) == len(encodings) == attributes.get("n_features_in_")
        and all(isinstance(column, PreparedColumn) for column in columns)
        and all(e is None or isinstance(e, _ENCODINGS) for e in encodings)
        and (names is None or _are_names(names, len(columns)))
        and isinstance(flags, np.ndarray)
        and BOOLEAN.holds(attributes.get("_is_matrix"))
    ):
        return False
    if instance._is_matrix and not all(
        isinstance(e, NumberEncoding) and e.has_value for e in encodings
    ):
        return False
    sizes = [0 if e is None else len(e.one_hot) for e in encodings]
    outputs = [column.output for column in columns]
    return bool(
        [p.stop - p.start for p in outputs] == sizes
        and outputs[0].start == 0
        and all(left.stop == right.start for left, right in pairwise(outputs))
        and flags.shape == (outputs[-1].stop,)
    )


def _are_names(names: Any, n: int) -> bool:
    is_vector = isinstance(names, np.ndarray) and names.shape == (n,)
    return is_vector and all(isinstance(name, str) for name in names)


def _is_place(value: slice) -> bool:
    whole = INTEGER.holds(value.start) and INTEGER.holds(value.stop) and value.step is None
    return bool(whole and 0 <= value.start <= value.stop < 1 << 31)
