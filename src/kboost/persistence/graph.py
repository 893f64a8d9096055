"""Convert values to a list of nodes, and back.

A value is a JSON scalar, ``{"float": "nan"}`` (or "inf", "-inf"), or ``{"ref": n}``: node n, which
must precede it. So there are no cycles and no nesting, and shared objects stay shared: a node is
read once (see unfolding.py for what that saves and costs). It is a JSON object with one key, its
kind:

    list, tuple     values                      array, number   index in the list of arrays
    dict            pairs of values             strings, values an array of text, or of anything
    matrix          sparse rows                 dtype, type     of numpy, by name
    slice           three values                steps           a trace, field by field
    random_state    of numpy                    object          a class of the registry, its fields

Reading creates only these kinds of objects; no name from a file is imported or called.
"""

from __future__ import annotations

import math
from collections import UserList
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from kboost.core.trace import Step, Trace
from kboost.persistence import registry
from kboost.persistence.errors import FormatError
from kboost.persistence.sparse_rows import KINDS, canonical, sparse_rows
from kboost.persistence.unfolding import check_work

Nodes = list[dict[str, Any]]

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_PLAIN = (type(None), bool, int, str)
_STEP = [field.name for field in fields(Step)]
_NUMBERS = "biuf"
MAX_TEXT, MAX_WIDTH = 1 << 26, 1 << 16  # characters in arrays of text, and in each of one
_TYPES: dict[str, type] = {
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
_NAME_OF_TYPE = {kind: name for name, kind in _TYPES.items()}
_DTYPES = ("object", *(name for name in _TYPES if " " not in name and name != "number"))


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
        if type(value) in _PLAIN:
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
        if isinstance(value, np.dtype) and value.name in _DTYPES:
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
        columns = {name: [getattr(step, name) for step in trace] for name in _STEP}
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
    if callable(value) and not isinstance(value, type):
        return f"files contain no code; got the function {getattr(value, '__name__', value)!r}"
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


class Unpacker:
    """Converts nodes and arrays to values, in order; raises a FormatError if they are invalid."""

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        self._arrays, self._used = arrays, 0
        self._made: list[Any] = []
        self._text = 0
        self.foreign = False  # whether there is a scikit-learn object

    def add(self, node: Any) -> None:
        """Read the next node."""
        _expect(isinstance(node, dict) and len(node) == 1, "a node is invalid")
        ((kind, content),) = node.items()
        _expect(kind in _MAKERS, f"there are no nodes of kind {kind!r}"[:200])
        self._made.append(_MAKERS[kind](self, content))

    def finish(self) -> None:
        """Check that all arrays are used."""
        _expect(self._used == len(self._arrays), "an array is unused")

    def value(self, value: Any) -> Any:
        """The value of its JSON."""
        if type(value) in (*_PLAIN, float):
            return value
        _expect(isinstance(value, dict) and len(value) == 1, "a value is invalid")
        ((kind, content),) = value.items()
        if kind == "float" and isinstance(content, str) and content in _NOT_FINITE:
            return _NOT_FINITE[content]
        _expect(
            kind == "ref" and type(content) is int and 0 <= content < len(self._made),
            "a reference is invalid",
        )
        return self._made[content]

    def values(self, content: Any) -> list[Any]:
        """The values of a list."""
        _expect(isinstance(content, list), "a list is invalid")
        return [self.value(value) for value in content]

    def dict(self, content: Any) -> dict[Any, Any]:
        """The dict of a list of pairs; keys are scalars."""
        pairs = [self.values(pair) for pair in content] if isinstance(content, list) else None
        _expect(pairs is not None and all(len(p) == 2 for p in pairs), "a dict has no pairs")
        plain = (*_PLAIN, float, np.generic)
        _expect(all(isinstance(p[0], plain) for p in pairs or ()), "a key is not a scalar")
        return dict(pairs or ())

    def array(self, content: Any) -> np.ndarray[Any, Any]:
        """The next array."""
        _expect(type(content) is int and content == self._used, "arrays are out of order")
        _expect(self._used < len(self._arrays), "an array is missing")
        self._used += 1
        return self._arrays[self._used - 1]

    def number(self, content: Any) -> Any:
        """A NumPy scalar."""
        array = self.array(content)
        _expect(array.shape == (), "a number is invalid")
        return array[()]

    def strings(self, content: Any) -> Any:
        """An array of text."""
        shape, width, items = self._boxed(content)
        _expect(all(type(item) is str and len(item) <= width for item in items), "text is too long")
        array = np.array(items, dtype=f"<U{width}").reshape(shape)
        return array if shape else array[()]

    def objects(self, content: Any) -> Any:
        """An array of objects."""
        shape, _, items = self._boxed(content)
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        return array.reshape(shape)

    def _boxed(self, content: Any) -> tuple[tuple[int, ...], int, list[Any]]:
        _expect(
            isinstance(content, dict) and set(content) == {"shape", "width", "items"},
            "an array of text is incomplete",
        )
        shape, width, items = content["shape"], content["width"], self.values(content["items"])
        _expect(isinstance(shape, list) and len(shape) <= 8, "a shape is invalid")
        _expect(all(type(n) is int and 0 <= n < 1 << 48 for n in shape), "a shape is invalid")
        _expect(math.prod(shape) == len(items), "a shape does not match its array")
        _expect(type(width) is int and 0 <= width <= MAX_WIDTH, "a width is invalid")
        self._text += width * max(1, len(items))
        _expect(self._text <= MAX_TEXT, "there is too much text")
        return tuple(shape), width, items

    def matrix(self, content: Any) -> Any:
        """A CSR matrix, fully checked."""
        keys = {"kind", "shape", "data", "indices", "indptr"}
        _expect(isinstance(content, dict) and set(content) == keys, "a matrix is incomplete")
        entries = (self.value(content[key]) for key in ("data", "indices", "indptr"))
        return sparse_rows(content["kind"], content["shape"], *entries)

    def dtype(self, content: Any) -> Any:
        """A dtype by name."""
        _expect(isinstance(content, str) and content in _DTYPES, "no such dtype")
        return np.dtype(content)

    def type(self, content: Any) -> Any:
        """A type of numbers by name."""
        _expect(isinstance(content, str) and content in _TYPES, "no such type")
        return _TYPES[content]

    def slice(self, content: Any) -> slice:
        """A slice of three values."""
        values = self.values(content)
        _expect(len(values) == 3, "a slice is invalid")
        _expect(all(v is None or type(v) in (int, str) for v in values), "a slice is invalid")
        return slice(*values)

    def steps(self, content: Any) -> Trace:
        """A trace."""
        _expect(isinstance(content, dict) and set(content) == set(_STEP), "a trace is incomplete")
        columns = [self.values(content[name]) for name in _STEP]
        _expect(len({len(column) for column in columns}) == 1, "a trace is incomplete")
        plain = (bool, int, float, np.number, np.bool_, type(None))
        for column in columns:
            _expect(all(isinstance(v, plain) for v in column), "a trace holds no numbers")
        return Trace(Step(*line) for line in zip(*columns, strict=True))

    def random_state(self, content: Any) -> np.random.RandomState:
        """A Mersenne Twister with its state."""
        values = self.values(content)
        _expect(len(values) == 5 and values[0] == "MT19937", "a random state is invalid")
        _, keys, position, has_gauss, gauss = values
        _expect(isinstance(keys, np.ndarray) and keys.shape == (624,), "a random state is invalid")
        _expect(keys.dtype == np.uint32, "a random state is invalid")
        _expect(type(position) is int and 0 <= position <= 624, "a random state is invalid")
        _expect(has_gauss in (0, 1) and type(gauss) is float, "a random state is invalid")
        rng = np.random.RandomState(0)
        rng.set_state(("MT19937", keys, position, has_gauss, gauss))
        return rng

    def object(self, content: Any) -> Any:
        """An object of the registry."""
        _expect(
            isinstance(content, dict)
            and set(content) == {"class", "fields"}
            and isinstance(content["class"], str)
            and isinstance(content["fields"], dict),
            "an object is incomplete",
        )
        entry = registry.ENTRIES.get(content["class"])
        if entry is None:
            raise FormatError(f"it contains the unknown class {content['class']!r}"[:200])
        self.foreign |= entry.is_foreign
        return entry.make({name: self.value(field) for name, field in content["fields"].items()})


_MAKERS: dict[str, Callable[[Unpacker, Any], Any]] = {
    "list": Unpacker.values,
    "tuple": lambda unpacker, content: tuple(unpacker.values(content)),
    "dict": Unpacker.dict,
    "array": Unpacker.array,
    "number": Unpacker.number,
    "strings": Unpacker.strings,
    "values": Unpacker.objects,
    "matrix": Unpacker.matrix,
    "dtype": Unpacker.dtype,
    "type": Unpacker.type,
    "slice": Unpacker.slice,
    "steps": Unpacker.steps,
    "random_state": Unpacker.random_state,
    "object": Unpacker.object,
}


def unpacked(nodes: Any, root: Any, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[Any, bool]:
    """The value of the root, and whether there is a scikit-learn object."""
    _expect(isinstance(nodes, list), "its manifest is incomplete")
    check_work(nodes, [array.nbytes for array in arrays])
    unpacker = Unpacker(arrays)
    for node in nodes:
        unpacker.add(node)
    unpacker.finish()
    return unpacker.value(root), unpacker.foreign


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise FormatError(message)
