"""The rules of the parameters that the kernel-boosting estimators share."""

from __future__ import annotations

from kboost._rules import (
    BOOLEAN,
    COUNT,
    INTEGER,
    NOT_NEGATIVE,
    POSITIVE,
    SEED,
    Rule,
    either,
    one_of,
    optional,
)

RULES: dict[str, Rule] = {
    "penalty": one_of("l1", "l2"),
    "C": either(POSITIVE, "auto"),
    "nonnegative": BOOLEAN,
    "intercept": one_of("free", "penalized", "none"),
    "column_scaling": one_of("floored", "unit", None),
    "max_columns": optional(COUNT),
    "max_iter": COUNT,
    "max_seconds": optional(POSITIVE),
    "tol": NOT_NEGATIVE,
    "memory_budget": COUNT,
    "n_jobs": optional(
        Rule("an integer other than 0", lambda v: bool(INTEGER.holds(v) and v != 0))
    ),
    "random_state": SEED,
    "verbose": Rule("an integer", lambda v: INTEGER.holds(v) or BOOLEAN.holds(v)),
}
