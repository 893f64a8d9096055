"""
All models along C, each with its certificate
=============================================

`C` weighs errors against size. ``model_selection.path`` finds the optimum for many values at once:
search and solvers stay warm from one to the next, so the path costs a fraction of separate fits.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from kboost import KernelBoostClassifier
from kboost.model_selection import path
from kboost.plotting import plot_path

X, y = load_breast_cancer(return_X_y=True)
X, X_val, y, y_val = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# %%
# Twelve values of C, judged on rows that were held out.

Cs = np.geomspace(0.003, 10, 12)
start = time.process_time()
found = path(KernelBoostClassifier(), X, y, Cs=Cs, X_val=X_val, y_val=y_val)
seconds = time.process_time() - start
print(f"{'C':>8}{'columns':>9}{'gap':>9}{'training error':>16}{'held-out error':>16}")
for k, C in enumerate(found.C):
    errors = f"{100 * found.train_error[k]:>14.1f} %{100 * found.validation_error[k]:>14.1f} %"
    print(f"{C:>8.3f}{found.n_columns[k]:>9}{found.dual_gap[k]:>9.0e}{errors}")

# %%
# The same models by separate fits have the same objectives, to the tolerance of both.

start = time.process_time()
alone = [KernelBoostClassifier(C=C).fit(X, y) for C in Cs]
print(f"path {seconds:.1f} s of CPU, separate fits {time.process_time() - start:.1f} s")
apart = [abs(a.objective_ / b - 1) for a, b in zip(alone, found.objective, strict=True)]
print(f"objectives differ by {max(apart):.0e} at most, relative")

# %%
# ``found.estimators`` are ready to predict; ``found.best`` is where the held-out error is lowest.

plot_path(found)

# %%
# Coefficients over the union of all columns: columns come in, grow and make room for others. Each
# line is a column; its size is measured by what it does to the rows.

kernels = [found.kernels[k] for k in found.kernel_of_column]
size = [np.std(k(X, c[None])) for k, c in zip(kernels, found.centers, strict=True)]
figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axis.plot(found.C, found.coef * np.array(size), linewidth=0.9)
axis.set(xscale="log", xlabel="C", ylabel="coefficient × deviation of its column")
plt.show()
