"""Column generation against the full linear program, 1000 rows of Forest.

Kernels L, Q and R, columns as they are, free coefficients and offset, C = 1: 3000 columns of both
signs. The peer is HiGHS on the full program, whichever is fastest of simplex and interior point in
either shape of the program; which shape suits simplex changes from draw to draw, so both are run.
Presolve is off for simplex, where it costs more than it saves, and on for the interior point.
Ours is timed from the raw rows; the peer with its matrix already formed.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Job, Row
from benchmarks.table import percent

LIMIT = 0.2
SEEDS = range(5)
C = 1.0
OURS = {"library": "LQR", "C": C, "tol": 1e-7, "column_scaling": None}
PEERS: dict[str, dict[str, Any]] = {
    "simplex, samples as rows": {"method": "simplex", "shape": "samples", "presolve": False},
    "simplex, columns as rows": {"method": "simplex", "shape": "columns", "presolve": False},
    "interior point, samples as rows": {"method": "ipm", "shape": "samples"},
    "interior point, columns as rows": {"method": "ipm", "shape": "columns"},
}
HEAD = ("draw", "columns", "test error", "objective", "difference", "gap",
        "kboost s", "simplex s", "interior point s", "ratio")  # fmt: skip


COLUMNS = ("seed", "columns", "error", "objective", "difference", "gap",
           "ours", "simplex", "ipm", "ratio")  # fmt: skip


def run(bench: Bench) -> Report:
    draws = [draw(bench, seed) for seed in SEEDS]
    ratios, cpu = [d["ratio"] for d in draws], median(d["cpu_ratio"] for d in draws)
    exact = all(abs(d["difference"]) <= 1e-6 and d["gap"] <= 1e-6 for d in draws)
    middle = median(ratios)
    lines = [[d[name] for name in COLUMNS] for d in draws]
    lines.append(["median", *[None] * (len(HEAD) - 2), middle])
    return Report(
        head=HEAD,
        lines=lines,
        settings={"kboost": OURS, "peers": PEERS, "seeds": list(SEEDS), "limit": LIMIT},
        ratios={
            "per_draw": ratios,
            "median": middle,
            "worst": max(ratios),
            "median_by_cpu_time": cpu,
            "exact": exact,
        },
        criterion=f"objective to 1e-6, gap <= 1e-6, every ratio <= {LIMIT}",
        met=exact and max(ratios) <= LIMIT,
        notes=[
            "ratio: kboost / the fastest HiGHS; difference: relative, to the full program",
            f"median ratio by processor time, which other work disturbs less: {cpu:.3f}",
        ],
    )


def draw(bench: Bench, seed: int) -> dict[str, Any]:
    """One draw of the rows: ours, then every peer."""
    ours = must(bench.run(job("kboost", OURS, seed), f"draw {seed}: kboost"))
    peers = {
        label: must(bench.run(job("full_lp", {"C": C, **p}, seed), f"draw {seed}: {label}"))
        for label, p in PEERS.items()
    }
    optimum = min(peer["objective"] for peer in peers.values())
    simplex, ipm = fastest(peers, "simplex"), fastest(peers, "interior")
    return {
        "seed": seed,
        "columns": ours["columns"],
        "error": percent(ours["test_error"]),
        "objective": ours["objective"],
        "difference": (ours["objective"] - optimum) / optimum,
        "gap": ours["gap"],
        "ours": ours["fit_seconds"],
        "simplex": simplex,
        "ipm": ipm,
        "ratio": ours["fit_seconds"] / min(simplex, ipm),
        "cpu_ratio": ours["fit_cpu_seconds"] / min(p["fit_cpu_seconds"] for p in peers.values()),
    }


def fastest(peers: dict[str, Row], method: str) -> float:
    return min(float(r["fit_seconds"]) for label, r in peers.items() if label.startswith(method))


def job(solver: str, parameters: dict[str, Any], seed: int) -> Job:
    rows = {"n_train": 1000, "n_test": 5000, "seed": seed}
    return Job(solver, "forest", parameters, rows, C=C)
