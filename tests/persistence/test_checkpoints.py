"""A fit that was killed continues from its checkpoint, and ends with the same model."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

import kboost
from kboost.persistence import checkpoints
from kboost.settings import Cells, EarlyStopping

X, LABELS = make_classification(90, 4, n_informative=3, n_redundant=0, random_state=0)
TARGET = make_friedman1(90, random_state=0)[1]
EVEN = make_friedman1(300, n_features=5, random_state=1)


class Killed(BaseException):
    """The end of the process: nothing is written any more."""


def killed_after(writes, monkeypatch):
    """Let a checkpoint be written so often; the next time the process ends."""
    real, left = checkpoints.container.write, [writes]

    def write(*arguments):
        if not left[0]:
            raise Killed
        left[0] -= 1
        real(*arguments)

    monkeypatch.setattr(checkpoints.container, "write", write)


def steps_of(method, monkeypatch):
    """Count the steps of a method."""
    made, real = [], method.advance

    def advance(self):
        made.append(self)
        return real(self)

    monkeypatch.setattr(method, "advance", advance)
    return made


FITS = {
    "linear program": (kboost.KernelBoostClassifier(kernels="rbf", C=1.0, tol=1e-8), X, LABELS),
    "path over C": (kboost.KernelBoostRegressor(kernels="rbf"), X, TARGET),
    "stopped early": (
        kboost.KernelBoostClassifier(kernels="rbf", C=10.0, solver=None),
        X,
        LABELS,
    ),
    "joint": (kboost.SparseKernelRegressor(max_columns=40), *EVEN),
    "one by one": (kboost.SparseKernelRegressor(max_columns=9, update="full"), *EVEN),
    "cells": (kboost.SparseKernelRegressor(cells=Cells(size=60)), *EVEN),
    "boosting": (kboost.MKBoostClassifier(max_iter=8), X, LABELS),
    "door": (kboost.AutoKernelRegressor(), X, TARGET),
}
