"""
Predicting a chaotic series many steps ahead
============================================

A noisy Mackey-Glass series is turned into rows of lagged values. A sparse regression ensemble of
Gaussians with optimised centres and widths predicts one step ahead, and is iterated for many steps.
"""

import matplotlib.pyplot as plt
import numpy as np

from kboost import KernelBoostRegressor
from kboost.datasets import make_mackey_glass
from kboost.kernels import Gaussian
from kboost.settings import ActiveGaussians
from kboost.time_series import embed, iterate

N_KNOWN, N_HELD, AHEAD = 800, 200, 100
LAGS = {"dimension": 6, "lag": 6}

# %%
# The known values are noisy, those to predict are not. Rows are built from the known values only;
# the last of them are validation rows, which stop the fit (TR3).
clean = make_mackey_glass(N_KNOWN + N_HELD + 400)
noise = 0.06 * clean.std() * np.random.default_rng(0).uniform(-np.sqrt(3), np.sqrt(3), len(clean))
known = (clean + noise)[: N_KNOWN + N_HELD]
X, y = embed(known, **LAGS)
learn, held = slice(0, -N_HELD), slice(-N_HELD, None)

# %%
# About a fifth of the rows may lie outside the tube, whose width is fitted. The search for centres
# starts at the rows; widths are bounded below by 1.5 standard deviations of the series.
deviation = y.std()
library = ActiveGaussians(
    [Gaussian(gamma / deviation**2) for gamma in (0.02, 0.08)],
    width_bounds=(1.5 * deviation, 10 * deviation),
)
model = KernelBoostRegressor(library, column_scaling=None, nu=0.2, C=25.0)
model.fit(X[learn], y[learn], X_val=X[held], y_val=y[held])
print(f"{model.n_columns_} columns; tube of half-width {model.epsilon_:.4f}")
print(model.stop_reason_)

# %%
# All starting points advance together, with 100 calls of ``predict``. Each uses the noise-free
# values before it.
starts = np.arange(N_KNOWN + N_HELD, len(clean) - AHEAD)
paths = iterate(model, clean, AHEAD, starts=starts, **LAGS)
truth = clean[starts[:, None] + 1 + np.arange(AHEAD)]
error = np.mean((paths - truth) ** 2, axis=0) / clean.var()
for step in (1, 10, 50, 100):
    print(f"Q² {step:3d} steps ahead: {error[step - 1]:.5f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
left.plot(truth[0], color="#888888", label="series")
left.plot(paths[0], color="#1b6ca8", linestyle="--", label="prediction from one starting point")
left.set_xlabel("steps ahead")
left.legend(frameon=False)
right.semilogy(np.arange(1, AHEAD + 1), error, color="#d95f02")
right.set_xlabel("steps ahead")
right.set_ylabel("squared error / variance")
plt.show()
