"""The classes that a model file may contain; no other class is written or read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from scipy.sparse import csr_array, csr_matrix

from kboost import settings
from kboost._rules import BOOLEAN, Rule, optional
from kboost.core.trace import Step, Trace
from kboost.persistence import (
    auto_rules,
    estimator_rules,
    preparation_rules,
    preprocessing_rules,
    rules,
    streaming_rules,
)
from kboost.persistence.entry import Entry
from kboost.persistence.rules import (
    ANY,
    ANY_VECTOR,
    DEGREE,
    EXPONENTS,
    FEATURE_INDICES,
    FINITE,
    FOLDED_TERMS,
    INDEX_PAIRS,
    INDICES,
    KERNEL,
    KERNELS,
    LIST,
    MONOMIAL,
    NUMBER,
    NUMBERS,
    ONE_FOLDED,
    PARTS,
    POINTS,
    ROUND,
    SKLEARN_KERNEL,
    TABLE,
    TENSOR,
    TEXT,
    TRANSFORM,
    TREE,
    VECTOR,
    VIEW,
    VIEWED,
    WHOLE,
    WIDTH,
)


def _part(
    path: str,
    rules_of: Mapping[str, Rule],
    holds: Callable[[Any], bool] = lambda instance: True,
    build: Callable[..., Any] | None = None,
) -> Entry:
    return Entry(f"kboost.{path}", rules_of, holds, build=build)


def _settings(cls: Any) -> Entry:
    """Settings of an estimator, which check their own fields."""
    names = [field.name for field in fields(cls)]
    path = f"{cls.__module__}.{cls.__name__}"
    return Entry(path, dict.fromkeys(names, ANY), rules.settings_hold)


def _estimators(home: str, *names: str) -> list[Entry]:
    return [
        Entry(f"{home}.{name}", holds=estimator_rules.estimator_fits, is_estimator=True)
        for name in names
    ]


def _transformers(home: str, *names: str) -> list[Entry]:
    fits = preprocessing_rules.transformer_fits
    return [Entry(f"{home}.{name}", holds=fits, is_estimator=True) for name in names]


PARTS_OF_MODELS = [
    _part("kernels.dot_product.Linear", {**VIEWED}),
    _part(
        "kernels.dot_product.Polynomial",
        {"degree": DEGREE, "coef0": FINITE, "gamma": WIDTH, **VIEWED},
    ),
    _part("kernels.dot_product.Sigmoid", {"gamma": WIDTH, "coef0": FINITE, **VIEWED}),
    _part("kernels.stationary.Gaussian", {"gamma": WIDTH, **VIEWED}),
    _part("kernels.stationary.Laplacian", {"gamma": WIDTH, **VIEWED}),
    _part("kernels.stationary.Matern", {"gamma": WIDTH, "nu": FINITE, **VIEWED}),
    _part("kernels.functions.SklearnKernel", {"name": SKLEARN_KERNEL, **VIEWED}),
    _part(
        "kernels.functions.Precomputed", {"part": WHOLE, "width": WHOLE, "psd": BOOLEAN, **VIEWED}
    ),
    _part("kernels.algebra.Scaled", {"scale": FINITE, "kernel": KERNEL}),
    _part("kernels.algebra.Sum", {"kernels": KERNELS}, lambda instance: len(instance.kernels) > 0),
    _part(
        "kernels.algebra.Product", {"kernels": KERNELS}, lambda instance: len(instance.kernels) > 0
    ),
    _part(
        "kernels.transforms.Standardize",
        {"exponent": EXPONENTS, "shift": VECTOR, "scale": VECTOR},
        rules.same_length("exponent", "shift", "scale"),
    ),
    _part(
        "kernels.transforms.Ranks",
        {"starts": INDICES, "values": VECTOR, "ranks": VECTOR, "scale": VECTOR},
        rules.ranks_fit,
    ),
    _part("kernels.views.View", {"columns": FEATURE_INDICES, "transform": TRANSFORM}),
    _part(
        "kernels.folding.Monomial",
        {"view": VIEW, "degree": WHOLE, "gamma": FINITE, "coef0": FINITE, "scale": FINITE},
        lambda instance: instance.degree in (1, 2, 3),
    ),
    _part("kernels.folding.FoldedTerm", {"monomial": MONOMIAL, "tensor": TENSOR}),
    _part(
        "kernels.folding.Folded",
        {"terms": FOLDED_TERMS, "is_vector": BOOLEAN},
        lambda instance: len(instance.terms) > 0,
    ),
    _part(
        "columns.hypothesis.KernelPart",
        {
            "kernel": KERNEL,
            "centers": POINTS,
            "coef": TABLE,
            "indices": INDICES,
        },
        rules.kernel_part_fits,
        rules.kernel_part,
    ),
    _part(
        "columns.active.ActivePart",
        {"view": VIEW, "centers": TABLE, "widths": VECTOR, "coef": TABLE},
        rules.same_length("centers", "widths", "coef"),
    ),
    _part(
        "columns.halfspaces.HalfspacePart",
        {"view": VIEW, "directions": TABLE, "cuts": VECTOR, "coef": TABLE},
        rules.same_length("directions", "cuts", "coef"),
    ),
    _part(
        "columns.cell_tree.CellTree",
        {"feature": INDICES, "threshold": VECTOR, "children": INDEX_PAIRS},
        rules.tree_fits,
    ),
    _part(
        "columns.cells.CellPart",
        {"kernel": KERNEL, "tree": TREE, "centers": TABLE, "coef": TABLE, "starts": INDICES},
        rules.cells_fit,
    ),
    _part(
        "boosting.svm_ensemble.SVMGroup",
        {
            "output": WHOLE,
            "kernel": WHOLE,
            "support": INDICES,
            "coef": TABLE,
            "bias": VECTOR,
            "rounds": INDICES,
            "votes": VECTOR,
            "folded": optional(ONE_FOLDED),
        },
        rules.svm_group_fits,
    ),
    _part(
        "boosting.svm_ensemble.SVMEnsemble",
        {"kernels": LIST, "centers": POINTS, "n_rounds": LIST, "groups": LIST},
        rules.svm_ensemble_fits,
    ),
    _part(
        "core.rounds.Round",
        {
            "iteration": WHOLE,
            "outcome": TEXT,
            "error": NUMBER,
            "weight": NUMBER,
            "kernels": FEATURE_INDICES,
            "n_trained": WHOLE,
            "n_rows": WHOLE,
            "one_class": BOOLEAN,
            "seconds": NUMBER,
        },
    ),
    _part(
        "core.rounds.DesignRound",
        {"iteration": WHOLE, "loss": NUMBER, "weight": NUMBER, "seconds": NUMBER},
    ),
    Entry("kboost.core.rounds.Rounds", items=ROUND),
    _part("core.stopping.StopReason", {"rule": TEXT, "message": TEXT}),
    Entry("kboost.boosting.fit.KernelUse", items=NUMBER),
    _part("core.model.AdditiveModel", {"parts": PARTS, "bias": VECTOR}, rules.outputs_fit),
    _part(
        "selection.calibration.Calibration",
        {"slope": NUMBER, "n_rows": WHOLE, "held_out": BOOLEAN},
    ),
    _part(
        "data.multiclass.BinaryProblem",
        {"rows": ANY_VECTOR, "signs": VECTOR, "positive": WHOLE, "negative": optional(WHOLE)},
    ),
    _part(
        "selection.c_path.Tuning",
        {"C": VECTOR, "error": VECTOR, "n_columns": VECTOR, "best": WHOLE},
        lambda instance: 0 <= instance.best < len(instance.C),
    ),
    _part(
        "local.choice.LocalChoice",
        {"kernel": KERNEL, "ridge": NUMBER, "metric": TEXT, "errors": NUMBERS},
    ),
    _part(
        "solvers.growing_cholesky.GrowingCholesky",
        {"_buffer": TABLE, "_size": WHOLE},
        streaming_rules.factor_fits,
    ),
    _part(
        "streaming.recursive_least_squares.RecursiveLeastSquares",
        {
            "kernels": KERNELS,
            "ridge": NUMBER,
            "_intercept": BOOLEAN,
            "_useful": BOOLEAN,
            "_threshold": NUMBER,
            "_max_columns": WHOLE,
            "is_sparse": BOOLEAN,
            "centers": LIST,
            "_factors": LIST,
            "_kinds": INDICES,
            "_G": TABLE,
            "_b": TABLE,
            "_s": VECTOR,
            "_weight": NUMBER,
            "_sum": VECTOR,
            "_square": NUMBER,
            "n_batches": WHOLE,
            "coef": TABLE,
            "bias": VECTOR,
        },
        streaming_rules.sums_fit,
    ),
]

SETTINGS = [_settings(getattr(settings, name)) for name in settings.__all__]

ESTIMATORS = [
    *_estimators("kboost.estimators.classifier", "KernelBoostClassifier"),
    *_estimators("kboost.estimators.regressor", "KernelBoostRegressor"),
    *_estimators("kboost.estimators.novelty", "KernelBoostNovelty"),
    *_estimators("kboost.estimators.semi_supervised", "SemiSupervisedKernelBoostClassifier"),
    *_estimators("kboost.estimators.sparse_classifier", "SparseKernelClassifier"),
    *_estimators("kboost.estimators.sparse_regressor", "SparseKernelRegressor"),
    *_estimators("kboost.baselines.composite", "CompositeSVC", "CompositeSVR"),
    *_estimators("kboost.estimators.mkboost", "MKBoostClassifier"),
    *_estimators("kboost.baselines.boosted_svm", "BoostedSVMClassifier"),
    *_estimators("kboost.baselines.mkl", "MKLClassifier"),
    *_estimators("kboost.baselines.kernel_design", "KernelDesignClassifier"),
    *(
        Entry(f"kboost.{path}", holds=auto_rules.auto_fits, is_estimator=True)
        for path in (
            "estimators.auto_classifier.AutoKernelClassifier",
            "estimators.auto_regressor.AutoKernelRegressor",
            "dask.auto.DaskAutoKernelClassifier",
            "dask.auto.DaskAutoKernelRegressor",
        )
    ),
    *_estimators("kboost.dask.sparse", "DaskSparseKernelRegressor", "DaskSparseKernelClassifier"),
    *_estimators("kboost.dask.boost", "DaskKernelBoostClassifier", "DaskKernelBoostRegressor"),
]

PREPARATION = [
    *(
        _part(f"preparation.{path}", fields_of, preparation_rules.part_fits)
        for path, fields_of in preparation_rules.FIELDS.items()
    ),
    Entry(
        "kboost.preparation.table_preparation.TablePreparation",
        holds=preparation_rules.preparation_fits,
        is_estimator=True,
    ),
]

PREPROCESSING = [
    *_transformers("sklearn.pipeline", "Pipeline", "FeatureUnion"),
    *_transformers("sklearn.compose", "ColumnTransformer"),
    *_transformers("sklearn.impute", "SimpleImputer", "MissingIndicator"),
    *_transformers("sklearn.decomposition", "PCA", "TruncatedSVD"),
    *_transformers("sklearn.feature_selection", "VarianceThreshold"),
    *_transformers("sklearn.feature_extraction.text", "TfidfTransformer"),
    *_transformers(
        "sklearn.preprocessing",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
]

AUTO = [
    _part(f"auto.{path}", fields_of, auto_rules.part_fits)
    for path, fields_of in auto_rules.FIELDS.items()
]

OF_KBOOST = [*PARTS_OF_MODELS, *SETTINGS, *ESTIMATORS, *PREPARATION, *AUTO]
ENTRIES = {entry.name: entry for entry in (*OF_KBOOST, *PREPROCESSING)}

_BY_CLASS_NAME: dict[str, list[Entry]] = {}
for _entry in ENTRIES.values():
    _BY_CLASS_NAME.setdefault(_entry.path.rpartition(".")[2], []).append(_entry)


def entry_of(cls: type) -> Entry | None:
    """The entry of a class, if it has one."""
    name, home = cls.__name__, cls.__module__.partition(".")[0]
    for entry in _BY_CLASS_NAME.get(name, ()):
        if entry.path.partition(".")[0] == home and entry.cls is cls:
            return entry
    return None


def skops_types() -> list[str]:
    """The names of the classes of kboost, and of sparse matrices, in the form skops uses."""
    names = [entry.path for entry in OF_KBOOST]
    others = [f"{c.__module__}.{c.__name__}" for c in (Step, Trace, csr_matrix, csr_array)]
    return sorted(names + others)
