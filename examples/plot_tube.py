"""
A tube around a curve
=====================

Regression with a tube of fitted width: errors inside it cost nothing.
"""

# %%
# With ``nu`` the share of rows outside the tube is bounded, and its width is found.

import matplotlib.pyplot as plt

from kboost import KernelBoostRegressor
from kboost.datasets import make_sinc
from kboost.plotting import plot_tube

X, y = make_sinc(120, noise=0.1, random_state=0)
model = KernelBoostRegressor(nu=0.2).fit(X, y)
print(f"{model.n_columns_} columns, tube of half-width {model.epsilon_:.3f}")

# %%
# The points outside are marked, and the centres of the columns lie on the curve.

plot_tube(model, X, y)
plt.show()
