"""Ours, with the errors on training, validation and test rows at every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray
from benchmarks.solvers import kboost


class Solver(kboost.Solver):
    """As `kboost`; the data must have a validation part."""

    def prepare(self, data: Data) -> None:
        from kboost import KernelBoostClassifier
        from kboost.core.validation import ValidationMonitor

        class Observed(KernelBoostClassifier):  # type: ignore[misc]
            """Looks at the test rows too, and tells nobody but the record."""

            def _grow(self, library: Any, problems: Any, watches: Any, deadline: Any) -> Any:
                self.record_ = Record(
                    watches[0], ValidationMonitor(data.X_test, errors(data.y_test)), problems
                )
                return super()._grow(library, problems, [self.record_], deadline)

        super().prepare(data)
        self.estimator = Observed(**self.estimator.get_params(deep=False))

    def fit(self, data: Data) -> Model:
        model = super().fit(data)
        return Model(model.estimator, model.names)


class Record:
    """Stands in for the watch of the validation rows."""

    def __init__(self, watch: Any, test: Any, problems: Sequence[Any]) -> None:
        self._watch, self._test, self._train = watch, test, errors(problems[0].signs)
        self.steps: list[dict[str, float]] = []

    def error(self, hypotheses: Any, fit: Any) -> float:
        """The validation error; all three go into the record."""
        found: float = self._watch.error(hypotheses, fit)
        self.steps.append(
            {
                "columns": len(fit.coef),
                "train": self._train(fit.decision),
                "validation": found,
                "test": self._test.error(hypotheses, fit),
            }
        )
        return found


def errors(signs: FloatArray) -> Any:
    """The share of decisions on the wrong side."""
    return lambda decision: float(np.mean((decision > 0) != (signs > 0)))


class Model(kboost.Model):
    """The fitted estimator with its record."""

    def facts(self) -> dict[str, Any]:
        trace = self.estimator.trace_
        no_errors = [s.iteration for s in trace if s.error_price is not None and
                     s.error_price <= self.estimator.tol]  # fmt: skip
        steps = self.estimator.record_.steps
        return {
            **super().facts(),
            "curve": {name: [step[name] for step in steps] for name in steps[0]},
            "priced": [step.n_priced for step in trace],
            "objective_curve": [step.objective for step in trace],
            "tr1": no_errors[0] if no_errors else None,
            "tr3": int(np.argmin([step["validation"] for step in steps])),
        }
