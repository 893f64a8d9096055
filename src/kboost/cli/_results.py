"""Results as JSON, for scripts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from kboost.cli._data import Data
from kboost.cli._learn import FitResult
from kboost.cli._show import pipeline_words, warnings_of
from kboost.core.stopping import StopReason

FITTED = (
    "n_columns_",
    "columns_per_kernel_",
    "objective_",
    "dual_gap_",
    "stop_reason_",
    "n_iter_",
    "scoring_",
    "leaderboard_",
    "feature_importances_",
)


def as_json(value: Any) -> str:
    """Standard JSON, with null for NaN and infinity."""
    return json.dumps(plain(value), allow_nan=False)


def plain(value: Any) -> Any:
    """The value as one of JSON."""
    if isinstance(value, StopReason):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    words = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return None if words in ("NaT", "<NA>") else words


def model_facts(model: Any) -> dict[str, Any]:
    """An estimator and its fitted attributes."""
    facts = {name.rstrip("_"): getattr(model, name) for name in FITTED if hasattr(model, name)}
    if hasattr(model, "leaderboard_"):
        facts["choice"] = model.reason_
    return {"estimator": " ".join(repr(model).split()), **facts}


def fit_facts(
    result: FitResult, output: Path, report: Path | None, remarks: list[str]
) -> dict[str, Any]:
    """The result of a fit."""
    rows: Data = result.data
    spreads = zip(result.scores, result.spreads, strict=True)
    return {
        "model": str(output),
        "report": None if report is None else str(report),
        "task": rows.task,
        "target": rows.target,
        "rows": len(rows.y),
        "test_rows": result.n_test,
        "rows_without_target": rows.n_without_target,
        "warnings": warnings_of(rows),
        "remarks": remarks,
        "columns": [vars(column) for column in rows.columns],
        "pipeline": pipeline_words(rows),
        "reason": result.reason,
        "scores": {score.name: score.value for score in result.scores},
        "score_spreads": {score.name: spread for score, spread in spreads if spread is not None},
        "scored": result.where,
        "seconds": result.seconds,
        "interrupted": result.interrupted,
        **model_facts(result.estimator),
    }
