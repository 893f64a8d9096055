"""Further peers of `tables`, in the process of their job.

The searched ones draw settings at random, judge each by three folds of the training rows, and stop
once they have spent the processor seconds of AutoKernel's fit on the same table (`budget`); the
best setting is then fitted to all rows. C, alpha and gamma are log-uniform; gamma is in units of
one over the number of columns of the table, which are standardised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.objective import Row
from benchmarks.tabular import measure
from benchmarks.tabular.competitors import MAKERS, CalibratedSVC, Categories, Competitor, Numbers


@dataclass(frozen=True)
class PeerJob(measure.TableJob):
    """A job with the processor seconds that a search may spend."""

    budget: float = 0.0


class Searched(Numbers):
    """A random search within a budget."""

    def __init__(self, model: Any, ranges: dict[str, Any], budget: float) -> None:
        super().__init__(model)
        self.ranges, self.budget, self.tried = ranges, budget, 0

    def fit(self, formed: Any, y: Any) -> None:
        from sklearn.model_selection import ParameterSampler, cross_val_score

        start = measure.processor_seconds()
        unit = 1.0 / formed.shape[1]
        best: tuple[float, dict[str, Any]] = (-float("inf"), {})
        for drawn in ParameterSampler(self.ranges, 10_000, random_state=0):
            setting = {k: unit * v if k.endswith("gamma") else v for k, v in drawn.items()}
            self.model[1:].set_params(**setting)
            score = float(cross_val_score(self.model, formed, y, cv=self.folds()).mean())
            self.tried += 1
            best = max(best, (score, setting), key=lambda one: one[0])
            if measure.processor_seconds() - start > self.budget:
                break
        self.model[1:].set_params(**best[1])
        self.finish(formed, y)

    def folds(self) -> Any:
        from sklearn.base import is_classifier
        from sklearn.model_selection import KFold, StratifiedKFold

        kind = StratifiedKFold if is_classifier(self.model[-1]) else KFold
        return kind(3, shuffle=True, random_state=0)

    def finish(self, formed: Any, y: Any) -> None:
        self.model.fit(formed, y)

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "settings_tried": self.tried}


class SearchedSVC(Searched, CalibratedSVC):
    """The SVC of the search, with probabilities calibrated as those of the default one."""

    def finish(self, formed: Any, y: Any) -> None:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.pipeline import make_pipeline

        self.model = make_pipeline(
            self.model[0], CalibratedClassifierCV(self.model[-1], ensemble=False)
        ).fit(formed, y)


def support_vectors(classifies: bool, budget: float) -> Competitor:
    from sklearn.svm import SVC, SVR

    if classifies:
        return SearchedSVC(SVC(), {"svc__C": between(0.1, 1e3), "svc__gamma": widths()}, budget)
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    inner = "transformedtargetregressor__regressor__"
    ranges = {"C": between(0.1, 1e3), "gamma": widths(), "epsilon": between(1e-3, 0.3)}
    model = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    return Searched(model, {inner + name: one for name, one in ranges.items()}, budget)


def kernel_ridge(classifies: bool, budget: float) -> Competitor:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.preprocessing import StandardScaler

    inner = "transformedtargetregressor__regressor__"
    model = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler())
    ranges = {inner + "alpha": between(1e-4, 10.0), inner + "gamma": widths()}
    return Searched(model, ranges, budget)


def nystroem(classifies: bool, budget: float) -> Competitor:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import Pipeline

    last: Any = LogisticRegression(max_iter=2000) if classifies else Ridge()
    features = Nystroem(n_components=250, random_state=0)
    ranges = {
        "pipeline__features__gamma": widths(),
        **(
            {"pipeline__last__C": between(0.01, 1e3)}
            if classifies
            else {"pipeline__last__alpha": between(1e-4, 10.0)}
        ),
    }
    return Searched(Pipeline([("features", features), ("last", last)]), ranges, budget)


def gaussian_process(classifies: bool, budget: float) -> Competitor:
    """One width, amplitude and noise by marginal likelihood."""
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF()
    if classifies:
        return Numbers(GaussianProcessClassifier(kernel, random_state=0))
    return Numbers(
        GaussianProcessRegressor(kernel + WhiteKernel(), normalize_y=True, random_state=0)
    )


def explainable_boosting(classifies: bool, budget: float) -> Competitor:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if classifies else ExplainableBoostingRegressor
    return Categories(kind())


def between(low: float, high: float) -> Any:
    from scipy.stats import loguniform

    return loguniform(low, high)


def widths() -> Any:
    return between(0.01, 10.0)


FURTHER: dict[str, Callable[[bool, float], Competitor]] = {
    "SVM, tuned": support_vectors,
    "KernelRidge, tuned": kernel_ridge,
    "Nystroem + linear, tuned": nystroem,
    "Gaussian process": gaussian_process,
    "EBM": explainable_boosting,
}


def answer(job: Row) -> Row:
    """The row of a job."""
    one = PeerJob(**job)
    MAKERS[one.competitor] = lambda classifies, _: FURTHER[one.competitor](classifies, one.budget)
    return measure.measure(one)


if __name__ == "__main__":
    measure.main(answer)
