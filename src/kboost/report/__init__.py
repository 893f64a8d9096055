"""A report on a fitted model: one HTML file that needs no other (extra ``kboost[plots]``).

`facts` finds the numbers, `sections` lists the parts, `charts` draws them, `page` is the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import get_tags

import kboost
from kboost.plotting._fitted import unwrap
from kboost.report.page import page
from kboost.report.sections import all_sections
from kboost.report.subject import Subject

__all__ = ["write_report"]


def write_report(
    path: Any,
    model: Any,
    X: Any,
    y: Any,
    *,
    X_learn: Any = None,
    y_learn: Any = None,
    seen: bool = False,
    target: str = "y",
    model_path: Any = None,
    seconds: float | None = None,
    reason: str = "",
    left_out: Sequence[tuple[str, str]] = (),
) -> None:
    """Write a report on a fitted model, judged by rows.

    Parameters
    ----------
    path : str or path-like
        The file; HTML, with everything inside.
    model : estimator
        A fitted classifier or regressor of kboost, or a pipeline that ends in one.
    X : array-like, data frame or CSR matrix of shape (n, n_features)
        Rows to judge by, best such as the model has not seen.
    y : array-like of shape (n,)
        Their targets.
    X_learn, y_learn : optional
        The rows learnt from: a support vector machine is fitted to them, to stand beside.
    seen : bool, default=False
        Whether the model was fitted to these very rows; the report says so.
    target : str, default="y"
        What y is.
    model_path : str or path-like, optional
        The file that the model is in, for the lines that load it and for its size.
    seconds : float, optional
        How long the fit took.
    reason : str, optional
        Why this estimator.
    left_out : sequence of (str, str), optional
        Columns that were not learnt from, and why.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from kboost import KernelBoostClassifier
    >>> from kboost.report import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = KernelBoostClassifier(C=1.0).fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.html"
    ...     write_report(path, model, X[1::2], y[1::2], target="species")
    ...     path.read_text("utf-8").startswith("<!doctype html>")
    True
    """
    inner = unwrap(model)
    check_reportable(inner)
    if np.ndim(y) != 1:
        raise ValueError(f"y must be one target a row for a report; got shape {np.shape(y)}.")
    file = None if model_path is None else Path(model_path)
    subject = Subject(
        model, inner, X, y, X_learn, y_learn, seen, target, file, seconds, reason, tuple(left_out)
    )
    title = f"{target}: {type(inner).__name__}"
    n = len(subject.y)
    under = f"{inner.n_columns_:,} columns, judged on {n:,} rows"
    under += " it was fitted to" if seen else " it had not seen" if X_learn is not None else ""
    text = page(title, under, all_sections(subject), f"Written by kboost {kboost.__version__}.")
    Path(path).write_text(text, encoding="utf-8")


def check_reportable(estimator: Any) -> None:
    """Refuse an estimator, fitted or not, that there is no report on."""
    kind = get_tags(estimator).estimator_type
    if kind not in ("classifier", "regressor"):
        raise TypeError(
            "a report is on a classifier or a regressor, judged by targets; "
            f"got {type(estimator).__name__}."
        )
