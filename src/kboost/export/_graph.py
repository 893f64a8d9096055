"""A builder of ONNX graphs.

The bodies of Scan and Loop have their own builders. They use only inputs and constants of their
own, because tools that rename nodes break references to the outer graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

FLOAT, DOUBLE, INT, BOOL = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.INT64,
    TensorProto.BOOL,
)
STRING = TensorProto.STRING
TYPES: dict[str, int] = {"float32": FLOAT, "float64": DOUBLE}


class Builder:
    """A graph under construction; every `op` returns the name of its output."""

    def __init__(self, prefix: str, dtype: str = "float64") -> None:
        self.prefix, self.dtype = prefix, dtype  # of the kernels' arithmetic
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._numbers = count()
        self._known: dict[bytes, str] = {}

    def name(self) -> str:
        """A new name."""
        return f"{self.prefix}_{next(self._numbers)}"

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Append a node with one output."""
        return self.several(
            kind, *inputs, outs=[self.name() if out is None else out], **attributes
        )[0]

    def several(
        self, kind: str, *inputs: str, outs: Sequence[str], **attributes: Any
    ) -> Sequence[str]:
        """Append a node with outputs of these names."""
        node = helper.make_node(
            kind, list(inputs), list(outs), name=f"{outs[0]}_{kind}", **attributes
        )
        self.nodes.append(node)
        return outs

    def constant(self, value: Any) -> str:
        """A constant, stored once; strings become a tensor of strings."""
        array = np.asarray(value)
        if array.dtype.kind in "UO":
            array = array.astype(object)
        tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), "")
        content = tensor.SerializeToString()
        if content not in self._known:
            self._known[content] = tensor.name = self.name()
            self.constants.append(tensor)
        return self._known[content]

    def double(self, value: Any) -> str:
        """A float64 constant."""
        return self.constant(np.asarray(value, dtype=np.float64))

    def real(self, value: Any) -> str:
        """A constant in the dtype of the kernels."""
        return self.constant(np.asarray(value, dtype=self.dtype))

    def whole(self, value: Any) -> str:
        """An int64 constant."""
        return self.constant(np.asarray(value, dtype=np.int64))

    def cast(self, value: str, kind: int) -> str:
        """The same numbers in another type."""
        return self.op("Cast", value, to=kind)

    def to_real(self, value: str) -> str:
        """Cast from float64 to the dtype of the kernels."""
        return value if self.dtype == "float64" else self.cast(value, TYPES[self.dtype])

    def to_double(self, value: str) -> str:
        """Cast from the dtype of the kernels to float64."""
        return value if self.dtype == "float64" else self.cast(value, DOUBLE)

    def total(self, value: str, axis: int, *, keep: bool = False) -> str:
        """The sum along an axis."""
        return self.op("ReduceSum", value, self.whole([axis]), keepdims=int(keep))

    def total_of(self, values: Sequence[str]) -> str:
        """The sum of matrices."""
        out = values[0]
        for value in values[1:]:
            out = self.op("Add", out, value)
        return out

    def reshape(self, value: str, *shape: int) -> str:
        """The same numbers in another shape."""
        return self.op("Reshape", value, self.whole(shape))

    def length(self, value: str, axis: int) -> str:
        """The size of a tensor along an axis, (1,)."""
        return self.op("Gather", self.op("Shape", value), self.whole([axis]))

    def zeros(self, n_rows: str, n_columns: str, dtype: str) -> str:
        """A zero matrix; its numbers of rows and columns are tensors of shape (1,)."""
        shape = self.op("Concat", n_rows, n_columns, axis=0)
        return self.op(
            "ConstantOfShape", shape, value=numpy_helper.from_array(np.zeros(1, dtype=dtype))
        )

    def inner(self) -> Builder:
        """A builder for the body of a Scan or Loop."""
        return Builder(f"{self.name()}_in", self.dtype)

    def graph(
        self, inputs: Mapping[str, Any], outputs: Mapping[str, Any], name: str = "kboost"
    ) -> GraphProto:
        """The graph; inputs and outputs are types, or pairs of type and shape."""
        return helper.make_graph(
            self.nodes, name, _infos(inputs), _infos(outputs), initializer=self.constants
        )


def _infos(variables: Mapping[str, Any]) -> list[Any]:
    pairs = {n: t if isinstance(t, tuple) else (t, None) for n, t in variables.items()}
    return [helper.make_tensor_value_info(n, kind, shape) for n, (kind, shape) in pairs.items()]
