"""The values of a model as a list of nodes: packing.py writes them, unpacking.py reads them.

A value is a JSON scalar, ``{"float": "nan"}`` (or "inf", "-inf"), or ``{"ref": n}``: node n, which
must precede it. So there are no cycles and no nesting, and shared objects stay shared: a node is
read once (see unfolding.py for what that saves and costs). It is a JSON object with one key, its
kind:

    list, tuple     values                      array, number   index in the list of arrays
    dict            pairs of values             strings, values an array of text, or of anything
    matrix          sparse rows                 dtype, type     of numpy, by name
    slice           three values                steps           a trace, field by field
    random_state    of numpy                    object          a class of the registry, its fields
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from kboost.core.trace import Step

Nodes = list[dict[str, Any]]

PLAIN = (type(None), bool, int, str)
STEP = [field.name for field in fields(Step)]
MAX_TEXT, MAX_WIDTH = 1 << 26, 1 << 16  # characters in arrays of text, and in each of one
TYPES: dict[str, type] = {
    **{name: np.dtype(name).type for name in ("bool", "float16", "float32", "float64")},
    **{
        f"{sign}int{n}": np.dtype(f"{sign}int{n}").type
        for sign in ("", "u")
        for n in (8, 16, 32, 64)
    },
    "python bool": bool,
    "python int": int,
    "python float": float,
    "python str": str,
    "python object": object,
    "number": np.number,
}
DTYPES = ("object", *(name for name in TYPES if " " not in name and name != "number"))
