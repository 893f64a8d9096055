"""Models as ONNX graphs, alone or inside a pipeline through skl2onnx.

Views and folded terms are computed in float64, kernels in the requested dtype. A graph uses only
standard ONNX operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kboost._optional import require

__all__ = ["register", "to_onnx"]

OPSET = 18
ML, ML_OPSET = "ai.onnx.ml", 3  # standard operators on strings


def to_onnx(model: Any, *, dtype: str = "float64", opset: int = OPSET) -> Any:
    """Return a fitted estimator as an ONNX model.

    Parameters
    ----------
    model : estimator
        A fitted kboost estimator without user-defined kernel functions, and without text columns.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input, of the kernel values and of the numeric outputs.
    opset : int, default=18
        Version of the operators, at least 18.

    Returns
    -------
    onnx.ModelProto
        Its input is a dense ``X`` of shape (n, n_features). An AutoKernel estimator of a table with
        columns other than numbers has one input of shape (n, 1) per column that is used, with its
        name: strings ("" is a missing value), or dates as int64, microseconds since 1970. The
        outputs have the shapes of the methods of the estimator: ``label``, ``decision`` and, if
        there is a `predict_proba`, ``probabilities`` of a classifier; ``prediction`` of a
        regressor; ``label`` and ``decision`` of a novelty detector.

    See Also
    --------
    register : For pipelines.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.export.onnx import to_onnx
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = KernelBoostRegressor(C=1.0).fit(X, np.sinc(X[:, 0]))
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> (found,) = session.run(["prediction"], {"X": X})
    >>> bool(np.abs(found - model.predict(X)).max() < 1e-10)
    True
    """
    onnx = require("onnx", extra="onnx", what="kboost.export.onnx")
    from kboost.export import _heads, _tables
    from kboost.export._graph import TYPES, Builder

    if dtype not in TYPES:
        raise ValueError(f"dtype must be 'float64' or 'float32'; got dtype={dtype!r}.")
    if not isinstance(opset, int) or opset < OPSET:
        raise ValueError(f"opset must be an integer of at least {OPSET}; got opset={opset!r}.")
    _heads.check_model(model)
    inputs = _tables.graph_inputs(model, dtype)
    builder = Builder(_prefix(inputs), dtype)
    outputs = _heads.all_outputs(model, builder, _tables.prepared(model, builder))
    for what, name in outputs.names.items():
        builder.op("Identity", name, out=what)
    graph = builder.graph(inputs, outputs.kinds, type(model).__name__)
    opsets = [onnx.helper.make_opsetid("", opset)]
    if any(node.domain == ML for node in graph.node):
        opsets.append(onnx.helper.make_opsetid(ML, ML_OPSET))
    proto = onnx.helper.make_model(
        graph,
        opset_imports=opsets,
        producer_name="kboost",
        ir_version=onnx.helper.find_min_ir_version_for(opsets),
    )
    onnx.checker.check_model(proto)
    return proto


def _prefix(inputs: Iterable[str]) -> str:
    """The beginning of the names inside a graph, which is not that of an input."""
    prefix = "k"
    while any(name.startswith(f"{prefix}_") for name in inputs):
        prefix += "k"
    return prefix


def register() -> None:
    """Register the kboost estimators with skl2onnx, so that it converts pipelines with them.

    Importing kboost does not register them. The function may be called more than once.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kboost import KernelBoostRegressor
    >>> from kboost.export.onnx import register
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = make_pipeline(StandardScaler(), KernelBoostRegressor(C=1.0))
    >>> register()
    >>> made = skl2onnx.to_onnx(model.fit(X, np.sinc(X[:, 0])), X[:1])
    """
    require("skl2onnx", extra="onnx", what="kboost.export.onnx.register")
    from kboost.export._skl2onnx import register_all

    register_all()
