"""kboost: sparse, boosted mixtures of kernels for scikit-learn users.

Names are imported when they are first used, so that `import kboost` and `kboost --help` are quick.
"""

from __future__ import annotations

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

from kboost._estimator.pickling import pack_with

if TYPE_CHECKING:
    from kboost import compose, datasets, exceptions, kernels, settings, time_series
    from kboost._estimator.predictor import Predictor
    from kboost._suggest import suggest
    from kboost.estimators.auto_classifier import AutoKernelClassifier
    from kboost.estimators.auto_regressor import AutoKernelRegressor
    from kboost.estimators.classifier import KernelBoostClassifier
    from kboost.estimators.mkboost import MKBoostClassifier
    from kboost.estimators.novelty import KernelBoostNovelty
    from kboost.estimators.regressor import KernelBoostRegressor
    from kboost.estimators.semi_supervised import SemiSupervisedKernelBoostClassifier
    from kboost.estimators.sparse_classifier import SparseKernelClassifier
    from kboost.estimators.sparse_regressor import SparseKernelRegressor
    from kboost.persistence import SKOPS_TRUSTED, load_model, save_model
    from kboost.persistence.checkpoints import checkpoint

__version__ = "0.1.0"

__all__ = [
    "SKOPS_TRUSTED",
    "AutoKernelClassifier",
    "AutoKernelRegressor",
    "KernelBoostClassifier",
    "KernelBoostNovelty",
    "KernelBoostRegressor",
    "MKBoostClassifier",
    "Predictor",
    "SemiSupervisedKernelBoostClassifier",
    "SparseKernelClassifier",
    "SparseKernelRegressor",
    "__version__",
    "checkpoint",
    "compose",
    "datasets",
    "exceptions",
    "kernels",
    "load_model",
    "save_model",
    "settings",
    "suggest",
    "time_series",
]

_MODULES = {
    "AutoKernelClassifier": "estimators.auto_classifier",
    "AutoKernelRegressor": "estimators.auto_regressor",
    "KernelBoostClassifier": "estimators.classifier",
    "KernelBoostNovelty": "estimators.novelty",
    "KernelBoostRegressor": "estimators.regressor",
    "MKBoostClassifier": "estimators.mkboost",
    "Predictor": "_estimator.predictor",
    "SKOPS_TRUSTED": "persistence",
    "SemiSupervisedKernelBoostClassifier": "estimators.semi_supervised",
    "SparseKernelClassifier": "estimators.sparse_classifier",
    "SparseKernelRegressor": "estimators.sparse_regressor",
    "checkpoint": "persistence.checkpoints",
    "load_model": "persistence",
    "save_model": "persistence",
    "suggest": "_suggest",
}
# which `import kboost` is enough for
_PACKAGES = frozenset(
    [
        "compose",
        "datasets",
        "estimators",
        "exceptions",
        "formulations",
        "kernels",
        "persistence",
        "preparation",
        "settings",
        "time_series",
    ]
)


_importing = RLock()  # two threads may meet in the middle of modules that import each other


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        with _importing:
            return import_module(f"kboost.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'kboost' has no attribute {name!r}")
    with _importing:
        value = getattr(import_module(f"kboost.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})


def _reduced(model: Any) -> tuple[Any, ...] | None:
    """What pickle is given for an estimator; what writes files is imported when it is needed."""
    from kboost.persistence.pickling import reduced

    return reduced(model)


pack_with(_reduced)
