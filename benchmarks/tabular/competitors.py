"""The competitors, all with their default settings; a frame of raw columns goes in.

A competitor converts a frame to the form that its documentation asks for (`form`, once learned
from the training rows by `learn`), and its model sees that form only:

- LightGBM, XGBoost, HistGradientBoosting: text as pandas categories of the training rows; an unseen
  one is a gap, and gaps are left to the library. HistGradientBoosting allows 255 categories:
  columns with more are given as their codes.
- CatBoost: text as strings, a gap in it as a string of its own; gaps in numbers as they are.
- SVC, SVR, and kboost's single estimators: standardised numbers with the mean in gaps, and one-hots
  of categories that at least five rows have, the others together.
- AutoKernel: the frame as it is.

SVC has no probabilities: they come from `CalibratedClassifierCV(SVC(), ensemble=False)`, whose own
SVC, fitted to all rows, makes the predictions. `threads` goes to libraries that do not read
OMP_NUM_THREADS; None leaves it to them.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from benchmarks.tabular.data import text_columns

MOST_CATEGORIES = 255  # of HistGradientBoosting
Maker = Callable[[bool, int | None], "Competitor"]


class Competitor:
    """A model, the form of its frames, and what to pass to `predict`."""

    def __init__(self, model: Any, *, fast: dict[str, Any] | None = None) -> None:
        self.model, self.fast = model, fast or {}

    def learn(self, frame: Any) -> None:
        """Learn what `form` needs from the training rows."""

    def form(self, frame: Any) -> Any:
        return frame

    def fit(self, formed: Any, y: Any) -> None:
        self.model.fit(formed, y)

    def predict(self, formed: Any) -> Any:
        return self.model.predict(formed)

    def predict_fast(self, formed: Any) -> Any:
        """The prediction whose time is taken on many rows."""
        return self.model.predict(formed, **self.fast) if self.fast else self.predict(formed)

    def probabilities(self, formed: Any) -> Any:
        """A column a class; None if the model has none."""
        if not hasattr(self.model, "predict_proba"):
            return None
        return self.model.predict_proba(formed)

    def facts(self) -> dict[str, Any]:
        """What else to store of the fitted model."""
        return {}


class Categories(Competitor):
    """Text as pandas categories; columns with more than `most` of them as codes."""

    def __init__(self, model: Any, most: int | None = None) -> None:
        super().__init__(model)
        self.most = most

    def learn(self, frame: Any) -> None:
        self.levels = {name: sorted(frame[name].dropna().unique()) for name in text_columns(frame)}

    def form(self, frame: Any) -> Any:
        import pandas as pd

        made = {}
        for name, levels in self.levels.items():
            codes = pd.Index(levels).get_indexer(frame[name])
            if self.most is not None and len(levels) > self.most:
                made[name] = pd.Series(codes, dtype=float).where(codes >= 0)
            else:
                made[name] = pd.Categorical.from_codes(codes, categories=levels)
        return replaced(frame, made)


def replaced(frame: Any, columns: dict[str, Any]) -> Any:
    """A frame with these columns; `assign` does not take one that is called `self`."""
    frame = frame.copy(deep=False)
    for name, column in columns.items():
        frame[name] = column
    return frame


class CatBoost(Competitor):
    """Text as strings; `cat_features` names the columns."""

    def learn(self, frame: Any) -> None:
        self.names = text_columns(frame)

    def form(self, frame: Any) -> Any:
        text = {
            name: frame[name].astype(object).fillna("missing").astype(str) for name in self.names
        }
        return replaced(frame, text)

    def fit(self, formed: Any, y: Any) -> None:
        self.model.fit(formed, y, cat_features=self.names)

    def predict(self, formed: Any) -> Any:
        return self.model.predict(formed).ravel()  # a column for several classes


class Numbers(Competitor):
    """Standardised numbers and one-hots, made in the clock of fit and predict."""

    def learn(self, frame: Any) -> None:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        text = text_columns(frame)
        numbers = [name for name in frame.columns if name not in text]
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False
        )
        columns = ColumnTransformer(
            [("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
             ("text", one_hot, text)]
        )  # fmt: skip
        self.model = make_pipeline(columns, self.model)

    def facts(self) -> dict[str, Any]:
        last = self.model[-1]
        last = getattr(last, "calibrated_classifiers_", [last])[0]
        last = getattr(last, "estimator", last)
        found: dict[str, Any] = {}
        if (columns := getattr(last, "n_columns_", None)) is not None:
            found["columns"] = int(columns)
        elif (support := getattr(last, "support_", None)) is not None:
            found["columns"] = len(support)
        if (reason := getattr(last, "stop_reason_", None)) is not None:
            found["stop"] = str(reason)
            found["ended_early"] = "max_seconds" in str(
                reason
            )  # so the result is the machine's too
        return found


class CalibratedSVC(Numbers):
    """The predictions of the SVC itself, the probabilities of its calibration."""

    def predict(self, formed: Any) -> Any:
        svc = self.model[-1].calibrated_classifiers_[0].estimator
        return svc.predict(self.model[:-1].transform(formed))


class AutoKernel(Competitor):
    """kboost's own choice of kernels, engine and blend, from the raw frame."""

    def facts(self) -> dict[str, Any]:
        names = {
            "winner_": "winner",
            "reason_": "reason",
            "n_columns_": "columns",
            "leaderboard_": "leaderboard_seconds",  # has times, which differ from run to run
        }
        found = {stored: getattr(self.model, name, None) for name, stored in names.items()}
        return {name: plain(value) for name, value in found.items() if value is not None}


def plain(value: Any) -> Any:
    """A value that JSON has."""
    if hasattr(value, "to_dict"):
        return plain(
            value.to_dict("records") if getattr(value, "ndim", 1) == 2 else value.to_dict()
        )
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def lightgbm(classifies: bool, threads: int | None, **settings: Any) -> Competitor:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if classifies else LGBMRegressor
    return Categories(kind(n_jobs=threads, verbose=-1, **settings))


def lightgbm_large(classifies: bool, threads: int | None) -> Competitor:
    return lightgbm(classifies, threads, n_estimators=1000, num_leaves=63)


def xgboost(classifies: bool, threads: int | None) -> Competitor:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBClassifier if classifies else XGBRegressor
    return Categories(kind(enable_categorical=True, n_jobs=threads))


def catboost(classifies: bool, threads: int | None) -> Competitor:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if classifies else CatBoostRegressor
    return CatBoost(kind(verbose=False, allow_writing_files=False, thread_count=threads))


def hist_gradient_boosting(classifies: bool, threads: int | None) -> Competitor:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    return Categories(kind(categorical_features="from_dtype"), most=MOST_CATEGORIES)


def support_vectors(classifies: bool, threads: int | None) -> Competitor:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC, SVR

    if classifies:
        return CalibratedSVC(CalibratedClassifierCV(SVC(), ensemble=False))
    return Numbers(SVR())


def sparse_kernel(classifies: bool, threads: int | None) -> Competitor:
    from kboost import SparseKernelClassifier, SparseKernelRegressor

    return Numbers(SparseKernelClassifier() if classifies else SparseKernelRegressor())


def kernel_boost(classifies: bool, threads: int | None) -> Competitor:
    from kboost import KernelBoostClassifier, KernelBoostRegressor

    kind = KernelBoostClassifier if classifies else KernelBoostRegressor
    return Numbers(kind(max_seconds=60))


def auto_kernel(**settings: Any) -> Maker:
    """AutoKernel with settings: the defaults, and the variants of the ablation."""

    def make(classifies: bool, threads: int | None) -> Competitor:
        return AutoKernel(auto_kind(classifies)(**settings))

    return make


def ablated(**options: Any) -> Maker:
    """AutoKernel with some of its parts left out."""

    def make(classifies: bool, threads: int | None) -> Competitor:
        from kboost.metric.families import FAMILIES

        plan = dict(options)
        if (names := plan.pop("names", None)) is not None:
            plan["families"] = [family for family in FAMILIES if family.name in names]
        estimator = auto_kind(classifies)()
        estimator._plan_options = plan
        return AutoKernel(estimator)

    return make


def quick_auto_kernel(classifies: bool, threads: int | None) -> Competitor:
    """The one for many predictions: `prefer="speed"`, given where the estimator asks for it."""
    kind, quick = auto_kind(classifies), {"prefer": "speed"}
    if "prefer" in signature(kind).parameters:
        return AutoKernel(kind(**quick))
    return AutoKernel(kind(), fast=quick)


def auto_kind(classifies: bool) -> Any:
    import kboost

    return kboost.AutoKernelClassifier if classifies else kboost.AutoKernelRegressor


# The ablation: what is added to AutoKernel step by step, as the options of its plan. AutoKernel
# itself adds transforms of the target.
PLAIN = ("laplacian ranks", "gaussian")
ABLATION: dict[str, dict[str, Any]] = {
    "plain library": {
        "names": PLAIN, "rounds": 0, "engine": False, "blend": False, "scales": False,
    },
    "+ learned widths": {"engine": False, "blend": False, "scales": False},
    "+ engine choice": {"blend": False, "scales": False},
    "+ blend": {"scales": False},
}  # fmt: skip
OURS, QUICK = "AutoKernel", "AutoKernel speed"
SINGLE = ("SparseKernel", "KernelBoost")  # kboost's estimators on their own
PEERS = (
    "LightGBM", "CatBoost", "XGBoost", "HistGradientBoosting", "SVM", "LightGBM 1000x63",
)  # fmt: skip
MAKERS: dict[str, Maker] = {
    OURS: auto_kernel(),
    QUICK: quick_auto_kernel,
    "SparseKernel": sparse_kernel,
    "KernelBoost": kernel_boost,
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "XGBoost": xgboost,
    "HistGradientBoosting": hist_gradient_boosting,
    "SVM": support_vectors,
    "LightGBM 1000x63": lightgbm_large,
    **{name: ablated(**options) for name, options in ABLATION.items()},
}
