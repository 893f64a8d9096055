"""
Novelty detection
=================

The training rows are normal; there are no examples of novelties. The one-class mixture finds a
region that contains most of the rows, and describes it with few of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from kboost import KernelBoostNovelty
from kboost.kernels import Gaussian

# %%
# Normal rows lie on a ring and in a blob inside it. Novelties are uniform, so some of them lie on
# the ring or in the blob and cannot be detected.


def normal(n, rng):
    angle, blob = rng.uniform(0, 2 * np.pi, n), rng.uniform(size=n) < 0.3
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(3, 0.25, n)[:, None]
    return np.where(blob[:, None], rng.normal(0, 0.4, (n, 2)), ring)


rng = np.random.default_rng(0)
X, X_same, X_other = normal(500, rng), normal(2000, rng), rng.uniform(-4.5, 4.5, (2000, 2))
truth = np.repeat([1, 0], 2000)

# %%
# ``nu`` bounds the share of training rows outside the region. ``OneClassSVM`` has the same kernel
# and the same bound.

kernel = Gaussian(1.0)
model = KernelBoostNovelty([kernel], nu=0.05).fit(X)
svm = OneClassSVM(gamma=1.0, nu=0.05).fit(X)
print(f"{'':<20}{'outside, training':>18}{'outside, new':>14}{'novelties found':>17}{'AUC':>7}")
for name, estimator in (("KernelBoostNovelty", model), ("OneClassSVM", svm)):
    out = [np.mean(estimator.predict(rows) == -1) for rows in (X, X_same, X_other)]
    auc = roc_auc_score(truth, estimator.decision_function(np.vstack([X_same, X_other])))
    print(f"{name:<20}{out[0]:>18.3f}{out[1]:>14.3f}{out[2]:>17.3f}{auc:>7.3f}")
print(f"{model.n_columns_} columns against {len(svm.support_)} support vectors")
print(f"gap {model.dual_gap_:.0e}; {model.stop_reason_}")

# %%
# The border of each region, and the centres or support vectors.

line = np.linspace(-4.5, 4.5, 150)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for axis, estimator, centers in zip(
    axes, (model, svm), (model.centers_, svm.support_vectors_), strict=True
):
    values = estimator.decision_function(grid).reshape(150, 150)
    axis.contourf(line, line, values, [0, np.inf], colors=["#cfe0ec"])
    axis.contour(line, line, values, [0], colors=["#2f6f9f"], linewidths=1.2)
    axis.plot(*X.T, ".", color="#9aa4ab", markersize=2.5)
    axis.plot(*centers.T, "o", color="#c8553d", markersize=4)
    axis.set_title(f"{type(estimator).__name__}: {len(centers)} centres")
    axis.set(xticks=[], yticks=[], aspect="equal")
plt.show()
