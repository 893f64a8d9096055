"""Regressors of SRE and their peers, each tuned on the validation rows of the data.

Every method tries its settings on the training rows and keeps, for each way of judging, the model
that is best on the validation rows, and the mean of the five best; nothing is fitted again.
Gaussians are exp(-gamma |x-z|^2) with gamma one of `WIDTHS` times the mean rule, for every kernel
method alike; features and targets are standardised. Columns are used as they are
(`column_scaling=None`), as in the paper.

    CG-k           the path over C for each width and nu
    CG-k, mixed    the same with one library of a linear kernel and all widths
    CG-k, learned  that library and Gaussians of a width for each lag, learned on the training rows
    Bar-k          the barrier at the setting that CG-k found: the problem is the same
    CG-ak          centres and widths move; stopped by the validation rows (TR3)
    Bar-ak         the same with the barrier
    SVR            scikit-learn's; tubes in units of the noise
    LightGBM       early stopping on the validation rows
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from benchmarks.datasets import Data

Setting: TypeAlias = dict[str, Any]
Judge: TypeAlias = Callable[[Any], float]  # of a fitted model; the lower the better

WIDTHS = (0.5, 1.0, 2.0)
NUS = (0.2, 0.5)
PRICES = (10.0, 30.0, 100.0, 300.0, 1000.0)
MIXED: dict[str, Any] = {"C": (3.0, 10.0, 30.0, 100.0), "widths": (0.25, 0.5, 1.0, 2.0)}
LEARNED: dict[str, Any] = {
    "C": (10.0, 30.0, 100.0, 300.0),
    "nu": (0.2, 0.5, 0.8),
    "shares": (0.5, 1.0, 2.0),  # of the learned exponent
}
ACTIVE: dict[str, Any] = {
    "C": (5.0, 15.0, 50.0, 150.0),
    "nu": 0.35,
    "starts": (0.25, 1.0),
    "widths": (1 / 64, 2.0),
}
AVERAGED = 5  # models in a mean
SVR_C = (1.0, 3.0, 10.0, 30.0, 100.0)
TUBES = (0.5, 1.0, 1.5)
TREES = {"num_leaves": (4, 8, 16, 31), "learning_rate": (0.03, 0.1)}
SETTINGS = {
    "widths": WIDTHS,
    "nu": NUS,
    "C": PRICES,
    "mixed": MIXED,
    "learned": LEARNED,
    "active": ACTIVE,
    "SVR": {"C": SVR_C, "epsilon / noise": TUBES},
    "LightGBM": TREES,
    "averaged": AVERAGED,
}


@dataclass
class Mean:
    """What several models say on the average."""

    models: Sequence[Any]

    @property
    def n_features_in_(self) -> int:
        return int(self.models[0].n_features_in_)

    def predict(self, X: Any) -> Any:
        return np.mean([model.predict(X) for model in self.models], axis=0)


@dataclass
class Tuned:
    """A model, its setting and its columns; once it is kept, its validation error."""

    model: Any
    setting: dict[str, Any]
    columns: int | None
    error: float = np.inf
    cpu_seconds: float = 0.0
    mean: Any = None  # of the best models, of which this is one

    def facts(self) -> dict[str, Any]:
        """All but the model."""
        return {
            "validation_error": self.error,
            "setting": self.setting,
            "columns": self.columns,
            "fit_seconds": self.cpu_seconds,
        }


def tune(
    method: str,
    data: Data,
    noise: float,
    judges: Mapping[str, Judge] | None = None,
    settings: Sequence[Setting] = (),
) -> dict[str, Tuned]:
    """The best of a method's settings in the eyes of each judge.

    Without judges it is "one_step", the squared error on the validation rows. `noise` is the
    deviation of the targets' noise, `settings` are what CG-k found, for Bar-k.
    """
    start = time.process_time()
    judges = {"one_step": lambda model: error_of(model, data)} if judges is None else judges
    best: dict[str, list[Tuned]] = {name: [] for name in judges}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits reached are part of a grid
        tried = inside(data, settings) if method == "Bar-k" else METHODS[method](data, noise)
        for one in tried:
            for name, judge in judges.items():
                ranked = [*best[name], replace(one, error=judge(one.model))]
                best[name] = sorted(ranked, key=by_error)[:AVERAGED]
    seconds = time.process_time() - start
    return {
        name: replace(few[0], cpu_seconds=seconds, mean=Mean([one.model for one in few]))
        for name, few in best.items()
    }


def by_error(one: Tuned) -> float:
    """A prediction that runs off is worse than any other."""
    return float(np.nan_to_num(one.error, nan=np.inf))


def mean_rule(data: Data) -> float:
    return 1.0 / (2.0 * data.X_train.var(axis=0).sum())


def error_of(model: Any, data: Data) -> float:
    return float(np.mean((model.predict(data.X_val) - data.y_val) ** 2))


def fixed(data: Data, noise: float) -> Iterator[Tuned]:
    """Kernels at the rows, along C."""
    from kboost.kernels import Gaussian

    for width in WIDTHS:
        for one in along(data, [Gaussian(width * mean_rule(data))], NUS, PRICES):
            yield replace(one, setting={**one.setting, "width": width})


def mixed(data: Data, noise: float) -> Iterator[Tuned]:
    """Several kernels in one library, along C."""
    return along(data, several(data), NUS, MIXED["C"])


def learned(data: Data, noise: float) -> Iterator[Tuned]:
    """The same library, and kernels whose widths the marginal likelihood set, lag by lag."""
    from kboost.kernels import fit_ard

    kernel: Any = fit_ard(data.X_train, data.y_train, random_state=0).kernel
    own = [replace(kernel, gamma=share * kernel.gamma) for share in LEARNED["shares"]]
    return along(data, [*several(data), *own], LEARNED["nu"], LEARNED["C"])


def several(data: Data) -> list[Any]:
    from kboost.kernels import Gaussian, Linear

    return [Linear(), *(Gaussian(width * mean_rule(data)) for width in MIXED["widths"])]


def along(
    data: Data, kernels: list[Any], nus: Sequence[float], Cs: Sequence[float]
) -> Iterator[Tuned]:
    """One library, along C."""
    from kboost import KernelBoostRegressor
    from kboost.model_selection import path

    for nu in nus:
        model = KernelBoostRegressor(kernels, nu=nu, column_scaling=None, max_seconds=60)
        found = path(model, data.X_train, data.y_train, Cs=Cs)
        for C, one in zip(found.C, found.estimators, strict=True):
            yield Tuned(one, {"C": float(C), "nu": nu}, int(one.n_columns_))


def inside(data: Data, settings: Sequence[Setting]) -> Iterator[Tuned]:
    """The barrier where column generation was best."""
    from kboost import KernelBoostRegressor
    from kboost.kernels import Gaussian

    for setting in settings:
        model = KernelBoostRegressor(
            [Gaussian(setting["width"] * mean_rule(data))],
            nu=setting["nu"],
            C=setting["C"],
            solver="barrier",
            column_scaling=None,
            max_seconds=60,
        )
        model.fit(data.X_train, data.y_train)
        yield Tuned(model, setting, int(model.n_columns_))


def active(data: Data, solver: str) -> Iterator[Tuned]:
    """Kernels that move, between widths far apart."""
    from kboost import KernelBoostRegressor
    from kboost.kernels import Gaussian
    from kboost.settings import ActiveGaussians

    gamma = mean_rule(data)
    wide, narrow = (1 / np.sqrt(2 * share * gamma) for share in ACTIVE["widths"])
    for C in ACTIVE["C"]:
        model = KernelBoostRegressor(
            ActiveGaussians(
                [Gaussian(share * gamma) for share in ACTIVE["starts"]], width_bounds=(narrow, wide)
            ),
            solver=solver,
            C=C,
            nu=ACTIVE["nu"],
            column_scaling=None,
            tol=1e-3,
            max_seconds=60,
        )
        model.fit(data.X_train, data.y_train, X_val=data.X_val, y_val=data.y_val)
        yield Tuned(model, {"C": C}, int(model.n_columns_))


def svr(data: Data, noise: float) -> Iterator[Tuned]:
    from sklearn.svm import SVR

    for width in WIDTHS:
        for C in SVR_C:
            for tube in TUBES:
                model = SVR(C=C, gamma=width * mean_rule(data), epsilon=tube * noise)
                model.fit(data.X_train, data.y_train)
                setting = {"C": C, "width": width, "epsilon": tube * noise}
                yield Tuned(model, setting, len(model.support_))


def trees(data: Data, noise: float) -> Iterator[Tuned]:
    from lightgbm import LGBMRegressor, early_stopping

    for leaves in TREES["num_leaves"]:
        for rate in TREES["learning_rate"]:
            setting = {"num_leaves": leaves, "learning_rate": rate}
            model = LGBMRegressor(
                n_estimators=3000, random_state=0, n_jobs=1, verbose=-1, **setting
            )
            model.fit(
                data.X_train,
                data.y_train,
                eval_set=[(data.X_val, data.y_val)],
                callbacks=[early_stopping(50, verbose=False)],
            )
            yield Tuned(model, setting, None)


METHODS: Mapping[str, Callable[[Data, float], Iterator[Tuned]]] = {
    "CG-k": fixed,
    "CG-k, mixed": mixed,
    "CG-k, learned": learned,
    "CG-ak": lambda data, noise: active(data, "cg"),
    "Bar-ak": lambda data, noise: active(data, "barrier"),
    "SVR": svr,
    "LightGBM": trees,
}
OURS = ("CG-k", "CG-k, mixed", "CG-k, learned", "CG-ak", "Bar-k", "Bar-ak")
