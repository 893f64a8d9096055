"""Text: the leading directions of its letter sequences, and its length.

Each text is a vector of length one over the most frequent sequences of three characters, in lower
case. Before it is scaled, the entry of a sequence g is

    (1 + log count of g in the text) (1 + log((1 + W) / (1 + W_g)))

where W texts are given, W_g of them with the sequence g (scikit-learn's TfidfVectorizer with
`sublinear_tf`). The columns of the output are the products of these vectors with the leading
eigenvectors of their second moments: a truncated singular value decomposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from kboost._typing import FloatArray, IntArray
from kboost.preparation.levels import counts
from kboost.preparation.typed_column import TypedColumn

_VOCABULARY = 1000
_TEXTS = 5000  # distinct texts from which the vocabulary is taken
_CHARACTERS = 500  # of each text, at most
_BITS = 21  # of a character
_NOTHING = 1e-9  # relative size of a direction


@dataclass(frozen=True)
class TextEncoding:
    """Letter sequences, their weights, and the directions."""

    vocabulary: list[str]  # of three characters each, sorted
    idf: FloatArray  # (sequences,)
    directions: FloatArray  # (sequences, k)
    has_indicator: bool

    @property
    def reads(self) -> str:
        return "strings"

    def names(self, name: str) -> list[str]:
        parts = [f"{name}:text{j}" for j in range(self.directions.shape[1])]
        return [*parts, f"{name}:log_length"] + [f"{name}:missing"] * self.has_indicator

    @property
    def one_hot(self) -> list[bool]:
        return [False] * (self.directions.shape[1] + 1) + [True] * self.has_indicator

    def encode(self, column: TypedColumn) -> FloatArray:
        texts = column.levels
        rows = _vectors(texts, _keys(self.vocabulary), self.idf) @ self.directions
        length = np.log1p([len(text) for text in texts])
        of_text = np.column_stack([rows, length])
        of_text = np.vstack([of_text, np.zeros(of_text.shape[1])])  # of a missing value
        out = of_text[column.values]
        return np.column_stack([out, column.missing]) if self.has_indicator else out


def fit_text(column: TypedColumn, weight: FloatArray, n_directions: int) -> TextEncoding:
    """The encoding of a column of texts."""
    count = counts(column, weight)[:-1]
    n = len(column.levels)
    chosen = np.unique(np.linspace(0, n - 1, min(n, _TEXTS)).astype(np.intp))
    texts, mass = [column.levels[i] for i in chosen], count[chosen]
    document, keys = _sequences(texts)
    distinct, index = np.unique(keys, return_inverse=True)
    pairs = np.unique(document * len(distinct) + index)
    document, index = pairs // max(1, len(distinct)), pairs % max(1, len(distinct))
    n_texts = np.bincount(index, minlength=len(distinct))
    often = np.argsort(-n_texts, kind="stable")[:_VOCABULARY]
    kept = np.sort(often[n_texts[often] > 1])
    share = np.bincount(index, weights=mass[document], minlength=len(distinct))[kept]
    idf = np.log((1 + mass.sum()) / (1 + share)) + 1
    rows = _vectors(texts, distinct[kept], idf)
    directions = _directions(rows, mass, n_directions)
    return TextEncoding(_words(distinct[kept]), idf, directions, bool(column.missing.any()))


def _directions(rows: Any, mass: FloatArray, k: int) -> FloatArray:
    """Leading eigenvectors of rows' diag(mass) rows, (sequences, at most k), with fixed signs."""
    n = rows.shape[1]
    if not n:
        return np.zeros((0, 0))
    moments = (rows.multiply(mass[:, None]).T @ rows).toarray()
    values, vectors = eigh((moments + moments.T) / 2, subset_by_index=(max(0, n - k), n - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors[:, values > _NOTHING * max(values[0], 0.0)]
    largest = np.abs(vectors).argmax(axis=0)
    directions: FloatArray = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.ascontiguousarray(directions)


def _vectors(texts: Sequence[str], vocabulary: IntArray, idf: FloatArray) -> Any:
    """The texts as sparse rows of length one."""
    n, m = len(texts), len(vocabulary)
    if not n or not m:
        return sparse.csr_matrix((n, m))
    document, keys = _sequences(texts)
    column = np.minimum(np.searchsorted(vocabulary, keys), m - 1)
    in_vocabulary = vocabulary[column] == keys
    pairs, count = np.unique(
        document[in_vocabulary] * m + column[in_vocabulary], return_counts=True
    )
    document, column = pairs // m, pairs % m
    values = (1 + np.log(count)) * idf[column]
    norm = np.sqrt(np.bincount(document, weights=values**2, minlength=n))
    rows = sparse.csr_matrix((values / norm[document], (document, column)), shape=(n, m))
    return rows


def _sequences(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """The text and the key of each sequence of three characters."""
    plain = [" " + " ".join(text[:_CHARACTERS].lower().split()) + " " for text in texts]
    characters = np.frombuffer(
        "\0".join(t.replace("\0", "") for t in plain).encode("utf-32-le", "replace"), dtype="<u4"
    ).astype(np.int64)
    document = np.cumsum(characters == 0)
    first, second, third = characters[:-2], characters[1:-1], characters[2:]
    inside = (first != 0) & (second != 0) & (third != 0)
    keys = (first << 2 * _BITS) | (second << _BITS) | third
    return document[:-2][inside], keys[inside]


def _keys(words: Sequence[str]) -> IntArray:
    letters = np.array([[ord(c) for c in word] for word in words], dtype=np.int64).reshape(-1, 3)
    keys: IntArray = (letters[:, 0] << 2 * _BITS) | (letters[:, 1] << _BITS) | letters[:, 2]
    return keys


def _words(keys: IntArray) -> list[str]:
    mask = (1 << _BITS) - 1
    return [chr(k >> 2 * _BITS) + chr((k >> _BITS) & mask) + chr(k & mask) for k in keys.tolist()]
