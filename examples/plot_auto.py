"""
From a raw table to a model
===========================

``AutoKernelClassifier`` takes a table with numbers, categories, dates and text, and gaps in all of
them. Families of kernels compete on rows they have not seen; the winner is fitted to all rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

import kboost
from kboost.cli.demo_data import demo_table
from kboost.tables import describe, target_of, tidy

# %%
# A table of deliveries, as it may come from a file: prices with currency signs, dates with the day
# before the month, several words for missing values. ``tidy`` gives each column its type, as the
# command line does; a frame that has types needs nothing of that.

raw = demo_table()
late, known, _ = target_of(raw["late"])
raw = raw[known].drop(columns="late").reset_index(drop=True)
table = tidy(raw, describe(raw))
table.head()

# %%
# What would compete, and for how long? This looks at the size of the table only.

print(kboost.suggest(table, late))

# %%
# The fit, on three quarters of the rows.

learn = np.arange(len(table)) % 4 > 0
model = kboost.AutoKernelClassifier().fit(table[learn], late[learn])
print(model.reason_)

# %%
# The leaderboard: log loss on rows left out, with its standard error. Larger is better.

board = model.leaderboard_
for line in board:
    print(f"{line['candidate']:<16} {line['score']:8.4f} ± {line['spread']:.4f}")

# %%
# Rows that the search has never seen.

test = table[~learn]
probability = model.predict_proba(test)
print(f"accuracy {model.score(test, late[~learn]):.3f}")
print(f"log loss {log_loss(late[~learn], probability):.3f}")
print(f"area under the ROC curve {roc_auc_score(late[~learn] == 'late', probability[:, 1]):.3f}")

# %%
# The columns of the table by their importance, and how late deliveries depend on the distance, all
# else as in the table.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
order = np.argsort(model.feature_importances_)
left.barh(table.columns[order], model.feature_importances_[order], color="#1f77b4")
left.set(title="Importance", xlabel="share of the variation")
distances = np.linspace(50, 800, 31)
mean = [model.predict_proba(test.assign(distance=d))[:, 1].mean() for d in distances]
right.plot(distances, mean, color="#1f77b4")
right.set(title="Mean probability of being late", xlabel="distance", ylim=(0, 1))
plt.show()
