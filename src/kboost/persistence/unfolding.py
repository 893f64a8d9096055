"""The work that a file causes: the size of its objects when nothing is shared.

A node that refers twice to the node before it has twice its size, and k such nodes in a chain
for 2^k times as much: nothing to read, but all that walks through it (the terms of a kernel, a
prediction) takes that long. With the values of a node and the bytes of its array counted once for
every path that leads to it,

    depth(i) = 1 + max_j depth(j),     unfolded(i) = own(i) + sum_j unfolded(j),

j the references of node i, all of them earlier ones. The depth is limited, and so is the sum of
what nodes unfold to that no other node refers to, relative to what the file holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kboost.persistence.errors import FormatError

MAX_DEPTH = 100
_VALUES = (64, 1 << 16)  # a multiple of what the file holds, plus a constant
_BYTES = (1024, 1 << 26)


def check_work(nodes: Sequence[Any], sizes: Sequence[int]) -> None:
    """Raise a FormatError for nodes that are nested too deeply, or share too much.

    Parameters
    ----------
    nodes : list of dict
        Nodes whose references are to earlier ones; references that are not are ignored here.
    sizes : list of int
        The bytes of each array.
    """
    values = [list(_values(node)) for node in nodes]
    references = [_references(each, i) for i, each in enumerate(values)]
    depth: list[int] = []
    for earlier in references:
        depth.append(1 + max((depth[j] for j in earlier), default=0))
        if depth[-1] > MAX_DEPTH:
            raise FormatError(f"its objects are nested more than {MAX_DEPTH} deep")
    _check_sum([len(each) for each in values], references, _VALUES)
    _check_sum([_bytes_of(node, sizes) for node in nodes], references, _BYTES)


def _check_sum(
    sizes: Sequence[int], references: Sequence[Sequence[int]], allowed: tuple[int, int]
) -> None:
    times, more = allowed
    limit = times * sum(sizes) + more
    unfolded: list[int] = []
    for size, earlier in zip(sizes, references, strict=True):
        unfolded.append(size + sum(unfolded[j] for j in earlier))
        if unfolded[-1] > limit:
            break
    else:
        inner = {j for earlier in references for j in earlier}
        if sum(size for i, size in enumerate(unfolded) if i not in inner) <= limit:
            return
    raise FormatError(f"its objects share others so that they unfold to more than {limit}")


def _values(node: Any) -> Iterator[Any]:
    """The values of a node: scalars, and values that are neither a list nor a dict."""
    stack = [node]
    while stack:
        value = stack.pop()
        if isinstance(value, dict) and not set(value) <= {"ref"}:
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
        else:
            yield value


def _references(values: Sequence[Any], i: int) -> list[int]:
    references = (value.get("ref") for value in values if isinstance(value, dict))
    return [j for j in references if type(j) is int and 0 <= j < i]


def _bytes_of(node: Any, sizes: Sequence[int]) -> int:
    index = node.get("array") if isinstance(node, dict) else None
    return sizes[index] if type(index) is int and 0 <= index < len(sizes) else 0
