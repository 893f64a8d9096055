"""Predictions of a model as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kboost._optional import require


def predictions(model: Any, X: Any) -> Any:
    """One column per target, and one per class with its probability."""
    pd = require("pandas", extra="cli", what="kboost predict")
    predicted = model.predict(X)
    if predicted.ndim == 1:
        out = {"prediction": predicted}
    else:
        out = {f"prediction {j + 1}": column for j, column in enumerate(predicted.T)}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        for k, label in enumerate(model.classes_):
            out[f"probability of {label}"] = probabilities[:, k]
    return pd.DataFrame(out)


def write_table(table: Any, output: Path) -> None:
    """Write Parquet or CSV, depending on the suffix."""
    if output.suffix in (".parquet", ".pq"):
        table.to_parquet(output)
    else:
        table.to_csv(output, index=False)
