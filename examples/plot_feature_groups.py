"""
Separate kernels for groups of features
=======================================

If features come in groups of different kinds, one kernel on all of them mixes incomparable
distances. ``columns=`` gives each group its own kernels, the fit selects among them, and every
prediction can be decomposed by group exactly.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian, Laplacian, Linear

# %%
# Synthetic energy use of a building: a smooth function of the weather, a step function of the
# calendar, a linear function of the area, and independent of ten sensors in the same table.

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
# Kernels select their columns by name, and the fit selects the kernels. Both models have the same
# tube and the same C.

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
models = {"groups": library, "all features together": "auto"}
for name, kernels in models.items():
    model = KernelBoostRegressor(kernels, epsilon=0.5, C=1.0).fit(table[learn], y[learn])
    models[name] = model
    error = np.sqrt(np.mean((model.predict(table[test]) - y[test]) ** 2))
    print(f"{name}: error {error:.2f} (noise 0.50), {model.n_columns_} columns")

# %%
# ``explain`` decomposes each prediction by kernel, by group and by training row; contributions and
# intercept sum to the prediction.

explanation = models["groups"].explain(table[test])
added = explanation.by_group.sum(axis=1) + explanation.intercept
print("sums to the prediction:", np.allclose(added, models["groups"].predict(table[test])))
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
spread = {
    str(group): explanation.by_group[:, k].std() for k, group in enumerate(explanation.groups)
}
labels = {name: next((g for g, c in groups.items() if c[0] in name), name) for name in spread}
left.barh([labels[name] for name in spread], list(spread.values()))
left.set_title("standard deviation of each group's contribution")
hour = next(k for k, name in enumerate(spread) if labels[name] == "calendar")
week = table["weekday"][test] < 5
share = explanation.by_group[:, hour] - explanation.by_group[:, hour].min()
for which, name in ((week, "working days"), (~week, "weekend")):
    right.plot(table["hour"][test][which], share[which], ".", markersize=3, label=name)
right.set(xlabel="hour", title="contribution of the calendar")
right.legend()
plt.show()
