"""
Diabetes: a forecast with its uncertainty
=========================================

442 patients, ten measurements, and how far the disease has progressed a year later. A doctor asks
not only for a number, but how far off it may be: ``predict_interval`` answers with an interval that
contains about nine of ten new patients.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

from kboost import AutoKernelRegressor

# %%
# A quarter of the patients is left out.

table, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
train, test, y_train, y_test = train_test_split(table, progression, random_state=0)
model = AutoKernelRegressor().fit(train, y_train)
print(model.reason_)

# %%
# The mean error on them, beside the mean of all patients, a linear model and boosted trees.

trees = HistGradientBoostingRegressor(random_state=0).fit(train, y_train)
predictions = {
    "the mean": np.full(len(test), y_train.mean()),
    "ridge regression": RidgeCV(np.logspace(-3, 3, 13)).fit(train, y_train).predict(test),
    "boosted trees": trees.predict(test),
    "kboost": model.predict(test),
}
for name, predicted in predictions.items():
    print(f"{name:<17} off by {mean_absolute_error(y_test, predicted):5.1f} on average")

# %%
# Intervals for 90 of 100 patients, and how many of those left out are inside.

low, high = model.predict_interval(test, coverage=0.9).T
inside = (low <= y_test) & (y_test <= high)
print(f"{inside.mean():.0%} of {len(test)} patients are inside")

# %%
# The patients, ordered by the forecast.

order = np.argsort(predictions["kboost"])
place = np.arange(len(test))
seen = y_test.to_numpy()[order]
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.fill_between(place, low[order], high[order], alpha=0.2, label="90 % interval")
ax.plot(place, predictions["kboost"][order], label="forecast")
within = inside.to_numpy()[order]
ax.plot(place[within], seen[within], "o", color="0.35", ms=3.5, label="what happened")
ax.plot(place[~within], seen[~within], "X", color="C1", ms=7, label="outside")
ax.set(xlabel="patients left out, by forecast", ylabel="progression", xlim=(-1, len(test)))
ax.set_title(f"{inside.mean():.0%} of the patients are inside the interval")
ax.legend(loc="upper left", ncols=2)
plt.show()
