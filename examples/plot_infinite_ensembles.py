"""
Ensembles from infinite libraries
=================================

The library need not be finite. Rätsch, Demiriz and Bennett (2002) build regression ensembles from
Gaussians with any centre and width, and from halfspaces with any direction. Each step only has to
find the best column for the current weights of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian
from kboost.plotting import plot_tube
from kboost.settings import ActiveGaussians

# %%
# A curve with three bumps of different widths, at -3, 0 and 3. The first model has Gaussians of
# four widths at the training rows, the second optimises centres and widths (active kernels).


def target(x):
    bumps = ((1.0, -3, 0.25), (0.8, 0, 0.7), (-0.6, 3, 1.4))
    return sum(height * np.exp(-((x - at) ** 2) / (2 * width**2)) for height, at, width in bumps)


rng = np.random.default_rng(0)
x = rng.uniform(-5, 5, 120)
y = target(x) + 0.05 * rng.normal(size=120)
line = np.linspace(-5, 5, 400)
library = [Gaussian(1 / (2 * width**2)) for width in (0.2, 0.5, 1.0, 2.0)]
libraries = {"kernels": library, "active": ActiveGaussians(library, width_bounds=(0.1, 3.0))}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)
for axis, (name, kernels) in zip(axes, libraries.items(), strict=True):
    model = KernelBoostRegressor(kernels, C=0.5, epsilon=0.05, column_scaling=None)
    model.fit(x[:, None], y)
    error = np.sqrt(np.mean((model.predict(line[:, None]) - target(line)) ** 2))
    print(f"{name}: objective {model.objective_:.3f}, error {error:.3f}, centres at")
    print(np.unique(np.round(model.centers_[:, 0], 1)))
    plot_tube(model, x[:, None], y, ax=axis)
    axis.set_title(f"{name}: {model.n_columns_} columns")

# %%
# The larger library has a lower optimum. Its columns are concentrated at the bumps, where several
# widths combine to a bump of another width. Its gap is relative to the search.

print(model.stop_reason_)

# %%
# Few rows with many features: 100 rows and 200 features, of which three are relevant. A small
# linear program finds halfspaces ``[w.x > cut]`` that use few features.

X = rng.normal(size=(1100, 200))
y = 2 * (X[:, 3] > 0) + 1.5 * (X[:, 7] > 0.3) - (X[:, 11] > -0.3) + 0.1 * rng.normal(size=len(X))
learn, test = slice(0, 100), slice(100, None)
models = {
    "halfspaces": KernelBoostRegressor("halfspaces", epsilon=0.3, C=0.1),
    "kernels": KernelBoostRegressor(),  # the default library, C chosen on held-out rows
}
for name, model in models.items():
    model.fit(X[learn], y[learn])
    error = np.mean((model.predict(X[test]) - y[test]) ** 2) / y[test].var()
    print(f"{name}: {model.n_columns_} columns, squared error / variance {error:.2f}")

# %%
# The importance of each selected feature: the mean squared change of the predictions if the feature
# is shuffled.

model = models["halfspaces"]
change = {}
for feature in model.selected_features_:
    moved = X[test].copy()
    moved[:, feature] = rng.permutation(moved[:, feature])
    change[feature] = np.mean((model.predict(moved) - model.predict(X[test])) ** 2)
names = sorted(change, key=change.get, reverse=True)[:12]
figure, axis = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
axis.bar([str(name) for name in names], [change[name] for name in names])
axis.set(xlabel="feature", ylabel="change of predictions")
axis.set_title(f"{len(change)} of 200 features are used; 3, 7 and 11 are relevant")
plt.show()
