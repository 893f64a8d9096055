"""
Boosting with several kernels, and multiple kernel learning
===========================================================

MKBoost (Xia and Hoi 2013) boosts small support vector machines, and each round uses the best
kernel. Multiple kernel learning finds one weighted sum of all kernels instead.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from kboost import KernelBoostClassifier, MKBoostClassifier
from kboost.baselines import BoostedSVMClassifier, MKLClassifier
from kboost.kernels import Gaussian, Polynomial

# %%
# The kernels of the paper: fourteen Gaussians and three polynomials, on standardised features.

kernels = [Gaussian(1 / (2 * 4.0**e), on="standard") for e in range(-6, 8)]
kernels += [Polynomial(degree, on="standard") for degree in (1, 2, 3)]
models = {
    "MKBoost-D1": MKBoostClassifier(kernels, max_iter=40),
    "MKBoost-S1": MKBoostClassifier(kernels, variant="S1", max_iter=40),
    "Boost-SVM, one kernel": BoostedSVMClassifier(kernels, max_iter=40),
    "MKL": MKLClassifier(kernels),
    "mixture (1-norm)": KernelBoostClassifier(kernels, C=1.0),
}
X, y = load_breast_cancer(return_X_y=True)

# %%
# Three random halves. This is an illustration: the differences between the methods are no larger
# than those between draws. C is 50 for boosting, as in the paper, and 1 for the others.

errors = {name: [] for name in models}
print(f"{'':<22}{'test error':>11}{'CPU s':>9}")
for name, model in models.items():
    start = time.process_time()
    for seed in range(3):
        halves = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        errors[name].append(1 - model.fit(halves[0], halves[2]).score(halves[1], halves[3]))
    seconds = (time.process_time() - start) / 3
    print(f"{name:<22}{100 * np.mean(errors[name]):>9.1f} %{seconds:>9.2f}")

# %%
# D1 trains every kernel in every round. S1 draws kernels by their earlier errors and trains fewer
# support vector machines. Right: error against rounds, on the last draw.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
names = [f"2^{e}" for e in range(-6, 8)] + [f"deg {degree}" for degree in (1, 2, 3)]
for k, name in enumerate(("MKBoost-D1", "MKBoost-S1")):
    trained = [use.trained for use in models[name].kernel_usage_.values()]
    left.bar(np.arange(len(names)) + 0.4 * k - 0.2, trained, 0.4, label=name)
    steps = models[name].staged_predict(halves[1])
    right.plot([np.mean(labels != halves[3]) for labels in steps], label=name)
left.set_xticks(range(len(names)), names, rotation=90)
left.set(ylabel="SVMs trained", xlabel="width of the Gaussian, degree of the polynomial")
right.set(xlabel="rounds", ylabel="test error")
right.legend()
plt.show()
