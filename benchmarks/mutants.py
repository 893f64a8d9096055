"""Random damaged and forged model files, which `load_model` must reject or load."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

from kboost.persistence.container import deflate

HEAD = struct.Struct("<8sIQQ")  # magic, version, bytes of the manifest, bytes of the arrays
DIGEST = 32
HUGE = (2**31, 2**63, 10**15, 10**30, -1, 0)
NAMES = (
    "os.system", "builtins.eval", "subprocess.Popen", "__main__.run", "SVC", "Pipeline",
    "sklearn.pipeline.Pipeline", "Gaussian", "KernelPart", "Stream", "FunctionKernel", "",
    "sklearn.preprocessing.FunctionTransformer",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, 0, 1, -1, 10**15, 10**30, 0.5, -0.0, "", "x", "__class__", "predict", [], {},
    {"ref": 0}, {"ref": 1}, {"ref": -1}, {"ref": 10**9}, {"ref": "0"}, {"float": "nan"},
    {"float": "x"}, [[]], ["<f8", [10**15], "C", 0], ["|O8", [1], "C", 0], ["<U9", [1], "C", 0],
    [1, 0, [1], []], [8, 1, [10], [4]], [0, 0, [], []],
    {"list": []}, {"tuple": [{"ref": 0}]}, {"dict": [[{"ref": 0}, 1]]}, {"array": 0},
    {"number": 0}, {"type": "python object"}, {"slice": [None, 1, 1]}, {"random_state": []},
    {"strings": {"shape": [10**15], "width": 10**9, "items": []}}, {"steps": {}},
    {"object": {"class": "Gaussian", "fields": {"gamma": 1.0, "columns": None, "on": None}}},
    {"object": {"class": "os.system", "fields": {"command": "true"}}},
)  # fmt: skip

Mutation = Callable[[bytes, bytes, Random], bytes]


def repaired(version: int, manifest: bytes, numbers: bytes) -> bytes:
    """A file with correct lengths and checksum and any content."""
    head = HEAD.pack(b"\x89KBOOST\n", version, len(manifest), len(numbers))
    body = head + deflate(manifest + numbers)
    return body + hashlib.sha256(body).digest()


def parted(file: bytes) -> tuple[int, bytes, bytes]:
    """Version, manifest and array bytes of a valid file."""
    _, version, n_manifest, _ = HEAD.unpack_from(file)
    content = zlib.decompress(file[HEAD.size : -DIGEST], wbits=-15)
    return version, content[:n_manifest], content[n_manifest:]


def flip_bits(file: bytes, other: bytes, draw: Random) -> bytes:
    out = bytearray(file)
    for _ in range(draw.choice((1, 1, 2, 8))):
        out[draw.randrange(len(out))] ^= 1 << draw.randrange(8)
    return bytes(out)


def overwrite(file: bytes, other: bytes, draw: Random) -> bytes:
    at, n = draw.randrange(len(file)), draw.choice((1, 4, 8, 100))
    return file[:at] + draw.randbytes(n) + file[at + n :]


def cut_short(file: bytes, other: bytes, draw: Random) -> bytes:
    return file[: draw.randrange(len(file))]


def append(file: bytes, other: bytes, draw: Random) -> bytes:
    return file + draw.choice((b"\0", draw.randbytes(40), other))


def leave_out(file: bytes, other: bytes, draw: Random) -> bytes:
    at = draw.randrange(len(file))
    return file[:at] + file[at + draw.choice((1, 8, 100)) :]


def splice(file: bytes, other: bytes, draw: Random) -> bytes:
    return file[: draw.randrange(len(file))] + other[draw.randrange(len(other)) :]


def lie_in_the_head(file: bytes, other: bytes, draw: Random) -> bytes:
    values = list(HEAD.unpack_from(file))
    place = draw.randrange(1, 4)
    bits = 32 if place == 1 else 64
    values[place] = draw.choice((*HUGE, draw.randrange(1000))) % 2**bits
    return HEAD.pack(*values) + file[HEAD.size :]


def forge_numbers(file: bytes, other: bytes, draw: Random) -> bytes:
    version, manifest, numbers = parted(file)
    return repaired(version, manifest, flip_bits(numbers, other, draw) if numbers else b"\0")


def forge_deflated(file: bytes, other: bytes, draw: Random) -> bytes:
    change = draw.choice((flip_bits, overwrite, cut_short, leave_out, append))
    body = file[: HEAD.size] + change(file[HEAD.size : -DIGEST], other, draw)
    return body + hashlib.sha256(body).digest()


def forge_text(file: bytes, other: bytes, draw: Random) -> bytes:
    version, manifest, numbers = parted(file)
    change = draw.choice((flip_bits, overwrite, cut_short, leave_out, splice))
    return repaired(version, change(manifest, parted(other)[1], draw), numbers)


def swap_halves(file: bytes, other: bytes, draw: Random) -> bytes:
    version, manifest, _ = parted(file)
    return repaired(version, manifest, parted(other)[2])


def deep(file: bytes, other: bytes, draw: Random) -> bytes:
    depth = draw.choice((100, 10_000, 300_000))
    return repaired(2, draw.choice((b"[", b'{"a":')) * depth, b"")


def forge_manifest(file: bytes, other: bytes, draw: Random) -> bytes:
    """One to three changes of the JSON, at random places."""
    version, text, numbers = parted(file)
    manifest = json.loads(text)
    for _ in range(draw.choice((1, 1, 2, 3))):
        change_json(manifest, draw)
    return repaired(version, json.dumps(manifest).encode(), numbers)


def change_json(manifest: dict[str, Any], draw: Random) -> None:
    """One change of the JSON, at a random place."""
    places = list(_places(manifest))
    holder, key = draw.choice(places)
    value = holder[key]
    kind = draw.randrange(6)
    if kind == 0:
        holder[key] = draw.choice(ODD)
    elif kind == 1:
        del holder[key]
    elif kind == 2:
        from_holder, from_key = draw.choice(places)
        holder[key] = json.loads(json.dumps(from_holder[from_key]))
    elif kind == 3 and isinstance(holder, dict):
        holder[draw.choice(("__class__", "predict", "_model", "x", key))] = holder.pop(key)
    elif isinstance(value, bool) or value is None or isinstance(value, list | dict):
        holder[key] = draw.choice(ODD)
    elif isinstance(value, str):
        holder[key] = draw.choice((*NAMES, value + "x", value[1:]))
    else:
        holder[key] = draw.choice((value + 1, value - 1, -value, *HUGE, 0.5))


def _places(value: Any) -> Any:
    stack = [value]
    while stack:
        holder = stack.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list):
                stack.append(holder[key])


DAMAGES: tuple[Mutation, ...] = (
    flip_bits, overwrite, cut_short, append, leave_out, splice, lie_in_the_head,
)  # fmt: skip
FORGERIES: tuple[Mutation, ...] = (
    forge_manifest, forge_manifest, forge_manifest, forge_text, forge_numbers, swap_halves,
    forge_deflated, deep,
)  # fmt: skip
