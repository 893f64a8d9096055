"""
A mixture of kernels: a plane and four bumps
============================================

The toy problem of the CG-Boost paper (Bi, Zhang, Bennett 2004): 50 noisy points of a plane with
four Gaussian bumps. A linear kernel cannot fit the bumps and a Gaussian kernel cannot fit the
plane; a mixture uses columns of both. A sum of the two kernels can also fit the target, but each of
its columns contains a slope and a bump.
"""

import matplotlib.pyplot as plt
import numpy as np

from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian, Linear

BUMPS = 0.5 * np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])


def target(X):
    squares = ((X[:, None] - BUMPS) ** 2).sum(axis=2)
    return X[:, 0] + 2 * X[:, 1] + np.exp(-squares / 0.1).sum(axis=1)


def sample(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (50, 2))
    return X, target(X) + 0.05 * rng.normal(size=50)


# %%
# A library is a list of kernels; the sum of two kernels is one kernel.

bump = Gaussian(10.0)
libraries = {
    "linear": [Linear()],
    "Gaussian": [bump],
    "the sum (composite)": [Linear() + bump],
    "both (mixture)": [Linear(), bump],
}
grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 60)] * 2), axis=-1).reshape(-1, 2)
truth = target(grid)

# %%
# Ten draws of the points. The error is the root mean square error over the domain, relative to the
# standard deviation of the target.

print(f"{'library':<22}{'error':>8}{'columns':>10}")
for name, library in libraries.items():
    errors, columns = [], []
    for seed in range(10):
        model = KernelBoostRegressor(library, C=10.0, epsilon=0.05).fit(*sample(seed))
        errors.append(np.sqrt(np.mean((model.predict(grid) - truth) ** 2)) / truth.std())
        columns.append(model.n_columns_)
    print(f"{name:<22}{np.mean(errors):>8.3f}{np.mean(columns):>10.1f}")

# %%
# The first draw; crosses are the centres of the columns. Linear columns fold into one vector, so
# the positions of their centres do not matter.

X, y = sample(0)
figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained", sharey=True)
shown = {"target": None} | {name: libraries[name] for name in list(libraries)[1:]}
for axis, (name, library) in zip(axes, shown.items(), strict=True):
    values, title = truth, f"{name}, with the points"
    if library is None:
        axis.plot(*X.T, "k.", markersize=3)
    else:
        model = KernelBoostRegressor(library, C=10.0, epsilon=0.05).fit(X, y)
        values, title = model.predict(grid), f"{name}: {model.n_columns_} columns"
        axis.plot(*model.centers_.T, "x", color="black", markersize=4)
    axis.contourf(*grid.reshape(60, 60, 2).T, values.reshape(60, 60).T, 15, cmap="viridis")
    axis.set_title(title, fontsize=9)
    axis.set(xticks=[], yticks=[], aspect="equal")
plt.show()
