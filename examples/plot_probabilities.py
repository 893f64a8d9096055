"""
Calibrated probabilities
========================

A margin classifier is overconfident on its training rows. Every fit therefore ends with the fit of
one slope to held-out rows, which turns decision values into probabilities; ``predict_proba`` is
always consistent with ``predict``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from kboost import KernelBoostClassifier

# %%
# Two features, with a known probability at every point.


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    p = 1 / (1 + np.exp(-3 * (np.sin(2 * X[:, 0]) - X[:, 1])))
    return X, (rng.uniform(size=n) < p).astype(int), p


X, y, _ = rows(600, 0)
X_new, y_new, p_new = rows(20_000, 1)
model = KernelBoostClassifier().fit(X, y)
f = model.decision_function(X_new)
p = model.predict_proba(X_new)[:, 1]
print(f"slope {model.calibration_.slope:.2f}, from held-out rows: {model.calibration_.held_out}")
print("same label for every row:", np.array_equal(p > 0.5, model.predict(X_new) == 1))

# %%
# For comparison: the logistic function of the uncalibrated decision values, and the true
# probabilities, which no method can beat on average.

probabilities = {"kboost": p, "logistic of the margin": 1 / (1 + np.exp(-f)), "truth": p_new}
print(f"{'':<24}{'log loss':>10}{'Brier':>8}")
for name, q in probabilities.items():
    print(f"{name:<24}{log_loss(y_new, q):>10.3f}{brier_score_loss(y_new, q):>8.3f}")

# %%
# Left: the share of the class among rows with a given predicted probability. Right: predicted
# against true probabilities, one point per row.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot([0, 1], [0, 1], color="#9aa4ab", linewidth=1)
for name in ("kboost", "logistic of the margin"):
    share, predicted = calibration_curve(y_new, probabilities[name], n_bins=12)
    left.plot(predicted, share, "o-", markersize=4, label=name)
left.set(xlabel="predicted probability", ylabel="share of the class", aspect="equal")
left.legend()
right.plot([0, 1], [0, 1], color="#9aa4ab", linewidth=1)
right.plot(p_new[:2000], p[:2000], ".", markersize=2.5)
right.set(xlabel="true probability", ylabel="predicted probability", aspect="equal")
plt.show()
