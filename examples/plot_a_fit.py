"""
Plotting a fit
==============

Objective and gap, the path over C, the selected kernels, and the decision surface.
"""

# %%
# Two noisy moons and the default library: eight kernels, each with a column per training row.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from kboost import KernelBoostClassifier
from kboost.plotting import (
    plot_decision,
    plot_kernels,
    plot_path,
    plot_trace,
    plot_validation,
)
from kboost.settings import ColumnGeneration

X, y = make_moons(400, noise=0.25, random_state=0)
model = KernelBoostClassifier().fit(X, y)
print(model.stop_reason_)

# %%
# The objective decreases as columns are added; the gap bounds its distance from the optimum.

plot_trace(model)

# %%
# C was chosen on held-out rows, along increasing values.

plot_path(model)

# %%
# The columns per kernel, and the contribution of each kernel to the output.

plot_kernels(model, X)

# %%
# The decision surface, with the centres of the columns.

# sphinx_gallery_thumbnail_number = 4
plot_decision(model, X, y)

# %%
# With early stopping, the step with the lowest error on held-out rows is kept.

solver = ColumnGeneration(columns_per_step=1, early_stopping=0.3)
stopped = KernelBoostClassifier(["rbf", "laplacian"], C=10.0, solver=solver).fit(X, y)
plot_validation(stopped)
plt.show()
