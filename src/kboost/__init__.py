"""kboost: sparse, boosted mixtures of kernels for scikit-learn users."""

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
