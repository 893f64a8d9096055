"""Checks of the input: dask arrays and data frames in any chunks, and a client."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from distributed import Client, default_client

CONVERSIONS = {
    "X": "dask.array.from_array(X, chunks=...) or dask.dataframe.from_pandas(X, npartitions=...)",
    "y": "dask.array.from_array(y, chunks=...)",
    "sample_weight": "dask.array.from_array(sample_weight, chunks=...)",
}


def find_client(client: Any) -> Client:
    """The given client, or the default client."""
    if client is not None:
        if not isinstance(client, Client):
            raise ValueError(
                f"client must be a distributed.Client, or None; got client={client!r}."
            )
        return client
    try:
        return default_client()
    except ValueError as error:
        raise ValueError(
            "client must be given if there is no default client; got client=None; "
            "client = distributed.Client() starts one."
        ) from error


def is_frame(X: Any) -> bool:
    """Whether it is a dask data frame or series."""
    return isinstance(X, dd.DataFrame | dd.Series)


def check_collection(name: str, values: Any) -> Any:
    """Raise if the values are not a dask collection."""
    if not (isinstance(values, da.Array) or is_frame(values)):
        raise ValueError(
            f"{name} must be a dask array or data frame; got {type(values).__name__}; "
            f"convert it with {CONVERSIONS[name]}."
        )
    return values


def row_blocks(X: Any) -> Any:
    """X in blocks of complete rows, of any size, known or unknown."""
    check_collection("X", X)
    if X.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows, features); got {X.ndim} dimension(s); "
            "use X.reshape(-1, 1) for a single feature."
        )
    if is_frame(X) or X.numblocks[1] == 1:
        return X
    if np.isnan(X.shape[1]):
        raise ValueError(
            "X must have a known number of features if they are in several chunks; "
            "call X.compute_chunk_sizes() first."
        )
    return X.rechunk({1: -1})


def partitions(client: Client, X: Any) -> list[Any]:
    """Futures of the blocks of rows."""
    return list(client.compute(np.ravel(row_blocks(X).to_delayed()).tolist()))


def check_not_empty(n_rows: int) -> None:
    """Raise for a collection without rows."""
    if not n_rows:
        raise ValueError("X must have at least one row; got only empty partitions.")


def check_length(y: Any, n_rows: int) -> None:
    """Raise unless there is one target per row."""
    if len(y) != n_rows:
        raise ValueError(f"y must have one value per row; got {len(y)} for {n_rows} rows.")


def per_row(client: Client, name: str, values: Any) -> Any:
    """The values of all rows on the client; their chunks may differ from those of X."""
    return np.asarray(client.compute(check_collection(name, values)).result())


def example(X: Any) -> Any:
    """An empty table with the names and dtypes of the features."""
    return X._meta if is_frame(X) else np.zeros((0, int(X.shape[1])))
