"""
Few basis vectors of many rows
==============================

Sun and Yao (2010) fit kernel machines to many rows with few basis vectors, added a few at a time.
This example compares selections of basis vectors and updates of their coefficients.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from kboost import SparseKernelRegressor
from kboost.kernels import Gaussian
from kboost.settings import Full

# %%
# 4,000 noisy rows and ten features, of which five are relevant. A tenth of the variance is noise,
# so no model can have an error below the dashed line.

X, y = make_friedman1(7000, noise=1.6, random_state=0)
truth = make_friedman1(7000, noise=0.0, random_state=0)[1]
learn, test = slice(0, 4000), slice(4000, None)
floor = np.mean((y[test] - truth[test]) ** 2) / y[learn].var()

# %%
# All models have the same kernel and ridge. The selections of the paper add one basis vector per
# step and refit all coefficients. The ensemble adds base learners of 50 basis vectors each.
# ``update="joint"`` adds more basis vectors per step and fits all coefficients together by a
# preconditioned iteration. The plots show the error against the size and against the time.

settings = {"kernels": [Gaussian(0.8)], "ridge": 0.2}
models = {
    "random": {"selection": "random", "update": "full"},
    "matching pursuit": {"selection": "mp", "update": "full"},
    "largest residual": {"selection": "max-res", "update": "full"},
    "ensemble, 50 per step": {"selection": "max-res", "update": Full(columns_per_step=50)},
    "joint": {"update": "joint"},
}
sizes = (25, 50, 100, 200, 400)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
for name, how in models.items():
    errors, seconds = [], []
    for size in sizes[1:] if "50" in name else sizes:
        start = time.process_time()
        model = SparseKernelRegressor(max_columns=size, **settings, **how).fit(X[learn], y[learn])
        seconds.append(time.process_time() - start)
        errors.append(np.mean((model.predict(X[test]) - y[test]) ** 2) / y[learn].var())
    print(f"{name:<22} {errors[-1]:.4f} with {size} basis vectors, {seconds[-1]:.2f} s")
    left.plot(sizes[-len(errors) :], errors, "o-", markersize=4, label=name)
    right.plot(seconds, errors, "o-", markersize=4)

for axis, label in ((left, "basis vectors"), (right, "processor seconds per fit")):
    axis.axhline(floor, color="#9aa4ab", linestyle="--", linewidth=1)
    axis.set(xlabel=label, xscale="log")
left.set(ylabel="squared error / variance", ylim=(0, 0.4))
left.set_xticks(sizes, sizes)
left.minorticks_off()
left.legend(fontsize=8)
plt.show()
