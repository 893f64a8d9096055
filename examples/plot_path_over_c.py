"""
A path over C
=============

`C` weighs errors against the penalty. ``model_selection.path`` finds the optimum for many values,
each with its gap. Each fit starts from the one before, so the path costs a fraction of separate
fits.
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
# Twelve values of C, evaluated on held-out rows.

Cs = np.geomspace(0.003, 10, 12)
start = time.process_time()
result = path(KernelBoostClassifier(), X, y, Cs=Cs, X_val=X_val, y_val=y_val)
seconds = time.process_time() - start
print(f"{'C':>8}{'columns':>9}{'gap':>9}{'training error':>16}{'held-out error':>16}")
for k, C in enumerate(result.C):
    errors = f"{100 * result.train_error[k]:>14.1f} %{100 * result.validation_error[k]:>14.1f} %"
    print(f"{C:>8.3f}{result.n_columns[k]:>9}{result.dual_gap[k]:>9.0e}{errors}")

# %%
# Separate fits have the same objectives, up to the tolerance.

start = time.process_time()
alone = [KernelBoostClassifier(C=C).fit(X, y) for C in Cs]
print(f"path {seconds:.1f} s of CPU, separate fits {time.process_time() - start:.1f} s")
apart = [abs(a.objective_ / b - 1) for a, b in zip(alone, result.objective, strict=True)]
print(f"relative difference of the objectives: at most {max(apart):.0e}")

# %%
# ``result.estimators`` are fitted; ``result.best`` is the index of the lowest held-out loss.

plot_path(result)

# %%
# Coefficients over the union of all columns, one line per column, multiplied by the standard
# deviation of the column. Columns enter the model, grow, and may leave it again.

kernels = [result.kernels[k] for k in result.kernel_of_column]
size = [np.std(k(X, c[None])) for k, c in zip(kernels, result.centers, strict=True)]
figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axis.plot(result.C, result.coef * np.array(size), linewidth=0.9)
axis.set(xscale="log", xlabel="C", ylabel="coefficient × deviation of its column")
plt.show()
