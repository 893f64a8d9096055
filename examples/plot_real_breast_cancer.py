"""
Breast cancer: a small model, and where to draw the line
========================================================

569 tumours with thirty measurements of their cell nuclei. A model of a few columns with a
certificate, and its threshold: a missed malignant tumour costs more than a false alarm.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kboost import KernelBoostClassifier

# %%
# A third of the tumours is left out. Malignant is the class to be found.

data = load_breast_cancer(as_frame=True)
malignant = data.target == 0
train, test, y_train, y_test = train_test_split(
    data.data, malignant, test_size=1 / 3, stratify=malignant, random_state=0
)
model = KernelBoostClassifier().fit(train, y_train)
candidates = len(model.columns_per_kernel_) * len(train)
print(f"{model.n_columns_} columns, out of {candidates} candidates")
print(model.stop_reason_)

# %%
# As good as a support vector machine, with fewer columns.

svc = make_pipeline(StandardScaler(), SVC()).fit(train, y_train)
probability = model.predict_proba(test)[:, 1]
print(f"kboost: {model.score(test, y_test):.1%} right, {model.n_columns_} columns")
print(f"SVC:    {svc.score(test, y_test):.1%} right, {len(svc[-1].support_)} support vectors")
print(f"area under the ROC curve of kboost: {roc_auc_score(y_test, probability):.4f}")

# %%
# Missed tumours and false alarms for each threshold on the probability.

thresholds = np.linspace(0.02, 0.98, 97)
counts = [confusion_matrix(y_test, probability >= t)[[1, 0], [0, 1]] for t in thresholds]
missed, alarms = np.transpose(counts)
cost = 10 * missed + alarms  # a missed tumour costs as much as ten alarms
best = thresholds[np.argmin(cost)]
for threshold in (0.5, best):
    found = probability >= threshold
    lost, false = int((y_test & ~found).sum()), int((~y_test & found).sum())
    print(f"threshold {threshold:.2f}: {lost} of {y_test.sum()} missed, {false} false alarms")

# %%
fig, ax = plt.subplots(figsize=(6.8, 4), layout="constrained")
ax.step(thresholds, missed, where="mid", color="C1", lw=2, label="malignant, missed")
ax.step(thresholds, alarms, where="mid", color="C0", lw=2, label="benign, alarmed")
ax.axvline(best, color="0.4", ls="--", label=f"ten alarms for one miss: {best:.2f}")
ax.set(xlabel="alarm from this probability on", ylabel="tumours left out", xlim=(0, 1))
ax.set(ylim=(0, 1.15 * max(missed.max(), 12)), title="Where to draw the line")
ax.legend()
plt.show()
