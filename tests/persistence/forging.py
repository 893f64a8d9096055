"""Model files taken apart, changed, and put together with a correct checksum."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import numpy as np

from benchmarks.mutants import repaired
from kboost.persistence import container
from kboost.persistence.packing import Packer

VERSION = 2


def opened(model: Any) -> tuple[dict[str, Any], list[Any]]:
    """Manifest and arrays of a fitted model."""
    packer = Packer()
    root = packer.value(model, "model")
    content = container.dump({"written_by": {}, "nodes": packer.nodes, "root": root}, packer.arrays)
    return container.load(BytesIO(content), "file", len(content), 1 << 30)


def closed(manifest: dict[str, Any], arrays: list[Any]) -> bytes:
    """The file of a manifest and arrays, whatever they are."""
    specs = [[array.dtype.str, list(array.shape), "C", 0] for array in arrays]
    text = json.dumps({**manifest, "arrays": specs}).encode()
    return repaired(VERSION, text, b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))


def nodes_of(manifest: dict[str, Any], cls: str) -> list[int]:
    """The places of the objects of a class."""
    nodes = enumerate(manifest["nodes"])
    return [i for i, node in nodes if node.get("object", {}).get("class") == cls]


def inserted(manifest: dict[str, Any], at: int, nodes: list[Any]) -> None:
    """Put nodes before the one at a place; references to later ones are moved."""

    def moved(value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {"ref"}:
            return {"ref": value["ref"] + (len(nodes) if value["ref"] >= at else 0)}
        if isinstance(value, dict):
            return {key: moved(each) for key, each in value.items()}
        return [moved(each) for each in value] if isinstance(value, list) else value

    before = manifest["nodes"][:at]
    manifest["nodes"] = [*before, *nodes, *map(moved, manifest["nodes"][at:])]
    manifest["root"] = moved(manifest["root"])
