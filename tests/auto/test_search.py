"""The search for a family of kernels."""

import numpy as np

from kboost.auto.search import search
from kboost.core.deadline import Deadline
from kboost.metric.folds import LearningRows


def test_a_search_without_time_judges_one_family_on_few_rows():
    X = np.random.default_rng(0).normal(size=(700, 2))
    rows = LearningRows(X, X[:, :1] ** 2, np.ones(700), False)
    found = search(rows, deadline=Deadline.after(1e-9))
    assert len(found.judged) == 1
    assert found.left_out.max() < 500
