"""The program that runs in EasyMKL's environment: `python _easymkl_program.py DATA ANSWER`."""

import json
import sys
import time
from importlib.metadata import version

import numpy as np


def kernels(X, Z, widths, degrees):
    dots = X @ Z.T
    distances = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * dots
    distances = np.maximum(distances, 0.0)
    gaussians = [np.exp(-distances / (2 * width**2)) for width in widths]
    return gaussians + [(dots + 1) ** degree for degree in degrees]


def main(question, answer):
    import torch
    from MKLpy.algorithms import EasyMKL

    torch.set_num_threads(1)
    data = dict(np.load(question))
    X, Z = data["X_train"], data["X_test"]
    y = torch.tensor(data["y_train"].astype(np.int64))
    wall, cpu = time.perf_counter(), time.process_time()
    train = kernels(X, X, data["widths"], data["degrees"])
    units = [np.diag(K).mean() for K in train]
    train = [torch.tensor(K / unit) for K, unit in zip(train, units, strict=True)]
    model = EasyMKL(multiclass_strategy="ovo").fit(train, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    test = kernels(Z, X, data["widths"], data["degrees"])
    test = [torch.tensor(K / unit) for K, unit in zip(test, units, strict=True)]
    predicted = np.asarray(model.predict(test))
    row = {
        "status": "ok",
        "accuracy": float(np.mean(predicted == data["y_test"])),
        "fit_seconds": wall,
        "fit_cpu_seconds": cpu,
        "version": version("MKLpy"),
    }
    with open(answer, "w") as file:
        json.dump(row, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
