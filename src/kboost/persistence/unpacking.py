"""Convert nodes and arrays (graph.py) to values; everything is checked.

Only the kinds of objects that graph.py lists are created; no name from a file is imported or
called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kboost.core.trace import Step, Trace
from kboost.persistence import registry
from kboost.persistence.errors import FormatError
from kboost.persistence.graph import DTYPES, MAX_TEXT, MAX_WIDTH, PLAIN, STEP, TYPES
from kboost.persistence.sparse_rows import sparse_rows
from kboost.persistence.unfolding import check_work

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


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
        if type(value) in (*PLAIN, float):
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
        plain = (*PLAIN, float, np.generic)
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
        _expect(isinstance(content, str) and content in DTYPES, "no such dtype")
        return np.dtype(content)

    def type(self, content: Any) -> Any:
        """A type of numbers by name."""
        _expect(isinstance(content, str) and content in TYPES, "no such type")
        return TYPES[content]

    def slice(self, content: Any) -> slice:
        """A slice of three values."""
        values = self.values(content)
        _expect(len(values) == 3, "a slice is invalid")
        _expect(all(v is None or type(v) in (int, str) for v in values), "a slice is invalid")
        return slice(*values)

    def steps(self, content: Any) -> Trace:
        """A trace."""
        _expect(isinstance(content, dict) and set(content) == set(STEP), "a trace is incomplete")
        columns = [self.values(content[name]) for name in STEP]
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
