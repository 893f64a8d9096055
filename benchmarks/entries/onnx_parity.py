"""ONNX graphs in onnxruntime beside the estimators, on 10,000 rows.

Every kind of model on Friedman's function (10 features, 500 training rows); the rows are new, and
rounded to the type of the graph before both see them. `worst` is the largest difference of decision
values (predictions, of regressors), `relative` the same over the largest sum of the absolute shares
of the centres in a value, which is what float32 promises to be small against. `labels` is the share
of rows with the same label; where the decision is nothing but rounding it may differ. Probabilities
differ by at most the last figure.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Row

N_TRAIN, N_ROWS, SEED = 500, 10_000, 0
LIMIT = {"float64": 1e-12, "float32": 1e-5}
DTYPES = ("float64", "float32")
HEAD = ("model", "columns", "type", "worst", "relative", "labels", "probabilities")
MODELS = (
    "every kernel, three classes",
    "default library",
    "default library, regression",
    "active kernels",
    "halfspaces",
    "novelty",
    "sparse, three classes, log",
    "cells, two partitions",
)


def run(bench: Bench) -> Report:
    lines, worst = [], dict.fromkeys(DTYPES, 0.0)
    for name in MODELS:
        job = {"entry": "onnx_parity", "model": name, "rows": N_ROWS, "seed": SEED}
        row = must(bench.other(job, partial(measure, name), name))
        for dtype in DTYPES:
            found = row[dtype]
            worst[dtype] = max(worst[dtype], found["relative"])
            lines.append([name, row["columns"], dtype, *(found[key] for key in HEAD[3:])])
    return Report(
        head=HEAD,
        lines=lines,
        settings={"rows": N_ROWS, "n_train": N_TRAIN, "seed": SEED},
        ratios={f"worst relative, {dtype}": value for dtype, value in worst.items()},
        criterion="relative difference at most 1e-12 in float64 and 1e-5 in float32",
        met=all(worst[dtype] <= LIMIT[dtype] for dtype in DTYPES),
    )


def measure(name: str) -> Row:
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(N_TRAIN + N_ROWS, noise=0.5, random_state=SEED)
    model = fitted(name, X[:N_TRAIN], y[:N_TRAIN])
    return {
        "status": "ok",
        "columns": model.n_columns_,
        **{dtype: compare(model, X[N_TRAIN:].astype(dtype), dtype) for dtype in DTYPES},
    }


def compare(model: Any, rows: Any, dtype: str) -> dict[str, Any]:
    import onnxruntime

    from kboost.export.onnx import to_onnx

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = to_onnx(model, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(names, {"X": rows}), strict=True))
    ours = getattr(model, "decision_function", model.predict)(rows)
    theirs = found.get("decision", found.get("prediction"))
    worst = float(np.abs(ours - theirs).max())
    size = max(
        float(np.abs(model.explain(part).by_center).sum(axis=1).max())
        for part in np.array_split(rows, 100)
    )
    out: dict[str, Any] = {"worst": worst, "relative": worst / size, "labels": None}
    if "label" in found:
        out["labels"] = float(np.mean(found["label"] == model.predict(rows)))
    out["probabilities"] = None
    if "probabilities" in found:
        away = found["probabilities"] - model.predict_proba(rows)
        out["probabilities"] = float(np.abs(away).max())
    return out


def fitted(name: str, X: Any, y: Any) -> Any:
    """The model of that name."""
    import kboost
    from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
    from kboost.settings import Cells

    three = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))]
    two = (y > np.median(y)).astype(int)
    every = [
        Linear(on="ranks"),
        Polynomial(2, on="standard"),
        Polynomial(5, gamma=0.1, columns=[0, 1, 3]),
        Sigmoid(columns=[2, 3]),
        Gaussian("mean", on="ranks"),
        Gaussian("median", columns=[0, 1, 2, 3, 4]),
        Laplacian("mean", on="ranks"),
        Laplacian("median", columns=[0, 1], on="standard"),
        *(Matern(nu=nu) for nu in (0.5, 1.5, 2.5)),
        "cosine",
        "chi2",
        2.0 * Linear() + Gaussian(0.3) * Polynomial(2, columns=[0]),
    ]
    makers: dict[str, Any] = {
        "every kernel, three classes": lambda: kboost.KernelBoostClassifier(every, C=1.0).fit(
            X, three
        ),
        "default library": lambda: kboost.KernelBoostClassifier(C=1.0).fit(X, two),
        "default library, regression": lambda: kboost.KernelBoostRegressor(C=1.0).fit(X, y),
        "active kernels": lambda: kboost.KernelBoostRegressor("active", C=1.0, max_iter=10).fit(
            X, y
        ),
        "halfspaces": lambda: kboost.KernelBoostRegressor("halfspaces", C=1.0, max_iter=30).fit(
            X, y
        ),
        "novelty": lambda: kboost.KernelBoostNovelty().fit(X),
        "sparse, three classes, log": lambda: kboost.SparseKernelClassifier(
            loss="log", max_columns=100
        ).fit(X, three),
        "cells, two partitions": lambda: kboost.SparseKernelRegressor(
            cells=Cells(100, partitions=2)
        ).fit(X, y),
    }
    return makers[name]()
