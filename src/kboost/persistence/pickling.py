"""Pickles of estimators as the bytes of a model file.

An estimator is pickled in the usual way if a file cannot hold it (kernels that are functions, a
subclass of the user's), if it is not fitted, or if it is so large that time matters more.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

from kboost.persistence import container, registry
from kboost.persistence.entry import NOT_SAVED
from kboost.persistence.packing import Packer
from kboost.persistence.unpacking import unpacked

MAX_PACKED = 1 << 22  # bytes of the arrays
_VERSION = "_sklearn_version"


def reduced(model: Any) -> tuple[Any, ...] | None:
    """What pickle is given for an estimator; None for the usual way."""
    entry = registry.entry_of(type(model))
    if entry is None or getattr(model, "n_features_in_", None) is None:
        return None
    packer = Packer()
    try:
        root = packer.value(model, "model")
        packer.check()
        if sum(array.nbytes for array in packer.arrays) > MAX_PACKED:
            return None
        content = container.dump({"nodes": packer.nodes, "root": root}, packer.arrays)
    except (ValueError, RecursionError):
        return None
    state = model.__getstate__()
    return restored, (content, {k: v for k, v in state.items() if k in NOT_SAVED - {_VERSION}})


def restored(content: bytes, others: dict[str, Any]) -> Any:
    """The estimator of a pickle."""
    size = len(content)
    manifest, arrays = container.load(BytesIO(content), "pickle", size, container.MAX_RATIO * size)
    model, _ = unpacked(manifest["nodes"], manifest["root"], arrays)
    vars(model).update(others)
    return model
