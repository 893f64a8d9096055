"""Checks of the input: dask arrays and data frames in any chunks, and a client."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from distributed import Client, default_client


def find_client(client: Any) -> Client:
    """The given client, or the default client; it must not be that of the running event loop."""
    if client is None:
        try:
            client = default_client()
        except ValueError as error:
            raise ValueError(
                "client must be given if there is no default client; got client=None; "
                "client = distributed.Client() starts one."
            ) from error
    if not isinstance(client, Client):
        raise ValueError(f"client must be a distributed.Client, or None; got client={client!r}.")
    if client.asynchronous:
        raise ValueError(
            "client must not be asynchronous in the thread of its event loop; got one that is; "
            "await asyncio.to_thread(model.fit, X, y) fits in another thread."
        )
    return client


def is_frame(X: Any) -> bool:
    """Whether it is a dask data frame or series."""
    return isinstance(X, dd.DataFrame | dd.Series)


def check_collection(name: str, values: Any) -> Any:
    """Raise if the values are not a dask collection."""
    if not (isinstance(values, da.Array) or is_frame(values)):
        conversion = f"dask.array.from_array({name}, chunks=...)"
        if name.startswith("X"):
            conversion += f" or dask.dataframe.from_pandas({name}, npartitions=...)"
        raise ValueError(
            f"{name} must be a dask array or data frame; got {type(values).__name__}; "
            f"convert it with {conversion}."
        )
    return values


def row_blocks(X: Any, name: str = "X") -> Any:
    """X in blocks of complete rows, of any size, known or unknown."""
    check_collection(name, X)
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional (rows, features); got {X.ndim} dimension(s); "
            f"use {name}.reshape(-1, 1) for a single feature."
        )
    if is_frame(X) or X.numblocks[1] == 1:
        return X
    if np.isnan(X.shape[1]):
        raise ValueError(
            f"{name} must have a known number of features if they are in several chunks; "
            f"call {name}.compute_chunk_sizes() first."
        )
    return X.rechunk({1: -1})


def partitions(client: Client, X: Any) -> list[Any]:
    """Futures of the blocks of rows."""
    return list(client.compute(np.ravel(row_blocks(X).to_delayed()).tolist()))


def check_not_empty(n_rows: int, name: str = "X") -> None:
    """Raise for a collection without rows."""
    if not n_rows:
        raise ValueError(f"{name} must have at least one row; got only empty partitions.")


def check_length(y: Any, n_rows: int, name: str = "y") -> None:
    """Raise unless there is one target per row."""
    if len(y) != n_rows:
        raise ValueError(f"{name} must have one value per row; got {len(y)} for {n_rows} rows.")


def example(X: Any) -> Any:
    """An empty table with the names and dtypes of the features."""
    return X._meta if is_frame(X) else np.zeros((0, int(X.shape[1])))
