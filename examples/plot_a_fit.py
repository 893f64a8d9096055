"""
A fit in pictures
=================

Objective and gap, the kernels that were chosen, the path on which C was found, and the surface.
"""

# %%
# Two moons with noise, and the default library: eight kernels, each at every row.

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
# The objective falls while columns come in, and the gap says how far the optimum can be.

plot_trace(model)

# %%
# C was chosen on held-out rows, along a rising path.

plot_path(model)

# %%
# Which kernels the data chose, and how much of the output each of them carries.

plot_kernels(model, X)

# %%
# The surface, with the centres of the columns.

# sphinx_gallery_thumbnail_number = 4
plot_decision(model, X, y)

# %%
# With rows held out the fit may stop early; the step of the lowest error is kept.

stopped = KernelBoostClassifier(
    ["rbf", "laplacian"], C=10.0, solver=ColumnGeneration(columns_per_step=1, early_stopping=0.3)
).fit(X, y)
plot_validation(stopped)
plt.show()
