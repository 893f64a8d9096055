"""A sparse mixture of kernels, from the first column to the certificate: `make demo`.

Fits the classifier with its default settings, sets it beside scikit-learn's SVC and
HistGradientBoosting, and writes a picture and a page into demo/.
"""

from __future__ import annotations

import base64
import html
import io
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
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import kboost
from kboost import KernelBoostClassifier

OUT = Path(__file__).resolve().parents[1] / "demo"
MANY = 100_000  # rows to predict

INK, GRID, BLUE, RED = "#22303c", "#d9dfe4", "#2f6f9f", "#c8553d"
SIDES = ["#dd9a8b", "#f3d5cd", "#fbfaf8", "#cfe0ec", "#8fb8d4"]  # from one class to the other
FAMILIES = {  # marker and colour of a kernel's columns
    "Linear": ("^", "#4d5b66"),
    "Polynomial": ("D", "#7d5ba6"),
    "Gaussian": ("o", "#178066"),
    "Laplacian": ("s", "#e09f1f"),
}
OTHERS = ("P", INK)


# The models ---------------------------------------------------------------------------------------


@dataclass
class Line:
    """One model in the table."""

    name: str
    accuracy: float
    terms: str
    size: int  # bytes
    seconds: float  # to predict MANY rows


def contestants() -> dict[str, Any]:
    """All with the settings they come with; the SVC gets the scaled features it needs."""
    return {
        "kboost": KernelBoostClassifier(),
        "SVC": make_pipeline(StandardScaler(), SVC()),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }


def describe(name: str, model: Any, accuracy: float, X: np.ndarray) -> Line:
    """Size and speed of a fitted model; X is repeated or cut to MANY rows."""
    rows = np.resize(X, (MANY, X.shape[1]))
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 1:
        start = time.perf_counter()
        model.predict(rows)
        seconds.append(time.perf_counter() - start)
    return Line(name, accuracy, terms(model), len(pickle.dumps(model)), min(seconds))


def terms(model: Any) -> str:
    """What prediction has to go through."""
    if isinstance(model, KernelBoostClassifier):
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
    for name, model in contestants().items():
        model.set_params(**({"verbose": 1} if name == "kboost" else {})).fit(X, y)
        if name == "kboost":
            ours = model.set_params(verbose=0)
        accuracy = cross_val_score(model, X, y, cv=folds).mean()
        lines.append(describe(name, model, accuracy, X))
    return ours, lines


def on_moons() -> tuple[KernelBoostClassifier, list[Line], tuple[np.ndarray, np.ndarray]]:
    """Two features, so that the model can be drawn; accuracy on fresh rows."""
    X, y = make_moons(1000, noise=0.25, random_state=0)
    X_new, y_new = make_moons(MANY, noise=0.25, random_state=1)
    fitted = {name: model.fit(X, y) for name, model in contestants().items()}
    lines = [describe(n, m, m.score(X_new, y_new), X_new) for n, m in fitted.items()]
    return fitted["kboost"], lines, (X, y)


# Words --------------------------------------------------------------------------------------------


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
    """How many columns each kernel of the library gave."""
    rows = [(label(k), n) for k, n in per_kernel(model)]
    width, most = max(len(name) for name, _ in rows), max(n for _, n in rows)
    mark = "█" if can_print("█") else "#"
    for name, n in rows:
        print(f"  {name:<{width}}  {n:>4}  {mark * round(30 * n / max(most, 1))}".rstrip())


def per_kernel(model: KernelBoostClassifier) -> list[tuple[Any, int]]:
    return [(k, model.columns_per_kernel_[repr(k)]) for k in model.kernels_]


def label(kernel: Any) -> str:
    """`Gaussian, gamma 0.25`, and the features it looks at if they are ranks."""
    words = [type(kernel).__name__]
    if words[0] == "Polynomial":
        words.append(f"degree {kernel.degree}")
    elif hasattr(kernel, "gamma"):
        words.append(f"gamma {kernel.gamma:.2g}")
    return ", ".join(words) + (" (ranks)" if "Ranks" in repr(kernel) else "")


def certificate(model: KernelBoostClassifier, X: np.ndarray) -> list[str]:
    """What is proven, and why the fit stopped."""
    candidates = len(model.kernels_) * len(np.unique(X, axis=0))  # centres are distinct points
    gap = max(model.dual_gap_, np.finfo(float).eps)
    return [
        f"objective {model.objective_:.6g}, proven to be within {gap:.0e} (relative)",
        f"of the optimum over {candidates:,} candidate columns",
        f"{model.n_iter_} steps in {model.trace_[-1].seconds:.2f} s; "
        + model.stop_reason_.split(";")[0].rstrip("."),
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
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


def draw(
    cancer: KernelBoostClassifier, moons: KernelBoostClassifier, data: tuple[Any, Any]
) -> bytes:
    """Three panels; the PNG file as bytes."""
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12.4, 5.3), layout="constrained")
        left, right = figure.subfigures(1, 2, width_ratios=[1, 1.2], wspace=0.03)
        above, below = left.subfigures(2, 1, height_ratios=[1, 0.9])
        draw_progress(above.subplots(), cancer)
        draw_kernels(below.subplots(), cancer)
        draw_surface(right.subplots(), moons, *data)
        picture = io.BytesIO()
        figure.savefig(picture, dpi=150, facecolor="white", bbox_inches="tight", pad_inches=0.2)
        plt.close(figure)
    return picture.getvalue()


def draw_progress(axes: Any, model: KernelBoostClassifier) -> None:
    """Objective and proven gap against the columns generated."""
    trace, floor = model.trace_, 1e-6
    columns, gap = trace.values("n_columns"), np.maximum(trace.values("gap"), floor)
    axes.plot(columns, trace.values("objective"), "o-", ms=3.5, lw=1.6, color=BLUE)
    axes.set(title="Breast cancer: objective and gap", xlabel="columns generated", yscale="log")
    axes.set_ylabel("objective", color=BLUE)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(color=GRID, lw=0.6, axis="x")
    other = axes.twinx()
    other.plot(columns, gap, "s-", ms=3.2, lw=1.4, color=RED)
    other.set(yscale="log", ylim=(floor / 2, 3), yticks=[1, 1e-2, 1e-4, floor])
    other.set_yticklabels(["1", "0.01", "1e-4", "≤ 1e-6"])
    other.minorticks_off()
    other.set_ylabel("relative gap", color=RED)
    other.spines["right"].set_visible(True)


def draw_kernels(axes: Any, model: KernelBoostClassifier) -> None:
    """Columns per kernel, in the order of the library."""
    names, counts = zip(*[(label(k), n) for k, n in per_kernel(model)], strict=True)
    colours = [family(k)[1] for k in model.kernels_]
    bars = axes.barh(names, counts, color=colours, height=0.62)
    axes.bar_label(bars, padding=4, color=INK)
    axes.set(title="Breast cancer: columns per kernel")
    axes.invert_yaxis()
    axes.tick_params(left=False, bottom=False, labelbottom=False)
    axes.spines[["left", "bottom"]].set_visible(False)


def draw_surface(axes: Any, model: KernelBoostClassifier, X: np.ndarray, y: np.ndarray) -> None:
    """The decision function of two features, with the centres that were chosen."""
    (left, bottom), (right, top) = X.min(axis=0) - 0.25, X.max(axis=0) + 0.25
    first, second = np.linspace(left, right, 400), np.linspace(bottom, top, 300)
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    value = model.decision_function(grid).reshape(300, 400)
    axes.imshow(value, extent=(left, right, bottom, top), origin="lower", vmin=-2.5, vmax=2.5,
                cmap=LinearSegmentedColormap.from_list("sides", SIDES),
                interpolation="bilinear")  # fmt: skip
    axes.contour(first, second, value, [0], colors=INK, linewidths=1.4)
    for side, colour in ((0, RED), (1, BLUE)):
        axes.scatter(*X[y == side].T, s=6, color=colour, alpha=0.55, lw=0)
    owner = np.repeat([type(k).__name__ for k in model.kernels_], [n for _, n in per_kernel(model)])
    for name in dict.fromkeys(owner):
        marker, colour = FAMILIES.get(name, OTHERS)
        chosen = model.centers_[owner == name]
        axes.scatter(*chosen.T, s=52, marker=marker, color=colour, edgecolor="white", lw=1.1,
                     zorder=3, label=f"{name} ({len(chosen)})")  # fmt: skip
    axes.legend(title="centres by kernel", loc="lower left", frameon=True, framealpha=0.9,
                edgecolor="none", alignment="left")  # fmt: skip
    axes.set(title=f"Two moons: {model.n_columns_} columns for {len(X)} rows")
    axes.set(xticks=[], yticks=[])
    axes.spines[["left", "bottom"]].set_visible(False)


def family(kernel: Any) -> tuple[str, str]:
    return FAMILIES.get(type(kernel).__name__, OTHERS)


# The page -----------------------------------------------------------------------------------------

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>kboost demo</title>
<style>
 body {{ font: 16px/1.5 system-ui, sans-serif; color: #22303c; max-width: 62rem;
        margin: 3rem auto; padding: 0 1rem; }}
 h1, h2 {{ font-weight: 600; line-height: 1.2; }}  h2 {{ margin-top: 2rem; font-size: 1.15rem; }}
 table {{ border-collapse: collapse; }}
 th, td {{ padding: .25rem 1.2rem .25rem 0; text-align: right; border-bottom: 1px solid #d9dfe4; }}
 th:first-child, td:first-child, th:nth-child(3), td:nth-child(3) {{ text-align: left; }}
 th {{ font-weight: 600; }}  img {{ max-width: 100%; margin-top: 1rem; }}
</style>
<h1>A sparse mixture of kernels</h1>
<p>kboost {version}, default settings, beside scikit-learn's SVC and HistGradientBoosting.</p>
<h2>Breast cancer</h2>{cancer}<p>{certificate}.</p>
<h2>Two moons</h2>{moons}
<img alt="objective, columns per kernel, decision surface" src="data:image/png;base64,{picture}">
</html>
"""


def page(cancer: list[Line], moons: list[Line], proof: list[str], picture: bytes) -> str:
    """One file that needs no other."""
    return PAGE.format(
        version=html.escape(kboost.__version__),
        cancer=html_table(cancer, "accuracy, 3 folds"),
        moons=html_table(moons, "accuracy, new rows"),
        certificate=html.escape(" ".join(proof[:2])) + ".<br>" + html.escape(proof[2]),
        picture=base64.b64encode(picture).decode(),
    )


def html_table(lines: list[Line], accuracy: str) -> str:
    head = ("", accuracy, "terms", "size", f"{MANY:,} rows in")
    rows = [
        (x.name, f"{100 * x.accuracy:.1f} %", x.terms.strip(), f"{x.size / 1000:.0f} kB",
         f"{x.seconds:.2f} s")
        for x in lines
    ]  # fmt: skip
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}' for c in row)}" for row in rows)
    return f"<table><tr>{''.join(f'<th>{html.escape(c)}' for c in head)}{body}</table>"


def main() -> None:
    start = time.perf_counter()
    print(f"kboost {kboost.__version__}: a sparse mixture of kernels, with a certificate")
    with threadpool_limits(1, user_api="openmp"):  # small data: threads only get in the way
        cancer, cancer_lines = on_breast_cancer()
        moons, moons_lines, data = on_moons()
    proof = certificate(cancer, load_breast_cancer().data)

    heading("Default settings")
    print_lines(cancer_lines, "3-fold accuracy")
    heading("Columns per kernel")
    print_kernels(cancer)
    heading("Certificate")
    print("\n".join(f"  {line}" for line in proof))
    heading("Two moons", f"{len(data[1])} rows with noise, accuracy on {MANY:,} new ones")
    print_lines(moons_lines, "accuracy")

    OUT.mkdir(exist_ok=True)
    picture = draw(cancer, moons, data)
    (OUT / "kboost.png").write_bytes(picture)
    (OUT / "report.html").write_text(page(cancer_lines, moons_lines, proof, picture), "utf-8")
    print(f"\nWritten: demo/kboost.png, demo/report.html ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
