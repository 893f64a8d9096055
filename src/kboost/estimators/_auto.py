"""What the two Auto estimators share: the table, the search, the result as fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.base import KernelEstimator
from kboost._estimator.callbacks import callback_listeners
from kboost._estimator.explanation import Explanation
from kboost._estimator.parameter_rules import RULES
from kboost._estimator.players import Players
from kboost._estimator.predictor import CompiledSum, Decision
from kboost._rules import POSITIVE, check_params, either, one_of, optional
from kboost._typing import FloatArray
from kboost._validation import check_weights
from kboost.auto.certified import CertifiedResult, Problem
from kboost.auto.final_fit import CUT_SHORT, ONE_PROBLEM
from kboost.auto.fit import AutoResult, fit_auto, sentence
from kboost.auto.learning_rows import row_counts
from kboost.auto.plan import AutoPlan
from kboost.auto.score_words import as_measured, best_word, figure_words, score_words
from kboost.auto.scored_candidate import ScoredCandidate, Scorer
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.model import AdditiveModel
from kboost.data.indexed_rows import IndexedRows
from kboost.data.sizes import MOST_ENTRIES, search_seconds
from kboost.estimators._kernel_boost import set_fitted
from kboost.estimators._left_out import SCORING
from kboost.metric.folds import LearningRows
from kboost.plans.sparse import SparseResult
from kboost.preparation import TablePreparation
from kboost.preparation.compiled import CompiledPreparation

_RULES = {
    "max_seconds": optional(either(POSITIVE, "auto")),
    "prefer": one_of("accuracy", "size", "speed"),
    "scoring": SCORING,
    **{name: RULES[name] for name in ("random_state", "n_jobs", "verbose")},
}
_PREPARATION = 4  # part of the time in which encodings may be compared


class AutoKernelBase(KernelEstimator):
    """Prepares a table, searches for the best model, and shows what was found."""

    _limits = frozenset({"max_seconds"})
    _plan_options: ClassVar[dict[str, Any]] = {}  # of the ablation study

    preparation_: TablePreparation
    estimator_: Any

    @property
    def _model(self) -> AdditiveModel:
        """The fitted sum of kernels, on prepared rows."""
        model: AdditiveModel = self.estimator_._model
        return model

    # Fitting -----------------------------------------------------------------------------------

    def _check_given(self, X: Any, y: Any) -> None:
        """Raise for a parameter that breaks its rule, for rows elsewhere and missing targets."""
        check_params(self.get_params(deep=False), _RULES)
        self._check_place(X)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )

    def _check_place(self, X: Any) -> None:
        """Raise for rows that are not where this estimator fits them."""
        if type(X).__module__.partition(".")[0].startswith("dask"):
            raise TypeError(
                f"X must be in memory; got a Dask {type(X).__name__}, which "
                f"kboost.dask.Dask{type(self).__name__} accepts."
            )

    def _deadline(self, n_rows: int, started: float) -> Deadline:
        """The end of the time for a table of so many rows, which began at the moment `started`."""
        seconds = search_seconds(n_rows) if self.max_seconds == "auto" else self.max_seconds
        return NO_LIMIT if seconds is None else Deadline(started + seconds, seconds)

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, task: str, deadline: Deadline
    ) -> tuple[Any, FloatArray]:
        """The table as numbers, and the weights of its rows; sets what describes the input."""
        rows = self._fit_preparation(X, y, sample_weight, task, deadline)
        return rows, row_counts(check_weights(sample_weight, rows.shape[0]))

    def _fit_preparation(
        self, X: Any, y: Any, sample_weight: Any, task: str, deadline: Deadline
    ) -> FloatArray:
        """Learn how a table becomes numbers, and return those of its rows."""
        self.preparation_ = TablePreparation(target_type=task)
        until = deadline.share(_PREPARATION)
        rows = self.preparation_._fit_transform(X, y, sample_weight, until)
        self.n_features_in_ = self.preparation_.n_features_in_
        if hasattr(self.preparation_, "feature_names_in_"):
            self.feature_names_in_ = self.preparation_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return _dense(rows)

    def _search(
        self,
        X: Any,
        rows: IndexedRows,
        learning: LearningRows,
        scorer: Scorer,
        problem: Problem,
        deadline: Deadline,
    ) -> AutoResult:
        """Search and fit within the time limit."""
        plan = AutoPlan(
            scorer=scorer,
            prefer=self.prefer,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            problem=problem if isinstance(X, np.ndarray) else None,  # column generation
            **self._plan_options,
        )
        return fit_auto(
            plan, X, rows, learning, deadline=deadline, listeners=callback_listeners(self)
        )

    def _show_search(self, search: AutoResult, X: FloatArray) -> None:
        """Set the fitted attributes that both estimators have."""
        result = search.result
        if isinstance(result, CertifiedResult):
            model = result.estimator
            set_fitted(model, result.plan, result.fit)
        else:
            model = self._sparse_model(result)
            model.n_features_in_ = X.shape[1]
            model._show(result)
        self.estimator_ = model
        self.kernels_ = model.kernels_
        self.n_columns_, self.columns_per_kernel_ = model.n_columns_, model.columns_per_kernel_
        self.dual_gap_ = None if model.dual_gap_ is None else float(np.max(model.dual_gap_))
        self.leaderboard_ = [_line(c, X.shape[1]) for c in search.candidates]
        self.reason_ = _reason(search, self.scoring_, self.prefer)
        self.stop_reason_ = result.reason

    @abstractmethod
    def _sparse_model(self, result: SparseResult) -> Any:
        """The estimator of a fit on all columns or on few basis vectors, before it is shown."""

    # Prediction --------------------------------------------------------------------------------

    def _decision(self, X: Any) -> FloatArray:
        """The values of the sum of kernels, before any transform."""
        check_is_fitted(self, "n_columns_")
        self.estimator_._predict_dtype = self._predict_dtype
        self.estimator_.n_jobs = self.n_jobs
        values: FloatArray = self.estimator_._values_at(self._rows(X))  # rows are checked
        return values

    def _compiled(self, n_jobs: int) -> Decision:
        values = CompiledSum(self._model, self._predict_dtype, n_jobs)
        rows_of = CompiledPreparation(self.preparation_)
        return lambda X: values(np.ascontiguousarray(_dense(rows_of(X))))

    def _rows(self, X: Any) -> FloatArray:
        return np.ascontiguousarray(_dense(self.preparation_.transform(X)))

    # Features ----------------------------------------------------------------------------------

    def _by_term(self, X: Any) -> Explanation:
        explanation: Explanation = self.estimator_._by_term(self._rows(X))
        return explanation

    def _checked_rows(self, X: Any) -> FloatArray:
        return self._rows(X)

    def _n_inputs(self) -> int:
        n: int = self.estimator_.n_features_in_
        return n

    def _players(self) -> Players:
        return Players(self._n_inputs(), [column.output for column in self.preparation_.columns_])

    def _feature_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.preparation_.columns_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _dense(rows: Any) -> FloatArray:
    if sparse.issparse(rows):
        if rows.shape[0] * rows.shape[1] > MOST_ENTRIES:
            raise ValueError(
                f"X must have at most {MOST_ENTRIES} entries here, zeros included; got shape "
                f"{rows.shape}; SparseKernel estimators accept larger sparse tables."
            )
        return np.asarray(rows.toarray())
    return np.asarray(rows)


def _line(candidate: ScoredCandidate, n_features: int) -> dict[str, Any]:
    """A line of the leaderboard."""
    return {
        "candidate": candidate.name,
        "score": candidate.score,
        "spread": candidate.spread,
        "fit_seconds": candidate.seconds,
        "predict_us_per_row": candidate.row_microseconds,
        "bytes": candidate.n_bytes(n_features),
        "columns": candidate.n_columns,
    }


def _reason(search: AutoResult, scoring: str, prefer: str) -> str:
    """Why this model, in words."""
    winner, others = search.winner, [c for c in search.candidates if c is not search.winner]
    if winner.is_small:
        return " ".join([_small_reason(search, scoring, prefer), sentence(search.failure)]).rstrip()
    best = f"{winner.name} has the {best_word(scoring)} {score_words(scoring)}"
    words = f"{best} on rows left out, {_measured(scoring, winner)}"
    if others and others[0].score > winner.score:
        words = f"{best} of a single kernel, {_measured(scoring, winner)}"
    elif others:
        words += f"; next is {others[0].name} with {_measured(scoring, others[0])}"
    if len(winner.members) > 1:
        parts = [f"{weight:.2f} {each.family.name}" for each, weight in winner.members]
        words += f". The blend is {', '.join(parts)}"
    if prefer != "accuracy":
        n_columns = search.result.model.n_columns
        words += f". It has {n_columns} columns; other numbers of columns were not compared"
    if search.engine not in (None, ONE_PROBLEM) and search.result.reason.rule not in CUT_SHORT:
        words += f". All rows are fitted in {search.engine.name}"
    return f"{words}. {sentence(search.failure)}".rstrip()


def _measured(scoring: str, candidate: ScoredCandidate) -> str:
    """The score of a candidate, errors without their minus sign."""
    return figure_words(as_measured(scoring, candidate.score))


def _small_reason(search: AutoResult, scoring: str, prefer: str) -> str:
    """Why a model of few columns."""
    winner, best = search.winner, search.candidates[0]
    engine = "Column generation over" if winner.cost is not None else "A joint fit of"
    kernels = ", ".join(each.family.name for each, _ in winner.members)
    near = "has the lowest error" if best is winner else "stays close to the lowest error"
    words = (
        f"{engine} {kernels} with {search.result.model.n_columns} columns {near} on rows left out, "
        f"which {prefer!r} prefers: the {score_words(scoring)} is "
        f"{_measured(scoring, winner)}"
    )
    if best is not winner:
        words += f"; that of {best.name} is {_measured(scoring, best)}"
    rival = next((c for c in search.candidates if c.is_small and c is not winner), None)
    if rival is not None and rival is not best:
        words += f", that of {rival.name}, about {rival.n_columns} columns, "
        words += f"{_measured(scoring, rival)}"
    return words + "."
