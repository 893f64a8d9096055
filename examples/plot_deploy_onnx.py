"""
Ship a model: a safe file, an ONNX graph, and what carries a prediction
==========================================================================

Measurements of wines go through a pipeline into a mixture of kernels. The pipeline is
saved without pickle, exported to ONNX, run by onnxruntime without kboost, and asked why.
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
# Three sorts of wine. Groups of features get kernels of their own.
wine = load_wine()
X, y = wine.data, wine.target_names[wine.target]
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
colour, chemistry = [9, 10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12]
library = [Linear(), Gaussian(columns=colour), Gaussian(columns=chemistry)]
model = make_pipeline(StandardScaler(), kboost.KernelBoostClassifier(library, C=1.0)).fit(X, y)
print(f"accuracy {model.score(X_new, y_new):.3f}, {model[-1].n_columns_} columns")

# %%
# A file holds arrays and plain JSON. Loading it runs nothing, and gives the same model to the last
# bit; a damaged one is refused in a sentence.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "wine.kboost"
    kboost.save_model(model, path)
    again = kboost.load_model(path)
    same = np.array_equal(again.decision_function(X_new), model.decision_function(X_new))
    print(f"{path.stat().st_size} bytes; the same to the last bit: {same}")
    path.write_bytes(path.read_bytes()[:-1])
    try:
        kboost.load_model(path)
    except ValueError as error:
        print(str(error).replace(folder, "…"))

# %%
# The estimator alone becomes an ONNX graph by `to_onnx`; a pipeline by skl2onnx, which has to be
# told of kboost once.
register()
options = {id(model): {"zipmap": False}}
graph = skl2onnx.to_onnx(model, X[:1], options=options)
session = onnxruntime.InferenceSession(graph.SerializeToString())
labels, probabilities = session.run(None, {"X": X_new})
away = np.abs(probabilities - model.predict_proba(X_new)).max()
print(f"{len(graph.SerializeToString())} bytes; probabilities differ by {away:.1e} at most")

alone = onnxruntime.InferenceSession(to_onnx(model[-1], dtype="float32").SerializeToString())
(decision,) = alone.run(["decision"], {"X": model[:-1].transform(X_new).astype(np.float32)})
print(f"float32: {np.abs(decision - model.decision_function(X_new)).max():.1e}")

# %%
# Every prediction is a sum, and can be read as one: by kernel, by group of features, by training
# row. The shares add up exactly.
told = model[-1].explain(model[:-1].transform(X_new))
print(told)

# %%
winner = model.decision_function(X_new).argmax(axis=1)
shares = told.by_kernel[np.arange(len(winner)), :, winner]  # of the class predicted
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
for name, share in zip(("linear", "colour", "chemistry"), shares.T, strict=True):
    axis.plot(np.sort(share)[::-1], label=name)
axis.axhline(0.0, color="#888888", linewidth=0.8)
axis.set_xlabel("wines, each curve in its own order")
axis.set_ylabel("share in the decision")
axis.legend(frameon=False)
plt.show()
