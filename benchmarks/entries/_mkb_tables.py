"""The cells of MKBoost's Tables 2 to 4: how each is measured, and the paper's beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import fmean, stdev
from typing import Any

from benchmarks import datasets
from benchmarks.bench import Bench, must
from benchmarks.datasets.mkb import FILES
from benchmarks.entries._mkb import RATIO, ROUNDS, VARIANTS, C, judged, mkboost, paper_kernels
from benchmarks.objective import Row

SCALINGS = ("trace", "mean")
WORDS = {"trace": "trace 1", "mean": "mean diagonal 1", "none": "unscaled kernels"}
DRAWS, FEW_DRAWS = 20, 3
RUNS, FEW_RUNS = 10, 2  # of a stochastic variant, a draw; few on the large sets
LARGE = ("D1", "D11", "D2", "D10", "D3")
SMALL = ("D12", "D7", "D16", "D8", "D4", "D6", "D9", "D5", "D13", "D15", "D14")
FIT_SECONDS = 60.0
HEAD = ("set", "method", "scaling", "draws", "accuracy", "std", "paper", "paper std", "fit s",
        "paper s", "p", "ended early")  # fmt: skip

# (accuracy, std, seconds) of Tables 2, 3 and 4, D1 to D16
PAPER: dict[str, tuple[tuple[float, float, float], ...]] = {
    "MKB-D1": (
        (0.8122, 0.0077, 4.8513), (0.8137, 0.0051, 21.5289), (0.8110, 0.0052, 60.6319),
        (0.9858, 0.0079, 0.7658), (0.7361, 0.0117, 4.6168), (0.9885, 0.0140, 0.6058),
        (0.9426, 0.0139, 0.697), (0.9522, 0.0154, 1.163), (0.9590, 0.0143, 3.1505),
        (0.9090, 0.0070, 36.0281), (0.9663, 0.0030, 16.7547), (0.8183, 0.0396, 0.5722),
        (0.8158, 0.0067, 5.2625), (0.6493, 0.0268, 5.2695), (0.7877, 0.0085, 4.1932),
        (0.9663, 0.0107, 0.8688),
    ),
    "MKB-D2": (
        (0.8093, 0.0086, 4.9239), (0.8122, 0.0048, 21.9411), (0.8103, 0.0037, 62.5635),
        (0.9907, 0.0057, 0.8683), (0.7263, 0.0094, 4.5845), (0.9890, 0.0121, 0.4497),
        (0.9453, 0.0103, 0.6048), (0.8829, 0.0199, 1.096), (0.9132, 0.0167, 3.2468),
        (0.9032, 0.0050, 39.8875), (0.9675, 0.0026, 17.5432), (0.8021, 0.0338, 0.4547),
        (0.7923, 0.0079, 5.2193), (0.6329, 0.0273, 5.4672), (0.7848, 0.0115, 4.5257),
        (0.9741, 0.0074, 0.8285),
    ),
    "MKB-S1": (
        (0.8126, 0.0072, 2.2384), (0.8132, 0.0052, 9.4543), (0.8118, 0.0055, 26.0512),
        (0.9878, 0.0067, 0.435), (0.7355, 0.0106, 2.0623), (0.989, 0.0138, 0.2732),
        (0.9469, 0.0130, 0.3547), (0.943, 0.0153, 0.5347), (0.9519, 0.0156, 1.6099),
        (0.9085, 0.0070, 20.6196), (0.9665, 0.0034, 9.366), (0.8186, 0.0356, 0.2388),
        (0.8132, 0.0066, 2.4548), (0.6416, 0.0270, 2.8047), (0.786, 0.0114, 2.6175),
        (0.9673, 0.0102, 0.554),
    ),
    "MKB-S2": (
        (0.8134, 0.0069, 2.2776), (0.8164, 0.0041, 9.4108), (0.8156, 0.0046, 25.8940),
        (0.9886, 0.0061, 0.3975), (0.7359, 0.0079, 2.0320), (0.9879, 0.0137, 0.2727),
        (0.943, 0.0152, 0.3527), (0.8998, 0.0221, 0.5423), (0.9308, 0.0189, 1.6198),
        (0.9070, 0.0056, 20.4699), (0.9677, 0.0028, 9.2138), (0.8076, 0.0338, 0.2370),
        (0.8065, 0.0080, 2.4192), (0.6335, 0.0274, 2.8174), (0.7853, 0.0110, 2.6172),
        (0.9701, 0.0087, 0.5508),
    ),
    "Boost-SVM": (
        (0.8008, 0.0085, 7.7455), (0.8031, 0.0100, 32.2918), (0.8065, 0.0107, 71.8097),
        (0.9817, 0.0099, 0.6973), (0.7141, 0.0149, 5.4105), (0.9729, 0.0237, 0.1725),
        (0.9365, 0.0185, 0.3699), (0.9251, 0.0277, 0.7738), (0.9469, 0.0220, 3.5175),
        (0.901, 0.0056, 87.1784), (0.9597, 0.0065, 17.7602), (0.8049, 0.0363, 0.1887),
        (0.7844, 0.0141, 5.6725), (0.6266, 0.0318, 5.983), (0.7779, 0.0208, 4.8038),
        (0.9611, 0.0095, 0.7467),
    ),
    "MKL-SD": (
        (0.7547, 0.0009, 34.53), (0.7576, 0.0003, 113.2365), (0.7515, 0.0001, 258.1065),
        (0.9464, 0.0099, 2.952), (0.7001, 0.0004, 51.8245), (0.9462, 0.0181, 1.812),
        (0.9306, 0.0155, 4.376), (0.791, 0.0251, 8.6205), (0.6628, 0.0000, 73.3835),
        (0.8646, 0.0048, 361.683), (0.9096, 0.0075, 171.386), (0.7752, 0.0423, 2.135),
        (0.7744, 0.0038, 62.118), (0.5513, 0.0285, 12.245), (0.6737, 0.0191, 28.208),
        (0.9595, 0.0094, 2.514),
    ),
    "MKL-SILP": (
        (0.7547, 0.0009, 15.622), (0.7576, 0.0003, 62.0065), (0.7515, 0.0001, 157.279),
        (0.946, 0.0132, 1.3615), (0.7003, 0.0025, 46.996), (0.9448, 0.0166, 2.4105),
        (0.9249, 0.0255, 3.922), (0.7932, 0.0311, 5.051), (0.6628, 0.0000, 17.5325),
        (0.8579, 0.0143, 119.3535), (0.9076, 0.0115, 91.966), (0.7791, 0.0427, 1.9425),
        (0.7746, 0.0040, 25.4405), (0.553, 0.0288, 15.4545), (0.6733, 0.0199, 21.383),
        (0.9595, 0.0094, 1.576),
    ),
    "MKL-Level": (
        (0.7544, 0.0000, 30.8875), (0.7575, 0.0000, 101.0525), (0.7515, 0.0000, 238.038),
        (0.9726, 0.0102, 5.175), (0.7, 0.0000, 8.4915), (0.9458, 0.0181, 3.57),
        (0.93, 0.0183, 4.0235), (0.7835, 0.0232, 6.527), (0.6628, 0.0000, 27.1455),
        (0.8648, 0.0050, 303.527), (0.9101, 0.0087, 177.194), (0.7684, 0.0407, 4.4125),
        (0.7733, 0.0036, 33.147), (0.5587, 0.0272, 12.955), (0.673, 0.0186, 25.9065),
        (0.9597, 0.0097, 4.9735),
    ),
    "MKL-Hessian": (
        (0.7544, 0.0000, 15.169), (0.7575, 0.0000, 60.216), (0.7515, 0.0000, 152.84),
        (0.9642, 0.0115, 1.5255), (0.7, 0.0000, 24.1665), (0.9491, 0.0180, 0.9425),
        (0.9329, 0.0177, 1.486), (0.8259, 0.0266, 2.9815), (0.6628, 0.0000, 18.228),
        (0.8321, 0.0045, 205.3645), (0.9065, 0.0101, 62.3781), (0.7587, 0.0365, 0.7485),
        (0.7617, 0.0000, 52.0675), (0.554, 0.0249, 6.291), (0.6374, 0.0150, 16.559),
        (0.9482, 0.0091, 1.3365),
    ),
    "Lp-MKL": (
        (0.7607, 0.0066, 19.865), (0.7597, 0.0040, 85.2905), (0.7561, 0.0033, 268.5895),
        (0.9809, 0.0078, 4.1735), (0.7065, 0.0055, 12.43), (0.9646, 0.0170, 1.488),
        (0.9337, 0.0200, 2.683), (0.8556, 0.0221, 5.0955), (0.7421, 0.0147, 13.125),
        (0.8793, 0.0061, 239.864), (0.9406, 0.0064, 134.704), (0.8024, 0.0406, 1.012),
        (0.7816, 0.0057, 16.7775), (0.5856, 0.0337, 9.414), (0.7371, 0.0140, 20.429),
        (0.9692, 0.0079, 5.7715),
    ),
    "Boost-Exp": (
        (0.7855, 0.0052, 265.67), (0.7594, 0.0049, 2487.6), (0.7251, 0.0037, 7830.15),
        (0.941, 0.0097, 7.38), (0.672, 0.0050, 48.91), (0.9657, 0.0168, 1.51),
        (0.859, 0.0136, 1.87), (0.6703, 0.0244, 6.63), (0.6628, 0.0113, 59.53),
        (0.8597, 0.0057, 3551.84), (0.9255, 0.0097, 235.66), (0.7443, 0.0313, 1.56),
        (0.7681, 0.0047, 103.86), (0.6121, 0.0370, 11.29), (0.7214, 0.0144, 20.46),
        (0.8838, 0.0097, 8.07),
    ),
    "Boost-Log": (
        (0.7830, 0.0055, 276.33), (0.7368, 0.0048, 2152.66), (0.769, 0.0041, 7968.52),
        (0.941, 0.0135, 7.85), (0.648, 0.0050, 47.21), (0.9611, 0.0146, 1.51),
        (0.8419, 0.0157, 1.89), (0.6835, 0.0244, 6.8), (0.6628, 0.0138, 61.55),
        (0.8592, 0.0051, 3607.89), (0.9152, 0.0091, 226.17), (0.7799, 0.0325, 1.56),
        (0.7375, 0.0043, 110.96), (0.6174, 0.0356, 11.22), (0.7275, 0.0144, 20.62),
        (0.9331, 0.0095, 7.63),
    ),
    "Boost-CG-L1": (
        (0.7095, 0.0043, 361.04), (0.7682, 0.0050, 815.91), (0.7931, 0.0047, 1801.96),
        (0.8472, 0.0096, 1.73), (0.692, 0.0051, 53.33), (0.9623, 0.0140, 0.92),
        (0.8914, 0.0204, 1.96), (0.5899, 0.0214, 8.95), (0.6705, 0.0127, 47.91),
        (0.7333, 0.0052, 440.61), (0.5905, 0.0097, 58.46), (0.7961, 0.0403, 2.2),
        (0.5539, 0.0032, 159.9), (0.2819, 0.0179, 16.27), (0.6256, 0.0152, 27.01),
        (0.9542, 0.0077, 3.57),
    ),
    "Boost-CG-L2": (
        (0.7942, 0.0054, 1271.32), (0.7922, 0.0054, 6734.44), (0.7912, 0.0043, 32456.2655),
        (0.9811, 0.0157, 256.52), (0.7180, 0.0053, 467.09), (0.9806, 0.0121, 120.49),
        (0.9371, 0.0200, 154.62), (0.9101, 0.0135, 204.67), (0.9496, 0.0143, 399.3),
        (0.8798, 0.0054, 16901.86), (0.9455, 0.0026, 7299.5), (0.7961, 0.0343, 38.15),
        (0.8148, 0.0060, 574.4), (0.5772, 0.0219, 1209.91), (0.7299, 0.0047, 905.01),
        (0.9554, 0.0067, 146.77),
    ),
}  # fmt: skip

Cells = Mapping[tuple[str, str, str], Sequence[Row]]


def paper(name: str, method: str) -> tuple[float, float, float]:
    """Accuracy, deviation and seconds that the paper prints."""
    return PAPER[method][list(FILES).index(name)]


def mkl(method: str) -> Callable[[str, int], Any]:
    def make(scaling: str, seed: int) -> Any:
        from kboost.baselines import MKLClassifier

        return MKLClassifier(
            paper_kernels(), method=method, C=C, column_scaling=scaling,
            max_seconds=FIT_SECONDS,
        )  # fmt: skip

    return make


def design(loss: str) -> Callable[[str, int], Any]:
    def make(scaling: str, seed: int) -> Any:
        from kboost.baselines import KernelDesignClassifier

        return KernelDesignClassifier(
            loss=loss, C=C, column_scaling=scaling, max_seconds=FIT_SECONDS
        )

    return make


def column_generation(penalty: str) -> Callable[[str, int], Any]:
    def make(scaling: str, seed: int) -> Any:
        from kboost import KernelBoostClassifier

        columns = "floored" if scaling == "mean" else None  # the paper's columns are as they are
        return KernelBoostClassifier(
            paper_kernels(), penalty=penalty, C=C, column_scaling=columns, max_seconds=FIT_SECONDS
        )

    return make


def boosted_svm(scaling: str, seed: int) -> Any:
    from kboost.baselines import BoostedSVMClassifier

    return BoostedSVMClassifier(
        paper_kernels(), C=C, max_iter=ROUNDS, sample_ratio=RATIO, column_scaling=scaling,
        random_state=seed,
    )  # fmt: skip


def boosted(variant: str) -> Callable[[str, int], Any]:
    def make(scaling: str, seed: int) -> Any:
        unit = None if scaling == "none" else scaling
        return mkboost(variant, column_scaling=unit, seed=seed, memory_budget=2**31)

    return make


MAKERS: dict[str, Callable[[str, int], Any]] = {
    **{f"MKB-{variant}": boosted(variant) for variant in VARIANTS},
    "Boost-SVM": boosted_svm,
    "MKL-SD": mkl("simple"),
    "MKL-SILP": mkl("silp"),
    "MKL-Level": mkl("level"),
    "MKL-Hessian": mkl("hessian"),
    "Lp-MKL": mkl("lp"),
    "Boost-Exp": design("exp"),
    "Boost-Log": design("log"),
    "Boost-CG-L1": column_generation("l1"),
    "Boost-CG-L2": column_generation("l2"),
}


@dataclass(frozen=True)
class Stage:
    """Some cells of the tables, for the first so many draws of halves."""

    methods: Sequence[str]
    sets: Sequence[str]
    draws: int
    scalings: Sequence[str] = SCALINGS


def collect(bench: Bench, entry: str, plan: Sequence[Stage]) -> dict[Any, list[Row]]:
    """The rows of every cell, stage after stage and draw after draw, as far as there is time.

    A run that ends early so has some draws of every cell rather than every draw of some cells.
    """
    found: dict[Any, dict[int, Row]] = {}
    for stage in plan:
        every = product(range(stage.draws), stage.sets, stage.methods, stage.scalings)
        for draw, name, method, scaling in every:
            job = {"entry": entry, "data": name, "method": method, "scaling": scaling, "draw": draw}
            cells = found.setdefault((name, method, scaling), {})
            if draw not in cells and bench.wants(job):
                label = f"{name} {FILES[name]}, {method}, {scaling}, {draw}"
                row = bench.other(job, partial(cell, name, method, scaling, draw), label)
                cells[draw] = row if row["status"] == "failed" else must(row)
    return {key: [rows[draw] for draw in sorted(rows)] for key, rows in found.items()}


def cell(name: str, method: str, scaling: str, seed: int) -> Row:
    """One draw; stochastic variants run several times on it."""
    try:
        data = datasets.load("mkb", which=name, seed=seed)
    except datasets.MissingDataError as error:
        return {"status": "missing data", "message": str(error)}
    several = FEW_RUNS if name in LARGE else RUNS
    count = several if method in ("MKB-S1", "MKB-S2") else 1
    rows, early = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that end early are counted
        for run in range(count):
            model = MAKERS[method](scaling, 1000 * seed + run)
            try:
                rows.append(judged(model, data))
            except Exception as error:  # a solver that gives up is a result
                return {"status": "failed", "message": f"{type(error).__name__}: {error}"}
            early += "max_seconds" in str(model.stop_reason_)
    means = {key: fmean(row[key] for row in rows) for key in rows[0] if key != "status"}
    return {"status": "ok", "runs": count, "ended_early": early, **means}


def done(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["status"] == "ok"]


def reached(rows: Sequence[Row], name: str, method: str) -> bool:
    """Whether the mean is within one of the paper's deviations of its value, or above."""
    accuracy, deviation, _ = paper(name, method)
    return fmean(row["accuracy"] for row in rows) >= accuracy - deviation


def p_value(rows: Sequence[Row], others: Sequence[Row]) -> float | None:
    """Of the paired t-test over the draws that both have."""
    from scipy.stats import ttest_rel

    theirs = {row["job"]["draw"]: row["accuracy"] for row in done(others)}
    pairs = [
        (row["accuracy"], theirs[row["job"]["draw"]])
        for row in done(rows)
        if row["job"]["draw"] in theirs
    ]
    if len(pairs) < 2 or len({a - b for a, b in pairs}) == 1:
        return None
    return float(ttest_rel(*zip(*pairs, strict=True)).pvalue)


def tests(found: Cells, peer: str) -> dict[str, Any]:
    """Wins, losses and draws of each method against one, at 5 %; one draw is no test."""
    out: dict[str, Any] = {}
    for (name, method, scaling), rows in found.items():
        others = found.get((name, peer, scaling), ())
        if method == peer or not done(rows) or not done(others):
            continue
        p = p_value(rows, others)
        better = fmean(r["accuracy"] for r in done(rows)) > fmean(
            r["accuracy"] for r in done(others)
        )
        words = "better" if better else "worse"
        words = "not tested" if p is None else words if p <= 0.05 else "no difference"
        counts = out.setdefault(f"{method} against {peer}, {WORDS[scaling]}", {})
        counts[words] = counts.get(words, 0) + 1
    return out


def lines(found: Cells, peers: Cells | None = None) -> list[list[Any]]:
    """The table, set by set; p of the test against MKB-D1, which `peers` may have."""
    return [
        line(name, method, scaling, rows, {**(peers or {}), **found})
        for name in FILES
        for (which, method, scaling), rows in found.items()
        if which == name and rows
    ]


def line(name: str, method: str, scaling: str, rows: Sequence[Row], every: Cells) -> list[Any]:
    good, theirs = done(rows), paper(name, method)
    values = [row["accuracy"] for row in good]
    p = None if method == "MKB-D1" else p_value(rows, every.get((name, "MKB-D1", scaling), ()))
    return [
        f"{name} {FILES[name]}", method, scaling, len(good),
        f"{fmean(values):.4f}" if values else reason(rows),
        f"{stdev(values):.4f}" if len(values) > 1 else None,
        f"{theirs[0]:.4f}", f"{theirs[1]:.4f}",
        fmean(row["fit_cpu_seconds"] for row in good) if good else None, theirs[2],
        None if p is None else f"{p:.3f}",
        sum(row["ended_early"] for row in good) + len(rows) - len(good),
    ]  # fmt: skip


def reason(rows: Sequence[Row]) -> str:
    """Why there is no figure."""
    return "failed: " + str(rows[0]["message"]).partition(":")[0]
