"""Ranks, wins and the criteria of the entry `tables`, computed from its rows.

A competitor without a figure (time limit, failure, no probabilities) counts as infinitely bad.
Ranks are means over tables, equal figures share theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from statistics import fmean, median

from benchmarks.objective import Row
from benchmarks.tabular.competitors import OURS, PEERS, QUICK

RANKED = (OURS, *PEERS)
WORST_RATIO, MOST_SECONDS, MOST_CATBOOST = 1.25, 60.0, 15.0
MOST_ROWS, MOST_FEATURES = 20_000, 50
RARE, ALLOWED = 0.2, 0.01
FRIEDMAN_ERROR, FRIEDMAN_COLUMNS, FRIEDMAN_SECONDS = 0.05, 100, 5.0
Found = Mapping[tuple[str, str], Row]  # by table and competitor


@dataclass(frozen=True)
class Verdict:
    """A criterion, whether it is met, and the figures."""

    criterion: str
    met: bool
    figures: str

    def words(self) -> str:
        return f"{self.criterion}: {'met' if self.met else 'NOT MET'}; {self.figures}"


def figure(found: Found, table: str, competitor: str, key: str) -> float:
    value = found[table, competitor].get(key)
    return inf if value is None else float(value)


def tables_of(found: Found, task: str | None = None) -> list[str]:
    """Tables in the order of the rows, of one task or of both."""
    tables = dict.fromkeys(table for table, _ in found)
    return [name for name in tables if task in (None, found[name, PEERS[0]]["task"])]


def mean_ranks(
    found: Found, task: str, key: str, competitors: Sequence[str] = RANKED
) -> dict[str, float]:
    from scipy.stats import rankdata

    ranks = [
        rankdata([figure(found, table, one, key) for one in competitors])
        for table in tables_of(found, task)
    ]
    return {one: fmean(r[i] for r in ranks) if ranks else nan for i, one in enumerate(competitors)}


def place(ranks: Mapping[str, float], competitor: str = OURS) -> int:
    """1 for the lowest mean rank; those who share it share the place."""
    return 1 + sum(rank < ranks[competitor] for rank in ranks.values())


def compare(found: Found, table: str, peer: str, key: str) -> str:
    """Win, tie or loss of ours; a tie is within one percent of the peer's, or one test row."""
    ours, theirs = (figure(found, table, one, key) for one in (OURS, peer))
    row = found[table, PEERS[0]]
    by_rows = row["task"] == "classification" and key == "error"
    allowed = max(0.01 * theirs, 1 / row["n_test"] if by_rows else 0.0)
    if ours == theirs or abs(ours - theirs) <= allowed * (1 + 1e-9) < inf:
        return "tie"
    return "win" if ours < theirs else "loss"


def counts(found: Found, task: str, peer: str, key: str) -> str:
    """Wins, ties and losses as `a/b/c`."""
    results = [compare(found, table, peer, key) for table in tables_of(found, task)]
    return "/".join(str(results.count(word)) for word in ("win", "tie", "loss"))


def ratio_to_best(found: Found, table: str) -> float:
    """Our error over the lowest of a peer."""
    ours = figure(found, table, OURS, "error")
    best = min(figure(found, table, peer, "error") for peer in PEERS)
    return 1.0 if ours == best else inf if best == 0 else ours / best


def verdicts(found: Found, friedman: Sequence[Row]) -> list[Verdict]:
    return [
        ranked(found, "classification", "error", 2),
        ranked(found, "classification", "log_loss", 2),
        ranked(found, "regression", "error", 1),
        never_far_behind(found),
        quick_to_fit(found),
        near_catboost(found),
        quick_to_predict(found),
        rare_classes(found),
        friedman1(friedman),
    ]


def ranked(found: Found, task: str, key: str, worst: int) -> Verdict:
    ranks = mean_ranks(found, task, key)
    reached = place(ranks)
    words = {"error": "NMSE" if task == "regression" else "error", "log_loss": "log loss"}[key]
    wanted = "first" if worst == 1 else "first or second"
    return Verdict(
        f"mean rank {wanted} in {task} by {words}",
        reached <= worst,
        f"place {reached} of {len(ranks)}, mean rank {ranks[OURS]:.2f}",
    )


def never_far_behind(found: Found) -> Verdict:
    ratios = {table: ratio_to_best(found, table) for table in tables_of(found)}
    far = {table: ratio for table, ratio in ratios.items() if ratio > WORST_RATIO}
    return Verdict(
        f"error at most {WORST_RATIO:g} times the best peer's on every table",
        not far,
        f"highest ratio {max(ratios.values()):.3f}; above on {named(far)}",
    )


def quick_to_fit(found: Found) -> Verdict:
    spent = {
        table: figure(found, table, OURS, "fit_cpu_seconds")
        for table in tables_of(found)
        if found[table, PEERS[0]]["n_train"] <= MOST_ROWS
        and found[table, PEERS[0]]["n_features"] <= MOST_FEATURES
    }
    long = {table: value for table, value in spent.items() if value > MOST_SECONDS}
    return Verdict(
        f"a fit takes at most {MOST_SECONDS:g} s of the processor up to {MOST_ROWS:,} rows and "
        f"{MOST_FEATURES} features",
        not long,
        f"at most {max(spent.values(), default=0.0):.1f} s; above on {named(long)}",
    )


def near_catboost(found: Found) -> Verdict:
    ratio = middle_ratio(found, "fit_cpu_seconds", OURS, "CatBoost")
    words = f"at most {MOST_CATBOOST:g} times CatBoost's processor seconds at the median"
    return Verdict(words, ratio <= MOST_CATBOOST, f"{ratio:.2f} times")


def quick_to_predict(found: Found) -> Verdict:
    ratio = middle_ratio(found, "million_seconds", QUICK, "LightGBM")
    return Verdict(
        'a million predictions with prefer="speed" not slower than LightGBM\'s at the median',
        ratio <= 1,
        f"{ratio:.2f} times, ours from raw rows and LightGBM's from rows brought into form",
    )


def middle_ratio(found: Found, key: str, ours: str, peer: str) -> float:
    """Median over tables of our figure over the peer's."""
    return median(
        figure(found, table, ours, key) / figure(found, table, peer, key)
        for table in tables_of(found)
    )


def rare_classes(found: Found) -> Verdict:
    tables = [
        table
        for table in tables_of(found, "classification")
        if found[table, PEERS[0]]["rarest"] < RARE
    ]
    worse = {}
    for table in tables:
        auc, loss = (
            [figure(found, table, one, key) for one in (OURS, "LightGBM")]
            for key in ("auc", "log_loss")
        )
        behind = max(auc[1] - auc[0] if auc[0] < inf else inf, loss[0] - loss[1])
        if behind > ALLOWED:
            worse[table] = behind
    return Verdict(
        f"AUC and log loss at most {ALLOWED:g} worse than LightGBM's where a class has less than "
        f"{100 * RARE:g} % of the rows",
        not worse,
        f"{len(tables)} tables; worse on {named(worse)}",
    )


def friedman1(rows: Sequence[Row]) -> Verdict:
    def met(row: Row) -> bool:
        return row["status"] == "ok" and bool(
            row["error"] < FRIEDMAN_ERROR
            and row["columns"] < FRIEDMAN_COLUMNS
            and row["fit_cpu_seconds"] <= FRIEDMAN_SECONDS
        )

    return Verdict(
        f"friedman1: NMSE below {100 * FRIEDMAN_ERROR:g} % against targets without noise, fewer "
        f"than {FRIEDMAN_COLUMNS} columns, at most {FRIEDMAN_SECONDS:g} s of the processor",
        all(met(row) for row in rows),
        f"{sum(map(met, rows))} of {len(rows)} draws",
    )


def named(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} ({value:.3g})" for name, value in figures.items()) or "none"
