"""Forgeries that know the form of a file: its arrays and its nodes are changed one by one.

A file is opened to its nodes and arrays, changed once to three times, and closed again with the
sizes and the checksum that belong to it. So nearly all of it is sound, and what is not reaches the
rules of the classes, or a prediction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from random import Random
from typing import Any

import numpy as np

from benchmarks.mutants import ODD, change_json, repaired
from kboost.persistence import container

VERSION = 2
DTYPES = ("|b1", "|i1", "<i4", "<i8", "<u4", "<u8", "<f2", "<f4", "<f8", ">f8", ">i8")
WHOLE = (0, 1, -1, 2, 3, 100, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63))
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-308, 5e-324, 1e-30, 1e30, 1e300, -1e308, 2.0**53)
KERNELS = ("Linear", "Polynomial", "Sigmoid", "Gaussian", "Laplacian", "Matern", "Sum", "Product")
NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
MOST_ITEMS = 20_000  # of a list, so that this process stays small
Array = np.ndarray[Any, Any]


@dataclass
class Opened:
    """The content of a file."""

    manifest: dict[str, Any]
    arrays: list[Array]

    @property
    def nodes(self) -> list[Any]:
        """The nodes, in order."""
        nodes: list[Any] = self.manifest["nodes"]
        return nodes

    def of_kind(self, *kinds: str) -> list[Any]:
        """The contents of the nodes of some kinds, in order."""
        return [node[kind] for node in self.nodes for kind in kinds if kind in node]


def opened(file: bytes) -> Opened:
    """The content of a sound file; arrays are shared, and must not be changed."""
    text, arrays = _read(file)
    return Opened(json.loads(text), list(arrays))


@lru_cache(maxsize=300)
def _read(file: bytes) -> tuple[str, list[Array]]:
    manifest, arrays = container.load(BytesIO(file), "file", len(file), 1 << 30)
    return json.dumps(manifest), arrays


def closed(content: Opened) -> bytes:
    """The file of any content."""
    arrays = content.arrays
    orders = ["C" if a.flags.c_contiguous or not a.flags.f_contiguous else "F" for a in arrays]
    specs = [
        [a.dtype.str, list(a.shape), order, 0] for a, order in zip(arrays, orders, strict=True)
    ]
    text = json.dumps({**content.manifest, "arrays": specs}).encode()
    numbers = b"".join(a.tobytes(order="A") for a in arrays)
    return repaired(VERSION, text, numbers)


def is_sound(file: bytes) -> bool:
    """Whether a file can be opened, and changed."""
    try:
        return isinstance(opened(file).manifest.get("nodes"), list)
    except ValueError:
        return False


def forge(file: bytes, other: bytes, draw: Random) -> tuple[str, bytes]:
    """What was changed last, and the file."""
    content = opened(file)
    name = "nothing but how it is written"
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        change = draw.choice(CHANGES)
        try:
            change(content, other, draw)
        except (TypeError, ValueError, LookupError, AttributeError):  # of an earlier change
            break
        name = change.__name__.replace("_", " ")
    return name, closed(content)


# Arrays -------------------------------------------------------------------------------------------


def numbers_of_an_array(content: Opened, other: bytes, draw: Random) -> None:
    """A few numbers, or all of them."""
    place = _place(content, draw)
    if place is None:
        return
    array = content.arrays[place] = content.arrays[place].copy()
    many = array.size if draw.random() < 0.2 else min(array.size, draw.choice((1, 1, 2, 5)))
    value = _number(array, draw)
    for at in draw.sample(range(array.size), many):
        array.reshape(-1, order="A")[at] = value
        if draw.random() < 0.3:
            value = _number(array, draw)


def order_of_an_array(content: Opened, other: bytes, draw: Random) -> None:
    """The same numbers in another order."""
    place = _place(content, draw)
    if place is None:
        return
    array = content.arrays[place]
    flat = list(array.reshape(-1))
    if draw.random() < 0.5:
        flat = flat[::-1]
    else:
        draw.shuffle(flat)
    content.arrays[place] = np.array(flat, dtype=array.dtype).reshape(array.shape)


def shape_of_an_array(content: Opened, other: bytes, draw: Random) -> None:
    """One row or column more or fewer, none, another number of dimensions."""
    place = _place(content, draw, empty=True)
    if place is None:
        return
    array = content.arrays[place]
    axis = draw.randrange(max(1, array.ndim))
    changes: list[Callable[[], Array]] = [
        lambda: np.take(array, range(max(0, array.shape[axis] - 1)), axis=axis),
        lambda: np.concatenate([array, array], axis=axis),
        lambda: np.take(array, [], axis=axis),
        lambda: array.T,
        lambda: np.asfortranarray(array),
        lambda: array[None],
        lambda: array.reshape(-1),
        lambda: array.reshape(-1, 1),
        lambda: np.zeros((0, draw.choice((1, 2**20, 2**40))), dtype=array.dtype),
    ]
    usable = changes if array.ndim else changes[5:]
    content.arrays[place] = draw.choice(usable)()


def dtype_of_an_array(content: Opened, other: bytes, draw: Random) -> None:
    """The same numbers in another format."""
    place = _place(content, draw, empty=True)
    if place is None:
        return
    with np.errstate(all="ignore"):
        content.arrays[place] = content.arrays[place].astype(draw.choice(DTYPES))


def another_array(content: Opened, other: bytes, draw: Random) -> None:
    """An array of this file or of another one instead."""
    place = _place(content, draw, empty=True)
    source = content if draw.random() < 0.5 else opened(other)
    taken = _place(source, draw, empty=True)
    if place is not None and taken is not None:
        content.arrays[place] = source.arrays[taken]


def rows_of_a_matrix(content: Opened, other: bytes, draw: Random) -> None:
    """The numbers that say where sparse rows are, or their shape."""
    matrices = content.of_kind("matrix")
    if not matrices:
        return numbers_of_an_array(content, other, draw)
    matrix = draw.choice(matrices)
    if draw.random() < 0.3:
        matrix["shape"][draw.randrange(2)] = draw.choice(WHOLE)
        return None
    node = content.nodes[matrix[draw.choice(("data", "indices", "indptr"))]["ref"]]
    place = node.get("array")
    if type(place) is int and content.arrays[place].size:
        array = content.arrays[place] = content.arrays[place].copy()
        array.reshape(-1)[draw.randrange(array.size)] = _number(array, draw)
    return None


# Nodes --------------------------------------------------------------------------------------------


def json_of_the_manifest(content: Opened, other: bytes, draw: Random) -> None:
    """Anything anywhere."""
    change_json(content.manifest, draw)
    if not isinstance(content.manifest.get("nodes"), list):
        content.manifest["nodes"] = []


def field_of_an_object(content: Opened, other: bytes, draw: Random) -> None:
    """A field is given an odd value, that of another field, or is missing."""
    objects = [each for each in content.of_kind("object") if _fields(each)]
    if not objects:
        return
    fields = draw.choice(objects)["fields"]
    name = draw.choice(list(fields))
    kind = draw.randrange(5)
    if kind == 0:
        del fields[name]
    elif kind == 1:
        fields[draw.choice(("_model", "n_features_in_", "classes_", "predict", "x"))] = fields[name]
    elif kind == 2:
        fields[name] = fields[draw.choice(list(fields))]
    elif kind == 3 and isinstance(fields[name], int | float):
        fields[name] = draw.choice((*WHOLE, *REAL))
    else:
        fields[name] = draw.choice((*ODD[:20], *WHOLE, *REAL))


def reference_to_another_node(content: Opened, other: bytes, draw: Random) -> None:
    """A reference leads elsewhere, often to a node of the same kind."""
    found = [
        (holder, key, i)
        for i, node in enumerate(content.nodes)
        for holder, key in _references(node)
    ]
    if not found:
        return
    holder, key, i = draw.choice(found)
    now = content.nodes[holder[key]["ref"]] if _is_place(holder[key], content) else None
    alike = [j for j in range(i) if _kind(content.nodes[j]) == _kind(now)]
    candidates = alike if alike and draw.random() < 0.7 else range(max(1, i))
    holder[key] = {"ref": draw.choice(candidates)}


def items_of_a_list(content: Opened, other: bytes, draw: Random) -> None:
    """An item is left out, repeated, or replaced."""
    lists = [each for each in content.of_kind("list", "tuple", "dict") if isinstance(each, list)]
    if not lists:
        return
    items = draw.choice(lists)
    kind = draw.randrange(4)
    if kind == 0 and items:
        del items[draw.randrange(len(items))]
    elif kind == 1 and items:
        items.append(draw.choice(items))
    elif kind == 2 and items:
        items[draw.randrange(len(items))] = draw.choice((*ODD[:20], *WHOLE))
    else:
        items.clear()


def class_of_an_object(content: Opened, other: bytes, draw: Random) -> None:
    """The fields of an object under the name of another class of the file."""
    objects = [each for each in content.of_kind("object") if _fields(each)]
    if len(objects) > 1:
        one, two = draw.sample(objects, 2)
        one["class"] = two["class"]


def text_of_an_array(content: Opened, other: bytes, draw: Random) -> None:
    """Labels and names: their number, their width, what they are."""
    boxes = [each for each in content.of_kind("strings", "values") if isinstance(each, dict)]
    boxes = [each for each in boxes if set(each) == {"shape", "width", "items"}]
    if not boxes:
        return field_of_an_object(content, other, draw)
    box = draw.choice(boxes)
    kind = draw.randrange(4)
    if kind == 0 and isinstance(box["items"], list):
        box["items"] = (box["items"] * 2)[: draw.randrange(2 * len(box["items"]) + 1)]
        box["shape"] = [len(box["items"])]
    elif kind == 1:
        box["width"] = draw.choice((0, 1, 2**16, 2**30))
    elif kind == 2 and box["items"]:
        box["items"][draw.randrange(len(box["items"]))] = draw.choice((*ODD[:14], "é", "x" * 300))
    else:
        box["shape"] = draw.choice(([0], [], [2**40], [1, -1], [len(box["items"]), 1]))
    return None


def doubled_nodes(content: Opened, other: bytes, draw: Random) -> None:
    """A chain of nodes, each of which refers twice to the one before, in place of a node."""
    if not content.nodes:
        return
    places = [i for i, node in enumerate(content.nodes) if _kind(node).endswith(KERNELS)]
    is_kernel = bool(places) and draw.random() < 0.7
    at = draw.choice(places if is_kernel else range(len(content.nodes)))
    length = draw.choice((1, 2, 8, 12, 20, 30, 90, 200))
    chain: list[Any] = []
    for i in range(length):
        twice = {"tuple": [{"ref": at + len(chain)}] * draw.choice((1, 2, 2))}
        if is_kernel:
            name = draw.choice(("Sum", "Product"))
            kernel = {"object": {"class": name, "fields": {"kernels": {"ref": at + 2 * i + 1}}}}
            chain += [twice, kernel]
        else:
            chain.append(twice)
    _insert(content, at + 1, chain)


def nodes_of_another_file(content: Opened, other: bytes, draw: Random) -> None:
    """All of another file comes first, and a reference leads to one of its nodes."""
    donor = opened(other)
    shift, arrays = len(donor.nodes), len(donor.arrays)
    moved = [_moved(node, 0, shift, arrays) for node in content.nodes]
    wanted = [
        (holder, key)
        for node in moved
        for holder, key in _references(node)
        if holder[key]["ref"] >= shift
    ]
    content.manifest["root"] = _moved(content.manifest["root"], 0, shift, 0)
    content.manifest["nodes"] = donor.nodes + moved
    content.arrays = donor.arrays + content.arrays
    for holder, key in draw.sample(wanted, min(len(wanted), draw.choice((1, 1, 2)))):
        place = holder[key]["ref"]
        now = content.nodes[place] if 0 <= place < len(content.nodes) else None
        alike = [j for j, node in enumerate(donor.nodes) if _kind(node) == _kind(now)]
        holder[key] = {"ref": draw.choice(alike or range(shift))}


def many_items(content: Opened, other: bytes, draw: Random) -> None:
    """A list or a tuple is repeated many times."""
    lists = [each for each in content.of_kind("list", "tuple") if each and isinstance(each, list)]
    if lists:
        items = draw.choice(lists)
        items *= min(draw.choice((2, 100, 3000)), max(1, MOST_ITEMS // len(items)))


def _fields(content: Any) -> bool:
    is_object = isinstance(content, dict) and isinstance(content.get("fields"), dict)
    return is_object and bool(content["fields"])


def _kind(node: Any) -> str:
    """The kind of a node, with the class of an object."""
    if not (isinstance(node, dict) and len(node) == 1):
        return ""
    ((kind, content),) = node.items()
    return f"{kind} {content.get('class')}" if kind == "object" and _fields(content) else kind


def _is_place(value: Any, content: Opened) -> bool:
    return type(value["ref"]) is int and 0 <= value["ref"] < len(content.nodes)


def _references(node: Any) -> Any:
    stack = [node]
    while stack:
        holder = stack.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            value = holder[key]
            if isinstance(value, dict) and set(value) == {"ref"} and type(value["ref"]) is int:
                yield holder, key
            elif isinstance(value, dict | list):
                stack.append(value)


def _moved(value: Any, start: int, by: int, arrays: int) -> Any:
    """The same with references to places from `start` on moved, and the numbers of arrays."""
    if isinstance(value, dict):
        if set(value) == {"ref"} and type(value["ref"]) is int:
            return {"ref": value["ref"] + (by if value["ref"] >= start else 0)}
        if set(value) in ({"array"}, {"number"}) and type(next(iter(value.values()))) is int:
            return {key: place + arrays for key, place in value.items()}
        return {key: _moved(each, start, by, arrays) for key, each in value.items()}
    return [_moved(each, start, by, arrays) for each in value] if isinstance(value, list) else value


def _insert(content: Opened, at: int, nodes: list[Any]) -> None:
    """Put nodes at a place; what referred to the one before refers to the last of them."""
    before, after = content.nodes[:at], content.nodes[at:]
    later = [_moved(node, at - 1, len(nodes), 0) for node in after]
    content.manifest["nodes"] = [*before, *nodes, *later]
    content.manifest["root"] = _moved(content.manifest["root"], at - 1, len(nodes), 0)


def _place(content: Opened, draw: Random, *, empty: bool = False) -> int | None:
    places = [i for i, array in enumerate(content.arrays) if empty or array.size]
    return draw.choice(places) if places else None


def _number(array: Array, draw: Random) -> Any:
    """An odd number that an array can hold."""
    kind = array.dtype.kind
    if kind == "b":
        return draw.random() < 0.5
    if kind == "f":
        value = draw.choice((*NOT_FINITE, *REAL, float(array.size)))
        with np.errstate(all="ignore"):
            return np.array(value).astype(array.dtype)
    info = np.iinfo(array.dtype)
    value = draw.choice((*WHOLE, info.max, info.min, array.size, array.size - 1))
    return value if info.min <= value <= info.max else info.max


Change = Callable[[Opened, bytes, Random], None]
CHANGES: tuple[Change, ...] = (
    numbers_of_an_array,
    numbers_of_an_array,
    order_of_an_array,
    shape_of_an_array,
    shape_of_an_array,
    dtype_of_an_array,
    another_array,
    rows_of_a_matrix,
    json_of_the_manifest,
    field_of_an_object,
    field_of_an_object,
    field_of_an_object,
    reference_to_another_node,
    reference_to_another_node,
    items_of_a_list,
    class_of_an_object,
    text_of_an_array,
    doubled_nodes,
    nodes_of_another_file,
    many_items,
)
