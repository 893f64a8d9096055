"""The bytes of a model file: a JSON manifest, arrays, and a checksum.

    offset  bytes
         0      8   89 "KBOOST" 0A
         8      4   version of the format                          (integers are little-endian)
        12      8   M, bytes of the manifest
        20      8   P, bytes of the arrays
        28          deflated: the manifest, then the arrays
             32     SHA-256 of all preceding bytes

The manifest is a JSON object, ASCII; "arrays" lists [dtype, shape, order, code] (see coding.py),
and the arrays follow each other. The sizes and the checksum are verified before anything is
interpreted. M + P is at most `MAX_RATIO` times the deflated bytes, and the values of an array are
at most eight times its coded bytes, so the memory needed to read a file is bounded by its size.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import struct
import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kboost.persistence import coding
from kboost.persistence.errors import FormatError, damaged
from kboost.persistence.replacing import replace_content

MAGIC = b"\x89KBOOST\n"
VERSION = 2
HEAD = struct.Struct("<8sIQQ")
DIGEST = 32
MAX_MANIFEST = 1 << 26  # bytes
MAX_ITEMS = 1 << 22  # of the manifest; an item may take a hundred bytes in memory
MAX_DIMENSIONS = 8
MAX_RATIO = 32  # of the content to its deflated bytes
_LARGE = 1 << 24  # bytes; from here on time matters more than size
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248])")
_CHUNK = 1 << 20

Array = np.ndarray[Any, Any]


def write(path: str, manifest: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write a file atomically."""
    replace_content(path, dump(manifest, arrays))


def dump(manifest: dict[str, Any], arrays: Sequence[Array]) -> bytes:
    """The bytes of a file."""
    coded = [coding.encode(_flat(array), _stored_shape(array)) for array in arrays]
    specs = [
        [_dtype_name(array), list(array.shape), _order(array), code]
        for array, (code, _) in zip(arrays, coded, strict=True)
    ]
    text = json.dumps({**manifest, "arrays": specs}, allow_nan=False, separators=(",", ":")).encode(
        "ascii"
    )
    if len(text) > MAX_MANIFEST or _items(text) > MAX_ITEMS:
        raise ValueError(f"model must have at most {MAX_ITEMS} scalar values; got more.")
    content = b"".join((text, *(body for _, body in coded)))
    deflated = deflate(content)
    head = HEAD.pack(MAGIC, VERSION, len(text), len(content) - len(text))
    return b"".join((head, deflated, sha256(head + deflated).digest()))


def deflate(content: bytes) -> bytes:
    """The content deflated; stored, if it would become smaller than readers accept."""
    deflated = _deflated(content, 9 if len(content) < _LARGE else 1)
    return deflated if len(content) <= MAX_RATIO * len(deflated) else _deflated(content, 0)


def _deflated(content: bytes, level: int) -> bytes:
    machine = zlib.compressobj(level, wbits=-15)
    return machine.compress(content) + machine.flush()


def read(path: str, max_bytes: int) -> tuple[dict[str, Any], list[Array]]:
    """Read a complete file; otherwise raise a ValueError or an OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"path must be a regular file; got {path}.")
    with open(path, "rb") as file:
        return load(file, path, os.fstat(file.fileno()).st_size, max_bytes)


def load(
    file: BinaryIO, path: str, size: int, max_bytes: int
) -> tuple[dict[str, Any], list[Array]]:
    """Read the bytes of a file; `path` is for error messages."""
    _check_size(path, size, max_bytes)
    n_text, n_numbers = _read_head(file, path)
    _check_size(path, n_text + n_numbers, max_bytes)
    _check_digest(file, path, size)
    file.seek(HEAD.size)
    content = _inflated(file.read(size - HEAD.size - DIGEST), path, n_text + n_numbers)
    manifest = _parse(content[:n_text], path)
    specs = [_check_spec(spec, path) for spec in _list_of(manifest.pop("arrays", None), path)]
    if sum(spec.nbytes for spec in specs) != n_numbers:
        raise damaged(path, "the size of its arrays is wrong")
    arrays, start = [], n_text
    for spec in specs:
        arrays.append(_array(content[start : start + spec.nbytes], path, spec))
        start += spec.nbytes
    return manifest, arrays


def _check_size(path: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ValueError(
            f"{path} must have at most max_bytes={max_bytes} bytes; it has {size}; "
            "increase max_bytes to read it."
        )


def _inflated(deflated: bytes, path: str, size: int) -> memoryview:
    if size > MAX_RATIO * len(deflated):
        raise damaged(path, f"it should have {size} bytes and has fewer")
    machine = zlib.decompressobj(wbits=-15)
    try:
        content = machine.decompress(deflated, size + 1)
    except zlib.error as error:
        raise damaged(path, "it cannot be inflated") from error
    if len(content) != size or not machine.eof or machine.unused_data:
        raise damaged(path, f"its content does not have {size} bytes")
    return memoryview(content)


def _read_head(file: BinaryIO, path: str) -> tuple[int, int]:
    head = file.read(HEAD.size)
    if head[: len(MAGIC)] != MAGIC:
        raise ValueError(f"{path} must be a kboost model; its first bytes are different.")
    if len(head) < HEAD.size:
        raise damaged(path, "it is truncated")
    _, version, n_text, n_numbers = HEAD.unpack(head)
    if version > VERSION:
        raise ValueError(
            f"{path} requires a newer kboost: its format is {version}, this version reads formats "
            f"up to {VERSION}."
        )
    if version < VERSION:
        raise ValueError(f"{path} must have format {VERSION}; it has format {version}.")
    if n_text > MAX_MANIFEST:
        raise ValueError(
            f"{path} must have a manifest of at most {MAX_MANIFEST} bytes; it has {n_text}."
        )
    return n_text, n_numbers


def _check_digest(file: BinaryIO, path: str, size: int) -> None:
    if size < HEAD.size + DIGEST:
        raise damaged(path, "it is truncated")
    digest, remaining = sha256(), size - DIGEST
    file.seek(0)
    while remaining:
        chunk = file.read(min(_CHUNK, remaining))
        if not chunk:
            raise damaged(path, "it is truncated")
        digest.update(chunk)
        remaining -= len(chunk)
    if file.read(DIGEST) != digest.digest():
        raise damaged(path, "its checksum is wrong")


def _parse(content: memoryview, path: str) -> dict[str, Any]:
    text = bytes(content)
    if _items(text) > MAX_ITEMS:
        raise ValueError(f"{path} must have at most {MAX_ITEMS} scalar values; it has more.")
    try:
        manifest = json.loads(
            text.decode("ascii"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise damaged(path, "its manifest is not valid JSON") from error
    if not isinstance(manifest, dict):
        raise damaged(path, "its manifest is not a JSON object")
    return manifest


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise FormatError("a key is repeated")
    return unique


def _no_constant(word: str) -> Any:
    raise FormatError(f"{word} is not valid JSON")


def _items(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _list_of(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise damaged(path, "it has no list of arrays")
    return value


class _Spec(NamedTuple):
    """How an array is stored."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: str
    code: Any
    nbytes: int

    @property
    def stored_shape(self) -> tuple[int, ...]:
        return self.shape[::-1] if self.order == "F" else self.shape


def _check_spec(content: Any, path: str) -> _Spec:
    if not (isinstance(content, list) and len(content) == 4 and isinstance(content[1], list)):
        raise damaged(path, "an array has no dtype, shape, order and code")
    name, shape, order, code = content
    if not (isinstance(name, str) and _DTYPE.fullmatch(name)):
        raise damaged(path, f"an array has the dtype {name!r}")
    if not (
        len(shape) <= MAX_DIMENSIONS
        and all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
        and math.prod(n for n in shape if n) < 1 << 56
        and order in ("C", "F")
    ):
        raise damaged(path, f"an array has the shape {shape!r} and order {order!r}"[:200])
    spec = _Spec(np.dtype(name), tuple(shape), order, code, 0)
    try:
        return spec._replace(nbytes=coding.size_of(code, spec.dtype, spec.stored_shape))
    except FormatError as error:
        raise damaged(path, str(error)) from error


def _array(body: memoryview, path: str, spec: _Spec) -> Array:
    if spec.dtype.kind == "b" and len(body) and max(body) > 1:
        raise damaged(path, "a boolean is neither 0 nor 1")
    flat = coding.decode(spec.code, bytes(body), spec.dtype, spec.stored_shape)
    return flat.reshape(spec.shape, order="F" if spec.order == "F" else "C")


def _dtype_name(array: Array) -> str:
    name: str = array.dtype.str.replace("=", "<")
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"arrays must be numeric; got dtype {array.dtype}.")
    return name


def _order(array: Array) -> str:
    """Memory order, which is saved because it affects the rounding of matrix products."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _stored_shape(array: Array) -> tuple[int, ...]:
    shape = tuple(array.shape)
    return shape[::-1] if _order(array) == "F" else shape


def _flat(array: Array) -> Array:
    return np.ascontiguousarray(array.T if _order(array) == "F" else array).reshape(-1)
