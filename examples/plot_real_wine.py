"""
Wine: which measurements tell the growers apart
===============================================

178 bottles of three growers and thirteen chemical measurements. The model says which measurements
it relies on; scikit-learn's permutation importance, on bottles left out, says the same without
looking inside.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.model_selection import cross_val_score, train_test_split

from kboost import AutoKernelClassifier, SparseKernelClassifier

# %%
# Half of the bottles is left out.

data = load_wine(as_frame=True)
table, grower = data.data, data.target_names[data.target]
train, test, y_train, y_test = train_test_split(
    table, grower, test_size=0.5, stratify=grower, random_state=0
)
model = AutoKernelClassifier(max_seconds=20).fit(train, y_train)
print(f"{model.score(test, y_test):.1%} of {len(test)} bottles are right")

# %%
# Two views of importance. The first is the share of each measurement in the variation of the model;
# the second is what its shuffling costs on bottles left out.

inside = model.feature_importances_
outside = permutation_importance(
    model, test, y_test, scoring="neg_log_loss", n_repeats=3, random_state=0
).importances_mean
order = np.argsort(outside)[::-1]
for i in order[:5]:
    print(f"{table.columns[i]:<30} {inside[i]:6.3f} {outside[i]:8.3f}")

# %%
# Are the two best enough? Three-fold cross-validation with two measurements, and with all.

two = list(table.columns[order[:2]])
small = SparseKernelClassifier()
for columns in (two, list(table.columns)):
    score = cross_val_score(small, table[columns], grower, cv=3).mean()
    print(f"{len(columns):>2} measurements: {score:.1%} right")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4), layout="constrained")
top = order[:6][::-1]
left.barh(table.columns[top], outside[top])
left.set(title="What shuffling costs", xlabel="log loss, bottles left out")
small.fit(table[two], grower)
codes = np.unique(grower, return_inverse=True)[1]
DecisionBoundaryDisplay.from_estimator(
    small, table[two], response_method="predict", ax=right, alpha=0.25, cmap="viridis",
    grid_resolution=150,
)  # fmt: skip
right.scatter(*table[two].to_numpy().T, c=codes, cmap="viridis", s=14, edgecolors="w", lw=0.4)
right.set(title="The best two")
plt.show()
