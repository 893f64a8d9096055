"""
Deploying a model: model file, ONNX, explanations
=================================================

A pipeline with a mixture of kernels classifies wines. It is saved without pickle, exported to
ONNX, run by onnxruntime without kboost, and its predictions are explained.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import skl2onnx
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kboost
from kboost.export.onnx import register, to_onnx
from kboost.kernels import Gaussian, Linear

# %%
# Three classes of wine. Each group of features has its own kernel.
wine = load_wine()
X, y = wine.data, wine.target_names[wine.target]
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
colour, chemistry = [9, 10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12]
library = [Linear(), Gaussian(columns=colour), Gaussian(columns=chemistry)]
model = make_pipeline(StandardScaler(), kboost.KernelBoostClassifier(library, C=1.0)).fit(X, y)
print(f"accuracy {model.score(X_new, y_new):.3f}, {model[-1].n_columns_} columns")

# %%
# A model file contains arrays and JSON. Loading it runs no code and gives exactly the same model; a
# damaged file raises a ``ValueError``.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "wine.kboost"
    kboost.save_model(model, path)
    again = kboost.load_model(path)
    same = np.array_equal(again.decision_function(X_new), model.decision_function(X_new))
    print(f"{path.stat().st_size} bytes; identical decision values: {same}")
    path.write_bytes(path.read_bytes()[:-1])
    try:
        kboost.load_model(path)
    except ValueError as error:
        print(str(error).replace(folder, "…"))

# %%
# ``to_onnx`` converts an estimator. skl2onnx converts a pipeline, after one call of ``register``.
register()
options = {id(model): {"zipmap": False}}
graph = skl2onnx.to_onnx(model, X[:1], options=options)
session = onnxruntime.InferenceSession(graph.SerializeToString())
labels, probabilities = session.run(None, {"X": X_new})
away = np.abs(probabilities - model.predict_proba(X_new)).max()
print(f"{len(graph.SerializeToString())} bytes; probabilities differ by at most {away:.1e}")

alone = onnxruntime.InferenceSession(to_onnx(model[-1], dtype="float32").SerializeToString())
(decision,) = alone.run(["decision"], {"X": model[:-1].transform(X_new).astype(np.float32)})
print(f"float32: {np.abs(decision - model.decision_function(X_new)).max():.1e}")

# %%
# Every prediction is a sum over columns. ``explain`` decomposes it by kernel, by group of features
# and by training row; the contributions sum to the prediction exactly.
explanation = model[-1].explain(model[:-1].transform(X_new))
print(explanation)

# %%
winner = model.decision_function(X_new).argmax(axis=1)
shares = explanation.by_kernel[np.arange(len(winner)), :, winner]  # of the predicted class
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
for name, share in zip(("linear", "colour", "chemistry"), shares.T, strict=True):
    axis.plot(np.sort(share)[::-1], label=name)
axis.axhline(0.0, color="#888888", linewidth=0.8)
axis.set_xlabel("wines, sorted separately for each curve")
axis.set_ylabel("contribution to the decision value")
axis.legend(frameon=False)
plt.show()
