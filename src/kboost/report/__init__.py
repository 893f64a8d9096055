"""A report on a fitted model as one self-contained HTML file (extra ``kboost[plots]``).

`sections` lists the sections in their order, `charts` draws, `page` makes HTML. All rows are
scored; everything else is measured on samples of them, so that the time is bounded.
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
from kboost.report.report_data import ReportData
from kboost.report.sections import all_sections

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
    na: Sequence[str] | None = None,
    seconds: float | None = None,
    reason: str = "",
    left_out: Sequence[tuple[str, str]] = (),
) -> None:
    """Write a report on a fitted model, with scores on given rows.

    Parameters
    ----------
    path : str or path-like
        HTML file to write.
    model : estimator
        A fitted classifier or regressor of kboost, or a pipeline that ends in one.
    X : array-like, data frame or CSR matrix of shape (n, n_features)
        Rows to score the model on, preferably not used for training.
    y : array-like of shape (n,)
        Targets of the rows.
    X_learn, y_learn : optional
        The training rows, to which gradient-boosted trees and a support vector machine are fitted
        for comparison; drift is measured between them and X.
    seen : bool, default=False
        Whether X are the training rows; the report states it.
    target : str, default="y"
        Name of the target.
    model_path : str or path-like, optional
        Model file, for the code that loads it and for its size.
    na : sequence of str, optional
        Words for missing values of the fit, for the same code.
    seconds : float, optional
        Time of the fit.
    reason : str, optional
        Why the estimator was chosen.
    left_out : sequence of (str, str), optional
        Columns that were not used, and why.

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
        raise ValueError(f"y must have one value per row for a report; got shape {np.shape(y)}.")
    file = None if model_path is None else Path(model_path)
    subject = ReportData(
        model,
        inner,
        X,
        y,
        X_learn,
        y_learn,
        seen,
        target,
        file,
        seconds,
        reason,
        tuple(left_out),
        None if na is None else tuple(na),
    )
    title = f"{target}: {type(subject.estimator).__name__}"
    n = len(subject.y)
    under = f"{inner.n_columns_:,} terms, judged on {n:,} rows"
    under += " it was fitted to" if seen else " it had not seen" if X_learn is not None else ""
    text = page(title, under, all_sections(subject), f"Written by kboost {kboost.__version__}.")
    Path(path).write_text(text, encoding="utf-8")


def check_reportable(estimator: Any) -> None:
    """Raise if there is no report for the estimator, which need not be fitted."""
    kind = get_tags(estimator).estimator_type
    if kind not in ("classifier", "regressor"):
        raise TypeError(
            "estimator must be a classifier or a regressor for a report; "
            f"got {type(estimator).__name__}."
        )
