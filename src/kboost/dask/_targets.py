"""Targets, weights and labels: one number per row comes to the client.

The client needs a number per row in any case: the residuals, or the duals of a linear program.
Texts and categories stay on the workers. A worker numbers the labels of its partitions; the client
gets the distinct labels and the numbers, of one byte for up to 256 labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from distributed import Client

from kboost.dask._input import check_collection, row_blocks
from kboost.kernels.rows import narrow


def per_row(client: Client, name: str, values: Any) -> Any:
    """The values of all rows on the client; their chunks may differ from those of X."""
    check_collection(name, values)
    values = row_blocks(values, name) if values.ndim == 2 else values
    blocks = client.compute(np.ravel(values.to_delayed()).tolist())
    sent = client.gather([client.submit(_sent, block, pure=False) for block in blocks])
    return np.concatenate([_received(*piece) for piece in sent])


def _received(sent: Any, numbers: Any) -> Any:
    """The values of a partition; `sent` are its labels, or the dtype of its numbers."""
    return numbers.astype(sent) if isinstance(sent, np.dtype) else sent[numbers]


# On a worker -------------------------------------------------------------------------------------


def _sent(block: Any) -> tuple[Any, Any]:
    """Labels and their numbers, or a dtype and numbers, in the shortest type."""
    is_plain = not isinstance(block, pd.Series) or pd.api.types.is_numeric_dtype(block.dtype)
    values = np.asarray(block) if is_plain else block
    if not is_plain or (values.dtype.kind in "OU" and values.ndim == 1):
        numbers, labels = pd.factorize(values, use_na_sentinel=False)
        return np.asarray(labels), numbers.astype(np.min_scalar_type(len(labels)))
    if values.dtype.kind in "iuf":
        return values.dtype, narrow(values, np.int8, np.int16, np.float32)
    return values.dtype, values
