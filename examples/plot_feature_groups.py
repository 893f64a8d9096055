"""
Groups of features, each with its own kernels
=============================================

Where features come in groups of different kinds, a kernel over all of them compares apples with
weekdays. ``columns=`` gives each group its own kernels, the fit chooses among them, and every
prediction can be split by group, exactly.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian, Laplacian, Linear

# %%
# Made-up energy use of a building: it depends on the weather smoothly, on the calendar in jumps, on
# the size in a straight line, and not at all on ten sensors that are also in the table.

rng = np.random.default_rng(0)
n = 2500
table = pd.DataFrame(
    {
        "temperature": rng.normal(12, 8, n),
        "wind": rng.gamma(2, 2, n),
        "hour": rng.integers(0, 24, n),
        "weekday": rng.integers(0, 7, n),
        "area": rng.uniform(50, 400, n),
    }
    | {f"sensor {k}": rng.normal(size=n) for k in range(10)}
)
heating = 0.08 * np.maximum(0, 16 - table["temperature"]) ** 1.5 * (1 + 0.05 * table["wind"])
open_hours = table["hour"].between(8, 18) & (table["weekday"] < 5)
y = heating + 6 * open_hours + 0.03 * table["area"] + rng.normal(0, 0.5, n)
learn, test = slice(0, 500), slice(500, None)

# %%
# Kernels know their columns by name. The library leaves it to the data which of them are needed.
# Both models get the same tube and the same C.

groups = {
    "weather": ["temperature", "wind"],
    "calendar": ["hour", "weekday"],
    "size": ["area"],
    "sensors": [f"sensor {k}" for k in range(10)],
}
library = [Linear(on="standard", columns=groups["size"])]
for name in ("weather", "calendar", "sensors"):
    library += [Gaussian("median", on="standard", columns=groups[name])]
    library += [Laplacian("median", on="standard", columns=groups[name])]
rivals = {"groups": library, "all features together": "auto"}
for name, kernels in rivals.items():
    model = KernelBoostRegressor(kernels, epsilon=0.5, C=1.0).fit(table[learn], y[learn])
    rivals[name] = model
    error = np.sqrt(np.mean((model.predict(table[test]) - y[test]) ** 2))
    print(f"{name}: error {error:.2f} (noise 0.50), {model.n_columns_} columns")

# %%
# ``explain`` splits each prediction by kernel, by group and by training row; shares and intercept
# add up to the prediction.

told = rivals["groups"].explain(table[test])
added = told.by_group.sum(axis=1) + told.intercept
print("adds up:", np.allclose(added, rivals["groups"].predict(table[test])))
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
spread = {str(group): told.by_group[:, k].std() for k, group in enumerate(told.groups)}
labels = {name: next((g for g, c in groups.items() if c[0] in name), name) for name in spread}
left.barh([labels[name] for name in spread], list(spread.values()))
left.set_title("how much each group moves the predictions")
hour = next(k for k, name in enumerate(spread) if labels[name] == "calendar")
week = table["weekday"][test] < 5
share = told.by_group[:, hour] - told.by_group[:, hour].min()
for which, name in ((week, "working days"), (~week, "weekend")):
    right.plot(table["hour"][test][which], share[which], ".", markersize=3, label=name)
right.set(xlabel="hour", title="the calendar's share")
right.legend()
plt.show()
