"""
Text and numbers, several classes, sparse rows
==============================================

Help desk tickets, with text and numbers, are assigned to one of four teams. Text becomes a sparse
matrix, numeric columns are appended, and each part has its own kernels.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import ConfusionMatrixDisplay

from kboost import KernelBoostClassifier
from kboost.kernels import Gaussian, Linear

# %%
# The tickets are synthetic: most words are common to all teams, a few are typical of one team, and
# the hours since opening and the amount at stake depend on the team.

COMMON = """please help again since yesterday the my our customer cannot could still today new
urgent question about with after update screen message waiting asked office team thanks"""
TYPICAL = {
    "billing": "invoice refund charge payment card receipt tax amount twice currency",
    "network": "router wifi cable connection slow offline packet signal office tunnel",
    "account": "password login locked profile mail name reset access card session",
    "hardware": "laptop screen keyboard battery printer noise heat cable broken dock",
}
HOURS = {"billing": 40, "network": 3, "account": 6, "hardware": 60}
STAKES = {"billing": 300, "network": 900, "account": 60, "hardware": 700}


def tickets(n, seed):
    rng = np.random.default_rng(seed)
    teams = rng.choice(list(TYPICAL), n)
    common, typical = COMMON.split(), {team: words.split() for team, words in TYPICAL.items()}
    texts = [
        " ".join([*rng.choice(common, 12), *rng.choice(typical[team], rng.integers(0, 3))])
        for team in teams
    ]
    hours = [rng.gamma(2, HOURS[team] / 2) for team in teams]
    stakes = [rng.gamma(2, STAKES[team] / 2) for team in teams]
    return texts, np.log1p(np.column_stack([hours, stakes])), teams


texts, numbers, team = tickets(900, 0)
texts_new, numbers_new, team_new = tickets(4000, 1)
print(f"{team[0]}: {texts[0]}")

# %%
# One CSR matrix, words first. Each kernel uses its part of the columns.

words = TfidfVectorizer().fit(texts)
X = sp.hstack([words.transform(texts), numbers], format="csr")
X_new = sp.hstack([words.transform(texts_new), numbers_new], format="csr")
n_words = X.shape[1] - 2
of_words, of_numbers = np.arange(n_words), np.array([n_words, n_words + 1])
on_words = [Linear(columns=of_words), Gaussian("mean", columns=of_words)]
on_numbers = [Linear(columns=of_numbers), Gaussian("mean", columns=of_numbers)]
print(f"{X.shape[0]} rows, {X.shape[1]} features, {X.nnz / np.prod(X.shape):.0%} not zero")

# %%
# Neither part is sufficient alone.

for name, library in {
    "words": on_words,
    "numbers": on_numbers,
    "words and numbers": on_words + on_numbers,
}.items():
    model = KernelBoostClassifier(library, C=1.0).fit(X, team)
    right = model.score(X_new, team_new)
    print(
        f"{name:<18} {100 * right:.1f} % accuracy, {model.n_columns_} columns for {X.shape[0]} rows"
    )

# %%
# The four classes share columns; each has its own gap.

for label, gap in zip(model.classes_, model.dual_gap_, strict=True):
    print(f"{label:<10} gap {gap:.0e}")

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.9), layout="constrained", width_ratios=[1, 1.1]
)
ConfusionMatrixDisplay.from_estimator(
    model, X_new, team_new, ax=left, cmap="Blues", colorbar=False, normalize="true"
)
left.set(xlabel="predicted", ylabel="team", title="confusion matrix, normalised per team")
explanation = model.explain(X_new[:500])
shares = np.abs(explanation.by_kernel).mean(axis=0)  # kernels by classes
parts = {"words": shares[:2].sum(axis=0), "numbers": shares[2:].sum(axis=0)}
for k, (name, share) in enumerate(parts.items()):
    right.bar(np.arange(4) + 0.38 * k - 0.19, share, 0.38, label=name)
right.set_xticks(range(4), model.classes_)
right.set_title("mean absolute contribution")
right.legend()
plt.show()
