"""The bytes of a model file: a JSON manifest, arrays, and a checksum.

    offset  bytes
         0      8   89 "KBOOST" 0A
         8      4   version of the format                          (integers are little-endian)
        12      8   M, bytes of the manifest
        20      8   P, bytes of the arrays
        28      M   the manifest: a JSON object, ASCII; "arrays" lists [dtype, shape, order]
    28 + M      P   the values of the arrays, concatenated
             32     SHA-256 of all preceding bytes

Nothing is compressed and nothing overlaps, so the memory needed to read a file is bounded by its
size. The size and the checksum are verified before anything is interpreted.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, BinaryIO

import numpy as np

MAGIC = b"\x89KBOOST\n"
VERSION = 1
HEAD = struct.Struct("<8sIQQ")
DIGEST = 32
MAX_MANIFEST = 1 << 26  # bytes
MAX_ITEMS = 1 << 22  # of the manifest; an item may take a hundred bytes in memory
MAX_DIMENSIONS = 8
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248])")
_CHUNK = 1 << 20

Array = np.ndarray[Any, Any]


class FormatError(ValueError):
    """What is wrong with a file, as the end of a sentence; `damaged` completes it."""


def write(path: str, manifest: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write a file atomically."""
    specs = [[_dtype_name(array), list(array.shape), _order(array)] for array in arrays]
    text = json.dumps({**manifest, "arrays": specs}, allow_nan=False, separators=(",", ":")).encode(
        "ascii"
    )
    if len(text) > MAX_MANIFEST or _items(text) > MAX_ITEMS:
        raise ValueError(f"model must have at most {MAX_ITEMS} scalar values; got more.")
    temporary = f"{path}.{os.urandom(8).hex()}"
    try:
        with open(temporary, "xb") as file:
            digest = sha256()
            size = sum(array.nbytes for array in arrays)
            head = HEAD.pack(MAGIC, VERSION, len(text), size)
            for piece in (head, text, *map(_flat, arrays)):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def read(path: str, max_bytes: int) -> tuple[dict[str, Any], list[Array]]:
    """Read a complete file; otherwise raise a ValueError or an OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"path must be a regular file; got {path}.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise ValueError(
                f"{path} must have at most max_bytes={max_bytes} bytes; it has {size}; "
                "increase max_bytes to read it."
            )
        n_text, n_numbers = _read_head(file, path, size)
        _check_digest(file, path, size)
        file.seek(HEAD.size)
        manifest = _parse(file.read(n_text), path)
        specs = [_check_spec(spec, path) for spec in _list_of(manifest.pop("arrays", None), path)]
        if sum(nbytes for _, _, _, nbytes in specs) != n_numbers:
            raise damaged(path, "the size of its arrays is wrong")
        return manifest, [_read_array(file, path, *spec) for spec in specs]


def damaged(path: str, why: str) -> ValueError:
    """The error for an invalid file."""
    return ValueError(f"{path} is damaged: {why}.")


def _read_head(file: BinaryIO, path: str, size: int) -> tuple[int, int]:
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
    if version < 1:
        raise damaged(path, f"there is no format {version}")
    expected = HEAD.size + n_text + n_numbers + DIGEST
    if size != expected:
        raise damaged(path, f"it should have {expected} bytes and has {size}")
    if n_text > MAX_MANIFEST:
        raise ValueError(
            f"{path} must have a manifest of at most {MAX_MANIFEST} bytes; it has {n_text}."
        )
    return n_text, n_numbers


def _check_digest(file: BinaryIO, path: str, size: int) -> None:
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


def _parse(text: bytes, path: str) -> dict[str, Any]:
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


def _check_spec(spec: Any, path: str) -> tuple[np.dtype[Any], tuple[int, ...], str, int]:
    """Dtype, shape, order and bytes of an array."""
    if not (isinstance(spec, list) and len(spec) == 3 and isinstance(spec[1], list)):
        raise damaged(path, "an array has no dtype, shape and order")
    name, shape, order = spec
    if not (isinstance(name, str) and _DTYPE.fullmatch(name)):
        raise damaged(path, f"an array has the dtype {name!r}")
    if not (
        len(shape) <= MAX_DIMENSIONS
        and all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
        and math.prod(n for n in shape if n) < 1 << 56
        and order in ("C", "F")
    ):
        raise damaged(path, f"an array has the shape {shape!r} and order {order!r}"[:200])
    dtype = np.dtype(name)
    return dtype, tuple(shape), order, math.prod(shape) * dtype.itemsize


def _read_array(
    file: BinaryIO, path: str, dtype: np.dtype[Any], shape: tuple[int, ...], order: str, nbytes: int
) -> Array:
    flat = np.empty(math.prod(shape), dtype=dtype)
    if nbytes:
        buffer: Any = flat.view(np.uint8)
        done = 0
        while done < nbytes:
            got = file.readinto(buffer[done:])  # type: ignore[attr-defined]
            if not got:
                raise damaged(path, "it is truncated")
            done += got
    if dtype.kind == "b" and nbytes and flat.view(np.uint8).max() > 1:
        raise damaged(path, "a boolean is neither 0 nor 1")
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _dtype_name(array: Array) -> str:
    name: str = array.dtype.str.replace("=", "<")
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"arrays must be numeric; got dtype {array.dtype}.")
    return name


def _order(array: Array) -> str:
    """Memory order, which is saved because it affects the rounding of matrix products."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _flat(array: Array) -> Any:
    flat = np.ascontiguousarray(array.T if _order(array) == "F" else array)
    return flat.reshape(-1).view(np.uint8) if flat.nbytes else b""
