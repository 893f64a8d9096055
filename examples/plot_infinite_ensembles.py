"""
Ensembles from infinite libraries
=================================

The library need not be a list. Rätsch, Demiriz and Bennett (2002) grow regression ensembles from
Gaussians of any centre and width, and from halfspaces of any direction: what has to be found for
the next column is only the best answer to the current weights of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from kboost import KernelBoostRegressor
from kboost.datasets import make_sinc
from kboost.plotting import plot_tube

# %%
# Gaussians at the rows, and Gaussians that move (``base="active"``). Both fit a tube of free width
# (``nu``), both stop with a certificate; over an infinite library it is relative to the search, and
# the stop reason says so.

X, y = make_sinc(150, noise=0.1, random_state=0)
x = np.linspace(X.min(), X.max(), 500)[:, None]
truth = np.sinc(x[:, 0] / np.pi)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)
for axis, base in zip(axes, ("kernels", "active"), strict=True):
    model = KernelBoostRegressor("auto", base=base, nu=0.3).fit(X, y)
    error = np.sqrt(np.mean((model.predict(x) - truth) ** 2))
    plot_tube(model, X, y, ax=axis)
    axis.set_title(f'base="{base}": {model.n_columns_} columns, off by {error:.3f}')
print(model.stop_reason_)

# %%
# Few rows of many features are another matter: 100 rows, 200 features, of which three count. A
# halfspace ``[w.x > cut]`` comes out of a small linear program that prefers few features.

rng = np.random.default_rng(0)
X = rng.normal(size=(1100, 200))
y = 2 * (X[:, 3] > 0) + 1.5 * (X[:, 7] > 0.3) - (X[:, 11] > -0.3) + 0.1 * rng.normal(size=len(X))
learn, test = slice(0, 100), slice(100, None)
rivals = {
    "halfspaces": KernelBoostRegressor(base="halfspaces", epsilon=0.3, C=0.1),
    "kernels": KernelBoostRegressor(),  # the default library, C by held-out rows
}
for name, model in rivals.items():
    model.fit(X[learn], y[learn])
    error = np.mean((model.predict(X[test]) - y[test]) ** 2) / y[test].var()
    print(f"{name}: {model.n_columns_} columns, squared error / variance {error:.2f}")

# %%
# How much the ensemble of halfspaces leans on each feature it looks at: the mean squared change of
# its predictions when that feature is shuffled.

model = rivals["halfspaces"]
change = {}
for feature in model.selected_features_:
    moved = X[test].copy()
    moved[:, feature] = rng.permutation(moved[:, feature])
    change[feature] = np.mean((model.predict(moved) - model.predict(X[test])) ** 2)
names = sorted(change, key=change.get, reverse=True)[:12]
figure, axis = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
axis.bar([str(name) for name in names], [change[name] for name in names])
axis.set(xlabel="feature", ylabel="change of predictions")
axis.set_title(f"{len(change)} of 200 features are used; 3, 7 and 11 count")
plt.show()
