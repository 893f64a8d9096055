"""
Digits: a model that fits on a postcard
=======================================

1,797 handwritten digits of 8 by 8 pixels. A sparse kernel classifier compares a new digit with a
few of them only. How many does it need, and which are they?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kboost import SparseKernelClassifier
from kboost.kernels import Gaussian

# %%
# A third of the digits is left out.

X, y = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

# %%
# Models of 10 to 320 columns, all with the same kernel, and a support vector machine with it.

sizes = [10, 20, 40, 80, 160, 320]
kernel = Gaussian(gamma=0.001)
models = [
    SparseKernelClassifier([kernel], ridge=1e-3, max_columns=size).fit(train, y_train)
    for size in sizes
]
errors = [1 - model.score(test, y_test) for model in models]
for size, error in zip(sizes, errors, strict=True):
    print(f"{size:>4} columns: {error:6.2%} wrong")
svc = SVC(gamma=0.001).fit(train, y_train)
svc_error = 1 - svc.score(test, y_test)
print(f"{len(svc.support_):>4} support vectors: {svc_error:6.2%} wrong")

# %%
# The centres of the model of 40 columns are digits of the training set.

centers = np.asarray(models[sizes.index(40)].centers_)
fig, pictures = plt.subplots(4, 10, figsize=(6.8, 3.9), layout="constrained")
for picture, center in zip(pictures.flat, centers, strict=True):
    picture.imshow(center.reshape(8, 8), cmap="gray_r")
    picture.set_axis_off()
fig.suptitle("All 40 digits that the model knows")
plt.show()

# %%
# The error falls with the size of the model.

fig, ax = plt.subplots(layout="constrained")
ax.plot(sizes, 100 * np.array(errors), "o-", label="kboost")
ax.plot(len(svc.support_), 100 * svc_error, "s", ms=9, label="SVC")
ax.set(xscale="log", yscale="log", xlabel="columns, or support vectors", ylabel="% wrong")
ax.set_title("Digits left out")
ax.legend()
plt.show()
