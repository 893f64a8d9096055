"""The picture of the README and of the first page: `python docs/picture.py`.

Left: the decision surface of a mixture, with few columns of several kernels. Right: the objective
and the lower bound over the whole library, against the number of columns.
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from kboost import KernelBoostClassifier
from kboost.kernels import Gaussian, Linear
from kboost.plotting import plot_decision
from kboost.plotting._axes import BLUE, GREY, RED
from kboost.settings import ColumnGeneration

OUT = Path(__file__).resolve().parent / "_static" / "kboost.png"


def rows(n, seed):
    """Two classes divided by a line, with an island of each class on the other side."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.4, 2.4, (n, 2))
    near = [np.exp(-((X - c) ** 2).sum(axis=1) / 0.22) for c in ([-1.2, 1.0], [1.2, -1.0])]
    value = X[:, 0] + 0.5 * X[:, 1] + 4.5 * (near[0] - near[1])
    return X, (value + rng.normal(0, 0.35, n) > 0).astype(int)


def main():
    X, y = rows(700, 0)
    library = [Linear(), Gaussian(0.5), Gaussian(4.0)]
    solver = ColumnGeneration(columns_per_step=1)
    model = KernelBoostClassifier(library, C=0.3, solver=solver).fit(X, y)
    support = SVC(gamma=1.0).fit(X, y).n_support_.sum()
    print(f"{model.n_columns_} columns, gap {model.dual_gap_:.1e}; SVC {support} support vectors")
    print("accuracy on new rows:", model.score(*rows(20_000, 1)))

    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(style):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(10, 4), width_ratios=[1, 1.15], layout="constrained"
        )
        plot_decision(model, X, y, ax=left)
        left.set(xticks=[], yticks=[], xlabel="", ylabel="")
        total = len(library) * len(X)
        left.set_title(f"{model.n_columns_} of {total:,} columns", loc="left", weight="bold")

        steps = model.trace_
        columns = [step.n_columns for step in steps]
        objective = np.array([step.objective for step in steps])
        bound = np.maximum.accumulate([step.bound or 0.0 for step in steps])
        right.fill_between(columns, bound, objective, color=BLUE, alpha=0.12, linewidth=0)
        right.plot(columns, objective, color=BLUE, label="objective")
        right.plot(columns, bound, color=RED, label="lower bound over the whole library")
        right.set(xlabel="columns generated", ylim=(0, None))
        right.axhline(objective[-1], color=GREY, linewidth=0.7, linestyle=":")
        right.legend(frameon=False)
        gap = max(model.dual_gap_, 1e-12)
        right.set_title(f"relative gap {gap:.0e}", loc="left", weight="bold")
        figure.savefig(OUT, dpi=110, facecolor="white")


if __name__ == "__main__":
    main()
