"""Relations that two fits must satisfy, whatever the data and the options.

order     rows in Fortran order                 the same values
rows      rows in another order                 the same values
twice     rows repeated instead of weights      the same values
absent    rows of weight 0 left out             the same values
scale     X times 4, widths to match            the same values (but sparse estimators)
signs     y and -y, or classes swapped          opposite values, or an equal objective
jobs      n_jobs=2                              the same values
single    the same numbers in float32           the same values, up to float32
alone     one row predicted alone               the same values
refit     fit again                             the same values
pickle    through pickle and a model file       the same bits
ckpt      under a checkpoint                    the same bits; continued, the same optimum
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import kboost
from benchmarks.explore.cases import Case
from kboost.kernels import Gaussian, Laplacian

ALIKE, SINGLE = 1e-6, 1e-3  # of the largest value
Relation = Callable[[Case, Any, np.random.Generator], None]


class BrokenRelationError(AssertionError):
    """A relation that does not hold."""


def fitted(case: Case, **params: Any) -> Any:
    model = clone(case.estimator).set_params(**params)
    if case.weight is None:
        return model.fit(case.X) if case.y is None else model.fit(case.X, case.y)
    return model.fit(case.X, case.y, sample_weight=case.weight)


def values(model: Any, X: Any) -> Any:
    for name in ("score_samples", "decision_function", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X), dtype=float)
    raise AttributeError("no values")


def must_agree(one: Any, other: Any, tolerance: float, words: str = "values") -> None:
    size = float(np.abs(one).max(initial=0.0)) or 1.0
    distance = float(np.abs(one - other).max(initial=0.0)) / size
    if not distance <= tolerance:
        raise BrokenRelationError(f"{words} differ by {distance:.1e} of the largest")


def order(case: Case, model: Any, rng: np.random.Generator) -> None:
    again = fitted(replace(case, X=np.asfortranarray(case.X)))
    must_agree(values(model, case.X), values(again, case.X), ALIKE)


def rows(case: Case, model: Any, rng: np.random.Generator) -> None:
    again = fitted(_taken(case, rng.permutation(len(case.X))))
    must_agree(values(model, case.X), values(again, case.X), ALIKE)


def twice(case: Case, model: Any, rng: np.random.Generator) -> None:
    counts = rng.integers(1, 4, len(case.X))
    weighted = fitted(replace(case, weight=counts.astype(float)))
    repeated = _taken(replace(case, weight=None), np.repeat(np.arange(len(case.X)), counts))
    must_agree(values(weighted, case.X), values(fitted(repeated), case.X), ALIKE)


def absent(case: Case, model: Any, rng: np.random.Generator) -> None:
    weight = np.ones(len(case.X)) if case.weight is None else case.weight.copy()
    weight[rng.integers(3, len(weight), 2)] = 0.0
    there = fitted(replace(case, weight=weight))
    gone = fitted(_taken(replace(case, weight=weight), np.flatnonzero(weight)))
    must_agree(values(there, case.X), values(gone, case.X), ALIKE)


def scale(case: Case, model: Any, rng: np.random.Generator) -> None:
    given = [Gaussian(0.5), Laplacian(1.0)]
    if "kernels" not in case.estimator.get_params() or case.name.startswith("SparseKernel"):
        return  # sparse estimators draw rows in the order of their hashes, which change with X
    one = fitted(case, kernels=given)
    scaled = [Gaussian(0.5 / 16), Laplacian(1.0 / 4)][: len(given)]
    other = fitted(replace(case, X=4.0 * case.X), kernels=scaled)
    must_agree(values(one, case.X), values(other, 4.0 * case.X), ALIKE)


def signs(case: Case, model: Any, rng: np.random.Generator) -> None:
    if case.y is None or "SemiSupervised" in case.name or case.name == "AutoKernelClassifier":
        return  # the AutoKernel estimator draws its folds class by class
    if hasattr(model, "classes_"):
        given = case.estimator.get_params()
        if len(model.classes_) != 2 or given.get("nonnegative") or given.get("max_columns"):
            return  # a sign counts, or the first columns of the same price
        if given.get("C") == "auto":
            return  # splits are drawn class by class
        swapped = np.where(case.y == model.classes_[0], *model.classes_[::-1])
    elif getattr(model, "nonnegative", False):
        return
    else:
        swapped = -case.y
    again = fitted(replace(case, y=swapped))
    if getattr(model, "objective_", None) is not None:
        must_agree(np.atleast_1d(model.objective_), np.atleast_1d(again.objective_), 1e-3)
    elif "Boost" not in case.name:
        must_agree(values(model, case.X), -values(again, case.X), 1e-3)


def jobs(case: Case, model: Any, rng: np.random.Generator) -> None:
    if "n_jobs" in case.estimator.get_params():
        must_agree(values(model, case.X), values(fitted(case, n_jobs=2), case.X), 1e-12)


def single(case: Case, model: Any, rng: np.random.Generator) -> None:
    X = case.X.astype(np.float32)
    one, other = fitted(replace(case, X=X.astype(np.float64))), fitted(replace(case, X=X))
    must_agree(values(one, X.astype(np.float64)), values(other, X), SINGLE)


def alone(case: Case, model: Any, rng: np.random.Generator) -> None:
    every = values(model, case.X)
    each = np.concatenate([np.atleast_1d(values(model, case.X[i : i + 1])) for i in range(4)])
    must_agree(every[:4].ravel(), each.ravel(), 1e-9)


def refit(case: Case, model: Any, rng: np.random.Generator) -> None:
    before = values(model, case.X)
    again = model.fit(case.X, case.y) if case.weight is None else fitted(case)
    if case.weight is None:
        must_agree(before, values(again, case.X), 0.0)


def stored(case: Case, model: Any, rng: np.random.Generator) -> None:
    must_agree(values(model, case.X), values(pickle.loads(pickle.dumps(model)), case.X), 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        kboost.save_model(model, path)
        must_agree(values(model, case.X), values(kboost.load_model(path), case.X), 0.0, "files")


def ckpt(case: Case, model: Any, rng: np.random.Generator) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        kboost.checkpoint(Path(folder) / "fit", every=0),
    ):
        again = fitted(case)
        more = fitted(case)  # continues where the first one ended
    must_agree(values(model, case.X), values(again, case.X), 0.0)
    if getattr(model, "objective_", None) is None:
        must_agree(values(model, case.X), values(more, case.X), ALIKE, "continued values")
    else:  # an optimum may have a range of intercepts
        pair = (np.atleast_1d(each.objective_) for each in (model, more))
        must_agree(*pair, ALIKE, "continued objectives")


def _taken(case: Case, numbers: Any) -> Case:
    y = None if case.y is None else case.y[numbers]
    weight = None if case.weight is None else case.weight[numbers]
    return replace(case, X=case.X[numbers], y=y, weight=weight)


RELATIONS: dict[str, Relation] = {
    "order": order,
    "rows": rows,
    "twice": twice,
    "absent": absent,
    "scale": scale,
    "signs": signs,
    "jobs": jobs,
    "single": single,
    "alone": alone,
    "refit": refit,
    "pickle": stored,
    "ckpt": ckpt,
}
