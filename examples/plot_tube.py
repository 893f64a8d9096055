"""
Tube regression
===============

Regression with a tube of fitted width: errors inside the tube cost nothing.
"""

# %%
# ``nu`` bounds the share of rows outside the tube, and the width is fitted.

import matplotlib.pyplot as plt

from kboost import KernelBoostRegressor
from kboost.datasets import make_sinc
from kboost.plotting import plot_tube

X, y = make_sinc(120, noise=0.1, random_state=0)
model = KernelBoostRegressor(nu=0.2).fit(X, y)
print(f"{model.n_columns_} columns, tube of half-width {model.epsilon_:.3f}")

# %%
# Points outside the tube and the centres of the columns are marked.

plot_tube(model, X, y)
plt.show()
