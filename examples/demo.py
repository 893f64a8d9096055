"""Fit mixtures of kernels with default settings: `make demo`.

`AutoKernelClassifier` searches for accuracy, `KernelBoostClassifier` for few columns with a duality
gap. Both are compared with scikit-learn's SVC and HistGradientBoosting. A picture, a model file and
a report are written to demo/.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import kboost
from kboost import AutoKernelClassifier, KernelBoostClassifier
from kboost.plotting import plot_decision, plot_kernels, plot_trace
from kboost.report import write_report

OUT = Path(__file__).resolve().parents[1] / "demo"
MANY = 100_000  # rows to predict


# The models ---------------------------------------------------------------------------------------


@dataclass
class Line:
    """One row of the table of models."""

    name: str
    accuracy: float
    terms: str
    size: int  # bytes
    seconds: float  # to predict MANY rows


def models() -> dict[str, Any]:
    """All models with default settings; the SVC needs scaled features."""
    return {
        "AutoKernel": AutoKernelClassifier(),
        "KernelBoost": KernelBoostClassifier(),
        "SVC": make_pipeline(StandardScaler(), SVC()),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }


def describe(name: str, model: Any, accuracy: float, X: np.ndarray) -> Line:
    """Measure size and speed of a fitted model; X is repeated or truncated to MANY rows."""
    rows = np.resize(X, (MANY, X.shape[1]))
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 1:
        start = time.perf_counter()
        model.predict(rows)
        seconds.append(time.perf_counter() - start)
    return Line(name, accuracy, terms(model), len(pickle.dumps(model)), min(seconds))


def terms(model: Any) -> str:
    """Return the number of terms that a prediction evaluates."""
    if isinstance(model, AutoKernelClassifier | KernelBoostClassifier):
        return f"{model.n_columns_:4d} columns"
    if isinstance(model, HistGradientBoostingClassifier):
        return f"{model.n_iter_ * model.n_trees_per_iteration_:4d} trees"
    return f"{model[-1].n_support_.sum():4d} support vectors"


def on_breast_cancer() -> tuple[KernelBoostClassifier, list[Line]]:
    """Accuracy by cross-validation, everything else from a fit to all rows."""
    X, y = load_breast_cancer(return_X_y=True)
    heading("Breast cancer", f"{len(y)} rows, {X.shape[1]} features, fitted step by step")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    lines = []
    for name, model in models().items():
        model.set_params(**({"verbose": 1} if name == "KernelBoost" else {})).fit(X, y)
        if name == "KernelBoost":
            ours = model.set_params(verbose=0)
        accuracy = cross_val_score(model, X, y, cv=folds).mean()
        lines.append(describe(name, model, accuracy, X))
    return ours, lines


def on_moons() -> tuple[KernelBoostClassifier, list[Line], tuple[np.ndarray, np.ndarray]]:
    """Two features, so that the model can be plotted; accuracy on new rows."""
    X, y = make_moons(1000, noise=0.25, random_state=0)
    X_new, y_new = make_moons(MANY, noise=0.25, random_state=1)
    fitted = {name: model.fit(X, y) for name, model in models().items()}
    lines = [describe(n, m, m.score(X_new, y_new), X_new) for n, m in fitted.items()]
    return fitted["KernelBoost"], lines, (X, y)


# Output -------------------------------------------------------------------------------------------


def heading(title: str, rest: str = "") -> None:
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    title = f"\033[1m{title}\033[0m" if bold else title
    print(f"\n{title}{': ' if rest else ''}{rest}", flush=True)


def print_lines(lines: list[Line], accuracy: str) -> None:
    print(f"  {'':<22}{accuracy:>16}   {'terms':<22}{'size':>8}   {MANY:,} rows in")
    for x in lines:
        print(
            f"  {x.name:<22}{100 * x.accuracy:>14.1f} %   {x.terms:<22}"
            f"{x.size / 1000:>5.0f} kB   {x.seconds:>11.2f} s"
        )


def print_kernels(model: KernelBoostClassifier) -> None:
    """Print the number of columns per kernel of the library."""
    rows = [(label(k), n) for k, n in per_kernel(model)]
    width, most = max(len(name) for name, _ in rows), max(n for _, n in rows)
    mark = "█" if can_print("█") else "#"
    for name, n in rows:
        print(f"  {name:<{width}}  {n:>4}  {mark * round(30 * n / max(most, 1))}".rstrip())


def print_search(model: AutoKernelClassifier) -> None:
    """Print the candidates, the choice and the most important columns."""
    for line in model.leaderboard_:
        print(f"  {line['candidate']:<22}{-line['score']:>8.4f} ± {line['spread']:.4f}")
    print(f"  {model.reason_}")
    order = np.argsort(-model.feature_importances_)[:5]
    shares = [f"{model.feature_names_in_[j]} {model.feature_importances_[j]:.0%}" for j in order]
    print(f"  most important: {', '.join(shares)}")


def per_kernel(model: KernelBoostClassifier) -> list[tuple[Any, int]]:
    return [(k, model.columns_per_kernel_[repr(k)]) for k in model.kernels_]


def label(kernel: Any) -> str:
    """Return a label such as `Gaussian, gamma 0.25`, marked if its features are ranks."""
    words = [type(kernel).__name__]
    if words[0] == "Polynomial":
        words.append(f"degree {kernel.degree}")
    elif hasattr(kernel, "gamma"):
        words.append(f"gamma {kernel.gamma:.2g}")
    return ", ".join(words) + (" (ranks)" if "Ranks" in repr(kernel) else "")


def certificate(model: KernelBoostClassifier, X: np.ndarray) -> list[str]:
    """Describe the gap, and why the fit stopped."""
    candidates = len(model.kernels_) * len(np.unique(X, axis=0))  # centres are distinct points
    gap = max(model.dual_gap_, np.finfo(float).eps)
    return [
        f"objective {model.objective_:.6g}, relative gap at most {gap:.0e}",
        f"to the optimum over {candidates:,} candidate columns",
        f"{model.n_iter_} steps in {model.trace_[-1].seconds:.2f} s; "
        + str(model.stop_reason_).split(";")[0].rstrip("."),
    ]


def can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


# The picture --------------------------------------------------------------------------------------

STYLE = {
    "font.size": 9.5,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def draw(
    cancer: KernelBoostClassifier, moons: KernelBoostClassifier, data: tuple[Any, Any], path: Path
) -> None:
    """Draw the three panels of the picture."""
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12.4, 5.3), layout="constrained")
        left, right = figure.subfigures(1, 2, width_ratios=[1, 1.1], wspace=0.03)
        above, below = left.subplots(2, 1)
        plot_trace(cancer, ax=above).ax_.set_title("Breast cancer: objective and gap")
        plot_kernels(cancer, ax=below).ax_.set_title("Breast cancer: columns per kernel")
        surface = plot_decision(moons, *data, ax=right.subplots()).ax_
        surface.set(xticks=[], yticks=[])
        surface.set_title(f"Two moons: {moons.n_columns_} columns for {len(data[1])} rows")
        figure.savefig(path, dpi=150, facecolor="white")
        plt.close(figure)


def report(path: Path) -> AutoKernelClassifier:
    """Write a report on a search on breast cancer, with scores on held-out rows."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = load_breast_cancer().target_names[y]
    learn, test, y_learn, y_test = train_test_split(X, names, test_size=0.25, random_state=0)
    start = time.perf_counter()
    model = AutoKernelClassifier().fit(learn, y_learn)
    seconds = time.perf_counter() - start
    file = path.with_name("cancer.kboost")
    kboost.save_model(model, file)
    write_report(
        path, model, test, y_test, X_learn=learn, y_learn=y_learn, target="tumour",
        model_path=file, seconds=seconds,
    )  # fmt: skip
    return model


def main() -> None:
    start = time.perf_counter()
    print(f"kboost {kboost.__version__}: mixtures of kernels")
    with threadpool_limits(1, user_api="openmp"):  # threads slow down fits of small data
        cancer, cancer_lines = on_breast_cancer()
        moons, moons_lines, data = on_moons()
    proof = certificate(cancer, load_breast_cancer().data)

    heading("Default settings")
    print_lines(cancer_lines, "3-fold accuracy")
    heading("Columns per kernel", "of KernelBoost")
    print_kernels(cancer)
    heading("Certificate", "of KernelBoost")
    print("\n".join(f"  {line}" for line in proof))
    heading("Two moons", f"{len(data[1])} noisy rows, accuracy on {MANY:,} new rows")
    print_lines(moons_lines, "accuracy")

    OUT.mkdir(exist_ok=True)
    draw(cancer, moons, data, OUT / "kboost.png")
    with threadpool_limits(1, user_api="openmp"):
        found = report(OUT / "report.html")
    heading("What competed in AutoKernel", "log loss on rows left out of each fit")
    print_search(found)
    seconds = time.perf_counter() - start
    files = "demo/report.html (open it), demo/kboost.png, demo/cancer.kboost"
    print(f"\nWritten: {files} ({seconds:.0f} s)")


if __name__ == "__main__":
    main()
