"""What a model says of rows, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kboost._optional import require


def predictions(model: Any, X: Any) -> Any:
    """A column a target, and one a class for its probability."""
    pd = require("pandas", extra="cli", what="kboost predict")
    said = model.predict(X)
    if said.ndim == 1:
        out = {"prediction": said}
    else:
        out = {f"prediction {j + 1}": column for j, column in enumerate(said.T)}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        for place, label in enumerate(model.classes_):
            out[f"probability of {label}"] = probabilities[:, place]
    return pd.DataFrame(out)


def write_table(table: Any, output: Path) -> None:
    """As Parquet or as CSV; the ending says which."""
    if output.suffix in (".parquet", ".pq"):
        table.to_parquet(output)
    else:
        table.to_csv(output, index=False)
