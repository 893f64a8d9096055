"""
Probabilities that can be taken at their word
=============================================

What a margin is worth in probability has to be learnt, and not from the rows that were fitted: of
those a margin classifier is too sure. Every fit therefore ends with one slope, found on rows left
out; ``predict_proba`` never contradicts ``predict``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from kboost import KernelBoostClassifier

# %%
# Two features, and a true probability that is known at every point.


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
print(f"slope {model.calibration_.slope:.2f}, from rows left out: {model.calibration_.held_out}")
print("same label for every row:", np.array_equal(p > 0.5, model.predict(X_new) == 1))

# %%
# Beside it, what the decision values say when they are put through the logistic function as they
# are, and the true probabilities, which nobody can beat on average.

stated = {"kboost": p, "logistic of the margin": 1 / (1 + np.exp(-f)), "truth": p_new}
print(f"{'':<24}{'log loss':>10}{'Brier':>8}")
for name, q in stated.items():
    print(f"{name:<24}{log_loss(y_new, q):>10.3f}{brier_score_loss(y_new, q):>8.3f}")

# %%
# Left: of the rows that were given a probability, how many were of the class. Right: the
# probabilities themselves against the true ones, row by row.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot([0, 1], [0, 1], color="#9aa4ab", linewidth=1)
for name in ("kboost", "logistic of the margin"):
    share, said = calibration_curve(y_new, stated[name], n_bins=12)
    left.plot(said, share, "o-", markersize=4, label=name)
left.set(xlabel="stated probability", ylabel="share of the class", aspect="equal")
left.legend()
right.plot([0, 1], [0, 1], color="#9aa4ab", linewidth=1)
right.plot(p_new[:2000], p[:2000], ".", markersize=2.5)
right.set(xlabel="true probability", ylabel="stated probability", aspect="equal")
plt.show()
