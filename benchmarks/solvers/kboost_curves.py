"""Ours, with the errors on training, validation and test rows at every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray
from benchmarks.solvers import kboost


class Solver(kboost.Solver):
    """As `kboost`; the data must have a validation part."""

    def fit(self, data: Data) -> Model:
        from kboost.core.validation import ValidationMonitor
        from kboost.estimators._kernel_boost import ValidationInput, prepare, set_fitted
        from kboost.plans.margin import fit_margin

        estimator = self.estimator
        validation = ValidationInput(data.X_val, data.y_val)
        plan, rows = prepare(estimator, data.X_train, data.y_train, None, validation)
        signs = plan.outputs.problems(rows.rows, 1.0)[0].signs
        record = Record(signs, ValidationMonitor(data.X_test, errors(data.y_test)))
        fit = fit_margin(plan, rows, lambda number, snapshot: [record.listening(snapshot)])
        set_fitted(estimator, plan, fit)
        return Model(estimator, self.names, record.steps)


class Record:
    """A listener that notes the errors of each step on training, validation and test rows."""

    def __init__(self, signs: FloatArray, test: Any) -> None:
        self._train, self._test = errors(signs), test
        self.steps: list[dict[str, float]] = []

    def listening(self, snapshot: Callable[[], Any]) -> Record:
        self._snapshot = snapshot
        return self

    def on_step(self, trace: Sequence[Any]) -> None:
        (result,) = self._snapshot().results
        self.steps.append(
            {
                "columns": len(result.fit.coef),
                "train": self._train(result.fit.decision),
                "validation": trace[-1].validation_error,
                "test": self._test.error(result.hypotheses, result.fit),
            }
        )

    def on_end(self) -> None:
        """Nothing is left to note."""


def errors(signs: FloatArray) -> Any:
    """The share of decisions on the wrong side."""
    return lambda decision: float(np.mean((decision > 0) != (signs > 0)))


class Model(kboost.Model):
    """The fitted estimator with its record."""

    def __init__(
        self, estimator: Any, names: Sequence[str], steps: Sequence[dict[str, float]]
    ) -> None:
        super().__init__(estimator, names)
        self.steps = steps

    def facts(self) -> dict[str, Any]:
        trace = self.estimator.trace_
        no_errors = [s.iteration for s in trace if s.error_price is not None and
                     s.error_price <= self.estimator.tol]  # fmt: skip
        steps = self.steps
        return {
            **super().facts(),
            "curve": {name: [step[name] for step in steps] for name in steps[0]},
            "priced": [step.n_priced for step in trace],
            "objective_curve": [step.objective for step in trace],
            "tr1": no_errors[0] if no_errors else None,
            "tr3": int(np.argmin([step["validation"] for step in steps])),
        }
