"""A wheel in an environment of its own: it fits, saves, loads, and needs no extra for that."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_iris

import kboost

place = Path(kboost.__file__).resolve()
assert place.is_relative_to(Path(sys.prefix).resolve()), f"kboost comes from {place}"
assert kboost.__version__ == version("kboost")
assert place.with_name("py.typed").is_file()
assert all(find_spec(name) is None for name in ("pandas", "typer", "dask", "onnx", "matplotlib"))

X, y = load_iris(return_X_y=True)
for model in (kboost.AutoKernelClassifier(), kboost.KernelBoostClassifier()):
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
X, y = load_diabetes(return_X_y=True)
model = kboost.AutoKernelRegressor().fit(X[::2], y[::2])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.kboost"
    kboost.save_model(model, path)
    again = kboost.load_model(path)
assert np.array_equal(again.predict(X), model.predict(X))
print(f"kboost {kboost.__version__} fits, saves and loads from its wheel")
