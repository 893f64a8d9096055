"""Arrays as few bytes, without loss.

Most numbers of a model come from a table, which has few digits: 17.99 is 1799 / 100, a rank is an
integer over twice the number of rows. An array is cut into segments: the columns of a matrix, the
increasing runs of a vector. For each segment a divisor q is sought with

    x_i = m_i / q    exactly as computed, m_i integers.

The integers, or their differences, are written with as few bytes as the largest needs: first all
lowest bytes, then all next ones, which deflates well. A segment without a divisor is written as it
is, byte planes again. Decoding repeats the division, so every bit comes back; `encode` verifies it.

A code is ``[width, differences, divisors, lengths]``: bytes per integer, whether they are
differences, one divisor per segment (0: none), and the lengths of the segments (none: the columns
of a matrix). The code 0 stands for the plain bytes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.persistence.errors import FormatError

Array = np.ndarray[Any, Any]
Code = Any  # JSON: 0, or [width, differences, divisors, lengths]

PLAIN = 0
MAX_CODED = 1 << 22  # bytes of an array; larger ones are written without coding
_POWERS = tuple(10**k for k in range(10))
_LARGEST = 1 << 53  # integers up to here are exact in float64
_SHORT = 4  # columns and runs are segments if they are this long
_MOST = 4096  # segments


def encode(flat: Array, shape: tuple[int, ...]) -> tuple[Code, bytes]:
    """Code and bytes of the values of an array in C order."""
    plain = PLAIN, flat.tobytes()
    if not flat.size > 1 or flat.nbytes > MAX_CODED or flat.dtype.kind not in "iuf":
        return plain
    values, lengths = _segments(flat, shape)
    segments = np.split(values, np.cumsum(_lengths(lengths, shape))[:-1])
    coded: list[tuple[int, IntArray]] = []
    for segment in segments:  # what divides one segment may divide the next
        coded.append(_divided(segment, dict.fromkeys(q for q, _ in coded if q)))
    candidates: list[tuple[Code, bytes]] = [plain]
    for differences in (0, 1):
        width, body = _body(segments, coded, bool(differences))
        candidates.append(([width, differences, [q for q, _ in coded], lengths], body))
    for code, body in sorted(candidates, key=lambda pair: len(zlib.compress(pair[1], 6))):
        if decode(code, body, flat.dtype, shape).tobytes() == flat.tobytes():
            return code, body
    return plain


def size_of(code: Code, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Bytes of an array with a code, which is checked."""
    n = math.prod(shape)
    if type(code) is int and code == PLAIN:
        return n * dtype.itemsize
    width, _, divisors, lengths = _checked(code, dtype, shape)
    n_integers = sum(m for q, m in zip(divisors, _lengths(lengths, shape), strict=True) if q)
    return n_integers * width + (n - n_integers) * dtype.itemsize


def decode(code: Code, body: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The values of an array in C order, from a checked code and its bytes."""
    if type(code) is int:
        return np.frombuffer(body, dtype=dtype).copy()
    width, differences, divisors, table = _checked(code, dtype, shape)
    lengths = _lengths(table, shape)
    integral: BoolArray = np.repeat(np.array(divisors) > 0, lengths)
    n_integers = int(integral.sum())
    values = np.empty(len(integral), dtype=dtype)
    rest = _from_planes(body[n_integers * width :], dtype.itemsize)
    values[~integral] = np.frombuffer(rest.tobytes(), dtype=dtype)
    integers = _from_zigzag(_from_planes(body[: n_integers * width], width))
    at = start = 0
    for q, length in zip(divisors, lengths, strict=True):
        if q:
            m = integers[at : at + length]
            m = np.cumsum(m) if differences else m
            with np.errstate(over="ignore", invalid="ignore"):
                values[start : start + length] = m if dtype.kind in "iu" else m / q
            at += length
        start += length
    if len(shape) < 2 or table:
        return values
    return np.ascontiguousarray(values.reshape(shape[-1], -1).T).reshape(-1)


def _segments(flat: Array, shape: tuple[int, ...]) -> tuple[Array, list[int]]:
    """The values, segment after segment, and the lengths; none for the columns of a matrix."""
    if len(shape) > 1:
        columns = flat.reshape(-1, shape[-1])
        if len(columns) < _SHORT or shape[-1] > _MOST:
            return flat, [len(flat)]
        return columns.T.reshape(-1), []
    with np.errstate(over="ignore", invalid="ignore"):
        ends = np.flatnonzero(~(flat[1:] > flat[:-1])) + 1
    if len(flat) < _SHORT * (len(ends) + 1) or len(ends) >= _MOST:
        return flat, [len(flat)]
    return flat, np.diff([0, *ends.tolist(), len(flat)]).tolist()


def _divided(segment: Array, others: Iterable[int]) -> tuple[int, IntArray]:
    """The first divisor that is found, and the integers; 0 if there is none."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = segment.astype(np.float64)
        size = np.abs(x)
        if not np.isfinite(size).all() or size.max(initial=0.0) >= _LARGEST:
            return 0, np.zeros(0, dtype=np.int64)
        if segment.dtype.kind in "iu":
            return 1, segment.astype(np.int64)
        for q in dict.fromkeys((*_POWERS, *_guesses(x), *others)):
            m = np.rint(x * q)
            if np.abs(m).max() < _LARGEST and same_bits((m / q).astype(segment.dtype), segment):
                return q, m.astype(np.int64)
    return 0, np.zeros(0, dtype=np.int64)


def _guesses(x: FloatArray) -> list[int]:
    """Divisors for multiples of one over an integer: ranks are."""
    steps = np.abs(np.concatenate([x, np.diff(x)]))
    least = float(steps[steps > 0].min(initial=1.0))
    return [k * round(1 / least) for k in range(1, 5)] if 1e-9 < least < 1 else []


def same_bits(one: Array, other: Array) -> bool:
    """Whether two arrays are equal, the signs of zeros included."""
    return one.tobytes() == other.tobytes()


def _body(
    segments: list[Array], coded: list[tuple[int, IntArray]], differences: bool
) -> tuple[int, bytes]:
    """Width and bytes: the integers in planes, then the other segments in planes."""
    none = np.zeros(0, dtype=np.int64)
    pieces = [np.diff(m, prepend=0) if differences else m for q, m in coded if q]
    integers = np.concatenate([none, *pieces])
    zigzag = (integers << 1) ^ (integers >> 63)
    width = max(1, (int(zigzag.max(initial=0)).bit_length() + 7) // 8)
    planes = zigzag.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :width]
    rest = [s for (q, _), s in zip(coded, segments, strict=True) if not q]
    bytes_ = np.concatenate(rest).view(np.uint8) if rest else np.zeros(0, dtype=np.uint8)
    itemsize = segments[0].dtype.itemsize
    return width, planes.T.tobytes() + bytes_.reshape(-1, itemsize).T.tobytes()


def _from_planes(body: bytes, width: int) -> Array:
    return np.frombuffer(body, dtype=np.uint8).reshape(width, -1).T


def _from_zigzag(planes: Array) -> IntArray:
    wide = np.zeros((len(planes), 8), dtype=np.uint8)
    wide[:, : planes.shape[1]] = planes
    zigzag = wide.reshape(-1).view("<i8").astype(np.int64)
    integers: IntArray = (zigzag >> 1) ^ -(zigzag & 1)
    return integers


def _lengths(lengths: list[int], shape: tuple[int, ...]) -> list[int]:
    """The length of each segment."""
    n = math.prod(shape)
    if not lengths and len(shape) > 1:
        return [n // max(1, shape[-1])] * shape[-1]
    if sum(lengths) != n:
        raise FormatError("the segments of an array do not fill it")
    return lengths


def _checked(
    code: Code, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> tuple[int, int, list[int], list[int]]:
    if not (isinstance(code, list) and len(code) == 4 and dtype.kind in "iuf"):
        raise FormatError("an array has an unknown code")
    width, differences, divisors, lengths = code
    if not (
        _whole(width, 1, 8)
        and _whole(differences, 0, 1)
        and isinstance(divisors, list)
        and isinstance(lengths, list)
        and all(_whole(q, 0, _LARGEST) for q in divisors)
        and all(_whole(n, 1, MAX_CODED) for n in lengths)
        and math.prod(shape) <= MAX_CODED
        and len(divisors) == len(_lengths(lengths, shape))
    ):
        raise FormatError("an array has an invalid code")
    return width, differences, divisors, lengths


def _whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high
