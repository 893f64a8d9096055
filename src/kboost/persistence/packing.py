"""Convert values to nodes and arrays (graph.py)."""

from __future__ import annotations

import math
from collections import UserList
from collections.abc import Callable
from typing import Any

import numpy as np

from kboost.core.trace import Trace
from kboost.persistence import registry
from kboost.persistence.errors import FormatError
from kboost.persistence.graph import DTYPES, MAX_TEXT, MAX_WIDTH, PLAIN, STEP, TYPES, Nodes
from kboost.persistence.sparse_rows import KINDS, canonical
from kboost.persistence.unfolding import check_work

_NUMBERS = "biuf"
_NAME_OF_TYPE = {kind: name for name, kind in TYPES.items()}


class Packer:
    """Converts values to nodes and arrays."""

    def __init__(self) -> None:
        self.nodes: Nodes = []
        self.arrays: list[np.ndarray[Any, Any]] = []
        self._node_of: dict[int, int] = {}  # by id
        self._alive: list[Any] = []  # keeps ids unique
        self._open: set[int] = set()
        self._text = 0

    def value(self, value: Any, where: str) -> Any:
        """The JSON of a value; `where` is its path, for error messages."""
        if type(value) in PLAIN:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if id(value) in self._open:
            raise ValueError(f"{where} must not contain itself.")
        if id(value) not in self._node_of:
            self._open.add(id(value))
            node = self._node(value, where)
            self._open.discard(id(value))
            self._node_of[id(value)] = len(self.nodes)
            self._alive.append(value)
            self.nodes.append(node)
        return {"ref": self._node_of[id(value)]}

    def _values(self, values: Any, where: str) -> list[Any]:
        return [self.value(value, where) for value in values]

    def _node(self, value: Any, where: str) -> dict[str, Any]:
        kind = type(value)
        if kind in _WRITERS:
            return _WRITERS[kind](self, value, where)
        if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS:
            return {"number": self._array(np.asarray(value))}
        if isinstance(value, np.dtype) and value.name in DTYPES:
            return {"dtype": value.name}
        if isinstance(value, type) and value in _NAME_OF_TYPE:
            return {"type": _NAME_OF_TYPE[value]}
        if isinstance(value, UserList):  # used by scikit-learn below 1.9 for remaining columns
            return {"list": self._values(value.data, where)}
        if (entry := registry.entry_of(kind)) is None:
            raise ValueError(f"{where} cannot be saved: {_reason(value)}.")
        state = entry.state(value)
        packed = {name: self.value(field, f"{where}.{name}") for name, field in state.items()}
        return {"object": {"class": entry.name, "fields": packed}}

    def check(self) -> None:
        """Raise a ValueError for what no reader accepts."""
        try:
            check_work(self.nodes, [array.nbytes for array in self.arrays])
        except FormatError as error:
            raise ValueError(f"model must fit into a file; got one where {error}.") from error

    def _list_node(self, value: Any, where: str) -> dict[str, Any]:
        return {type(value).__name__: self._values(value, where)}

    def _dict_node(self, value: Any, where: str) -> dict[str, Any]:
        return {"dict": [self._values(pair, where) for pair in value.items()]}

    def _trace_node(self, trace: Trace, where: str) -> dict[str, Any]:
        columns = {name: [getattr(step, name) for step in trace] for name in STEP}
        return {"steps": {name: self._values(column, where) for name, column in columns.items()}}

    def _slice_node(self, value: Any, where: str) -> dict[str, Any]:
        return {"slice": self._values((value.start, value.stop, value.step), where)}

    def _random_node(self, value: Any, where: str) -> dict[str, Any]:
        return {"random_state": self._values(value.get_state(), where)}

    def _array_node(self, value: Any, where: str) -> dict[str, Any]:
        array = np.asarray(value)
        if array.dtype.kind in _NUMBERS and array.dtype.itemsize <= 8:
            return {"array": self._array(array)}
        if array.dtype.kind not in "UO":
            raise ValueError(f"{where} cannot be saved: it is an array of {array.dtype}.")
        is_text = array.dtype.kind == "U"
        kind, width = ("strings", array.dtype.itemsize // 4) if is_text else ("values", 0)
        self._text += width * max(1, array.size)
        if width > MAX_WIDTH or self._text > MAX_TEXT:
            raise ValueError(f"{where} cannot be saved: it has too many characters.")
        items = self._values(array.ravel().tolist(), where)
        return {kind: {"shape": list(array.shape), "width": width, "items": items}}

    def _matrix_node(self, matrix: Any, where: str) -> dict[str, Any]:
        matrix = canonical(matrix)
        parts = {
            name: self.value(getattr(matrix, name), where) for name in ("data", "indices", "indptr")
        }
        return {"matrix": {"kind": type(matrix).__name__, "shape": list(matrix.shape), **parts}}

    def _array(self, array: np.ndarray[Any, Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1


def _reason(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        return f"files contain no code; got the function {value.__name__!r}"
    return f"files contain no {type(value).__module__}.{type(value).__qualname__}"


_WRITERS: dict[type, Callable[[Packer, Any, str], dict[str, Any]]] = {
    list: Packer._list_node,
    tuple: Packer._list_node,
    dict: Packer._dict_node,
    Trace: Packer._trace_node,
    np.ndarray: Packer._array_node,
    np.str_: Packer._array_node,
    slice: Packer._slice_node,
    np.random.RandomState: Packer._random_node,
    **dict.fromkeys(KINDS.values(), Packer._matrix_node),
}
