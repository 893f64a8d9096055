"""SRE, Figures 1 and 2: sin(x) / x with and without noise; the tube, the fit, the rounds.

100 equally spaced points in [-2, 2] (as printed) and in [-2 pi, 2 pi] (the text may have lost a
pi). With noise (half the deviation of the values: signal to noise 2:1) each method is tuned on 100
points of their own, with the same four Gaussians to choose from, and judged by 1000 values without
noise: ours by its path over C and three nu, with the 1-norm and with the 2-norm, an epsilon-SVR by
C and five tubes; a hundred draws, since the differences of one are larger than their mean. The
rounds of Figure 2 add one column each; C = 100 (nu = 0.5) and one Gaussian, gamma = 0.5, as in the
fits without noise.
"""

from __future__ import annotations

import time
import warnings
from statistics import fmean, stdev
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Report, must
from benchmarks.objective import Row

DRAWS = range(20, 120)
NORMS = {"CG-k": "l1", "CG-k, 2-norm": "l2"}
RANGES = {"[-2, 2]": 2.0, "[-2π, 2π]": 2 * np.pi}
GAMMAS = (0.125, 0.25, 0.5, 1.0)
NUS = (0.2, 0.5, 0.7)
PRICES = np.geomspace(0.01, 100.0, 9)
TUBES = (0.0, 0.25, 0.5, 1.0, 1.5)
PLAIN: dict[str, Any] = {"C": 100.0, "nu": 0.5, "column_scaling": None}
SHOWN = 200  # points of a curve
HEAD = ("points in", "noise", "method", "test Q²", "std", "draws won", "tube", "columns")


def run(bench: Bench) -> Report:
    lines, met, ratios = [], True, {}
    for words, half in RANGES.items():
        plain = one(bench, {"part": "rounds", "half_width": half}, lambda h=half: rounds(h))
        for method in ("CG-k", "Bar-k", "CG-LP"):
            row = plain["fits"][method]
            lines.append([words, "none", method, row["test"], None, None, row["epsilon"],
                          row["columns"]])  # fmt: skip
        met = met and max(plain["fits"][m]["test"] for m in ("CG-k", "Bar-k")) < 1e-3
        draws = [
            one(bench, {"part": "noise", "half_width": half, "seed": s},
                lambda h=half, s=s: noisy(h, s))
            for s in DRAWS
        ]  # fmt: skip
        errors = {m: [row[m]["test"] for row in draws] for m in (*NORMS, "SVR")}
        for method, own in errors.items():
            won = sum(a < b for a, b in zip(own, errors["SVR"], strict=True))
            tube, columns = (fmean(row[method][n] for row in draws) for n in ("epsilon", "columns"))
            lines.append([words, "2:1", method, fmean(own), stdev(own),
                          won if method in NORMS else None, tube, columns])  # fmt: skip
        ratios[words] = {m: fmean(errors[m]) / fmean(errors["SVR"]) for m in NORMS}
        met = met and min(ratios[words].values()) <= 1
    return Report(
        head=HEAD,
        lines=lines,
        settings={"draws": list(DRAWS), "gammas": GAMMAS, "nu": NUS, "C": PRICES.tolist(), **PLAIN},
        ratios=ratios,
        criterion="Q² below 0.001 without noise; with noise the better norm below the SVR",
        met=met,
    )


def one(bench: Bench, job: dict[str, Any], measure: Any) -> Row:
    label = ", ".join(f"{value}"[:6] for value in job.values())
    return must(bench.other({"entry": "sinc", **job}, measure, label))


def quality(model: Any, half: float) -> float:
    from kboost.datasets import make_sinc

    X, y = make_sinc(1000, half_width=half)
    return float(np.mean((model.predict(X) - y) ** 2) / y.var())


def deviation(half: float) -> float:
    from kboost.datasets import make_sinc

    return 0.5 * float(make_sinc(100, half_width=half)[1].std())


def rounds(half: float) -> Row:
    """Fits without noise, and objectives round by round with and without."""
    from kboost import presets
    from kboost.datasets import make_sinc
    from kboost.settings import Barrier, ColumnGeneration

    start = time.process_time()
    X, _ = make_sinc(100, half_width=half)
    curves, fits = {}, {}
    grid = np.linspace(-half, half, SHOWN)[:, None]
    makers = {method: presets.regression_ensemble(method) for method in ("CG-k", "Bar-k", "CG-LP")}
    for noise in (0.0, deviation(half)):
        _, values = make_sinc(100, half_width=half, noise=noise, random_state=0)
        for method, model in makers.items():
            model.fit(X, values)
            name = method if noise == 0.0 else f"{method}, noise"
            fits[name] = {
                "test": quality(model, half),
                "epsilon": model.epsilon_,
                "columns": int(model.n_columns_),
                "curve": np.round(model.predict(grid), 4).tolist(),
            }
            if method != "CG-LP":
                settings = Barrier if method == "Bar-k" else ColumnGeneration
                model.set_params(solver=settings(columns_per_step=1)).fit(X, values)
                curves[name] = model.trace_.values("objective").tolist()
                model.set_params(solver=settings())
    seconds = time.process_time() - start
    return {"status": "ok", "fits": fits, "objective": curves, "fit_seconds": seconds}


def noisy(half: float, seed: int) -> Row:
    """Ours and the SVR, each tuned on the same points."""
    from sklearn.svm import SVR

    from kboost import KernelBoostRegressor
    from kboost.datasets import make_sinc
    from kboost.kernels import Gaussian
    from kboost.model_selection import path

    rng, noise = np.random.default_rng(seed), deviation(half)
    X, clean = make_sinc(100, half_width=half)
    y = clean + noise * rng.normal(size=len(clean))
    X_val = rng.uniform(-half, half, (100, 1))
    y_val = np.sinc(X_val[:, 0] / np.pi) + noise * rng.normal(size=100)
    start = time.process_time()

    def error(model: Any) -> float:
        return float(np.mean((model.predict(X_val) - y_val) ** 2))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = {
            method: min(
                (
                    model
                    for gamma in GAMMAS
                    for nu in NUS
                    for model in path(
                        KernelBoostRegressor(
                            [Gaussian(gamma)], penalty=norm, nu=nu, column_scaling=None
                        ),
                        X,
                        y,
                        Cs=PRICES,
                    ).estimators
                ),
                key=error,
            )
            for method, norm in NORMS.items()
        }
        grid = [SVR(gamma=gamma, C=C, epsilon=tube * noise)
                for gamma in GAMMAS for C in PRICES for tube in TUBES]  # fmt: skip
        peer = min((model.fit(X, y) for model in grid), key=error)
    return {
        "status": "ok",
        **{
            method: {
                "test": quality(model, half),
                "epsilon": model.epsilon_,
                "columns": int(model.n_columns_),
            }
            for method, model in ours.items()
        },
        "SVR": {
            "test": quality(peer, half),
            "epsilon": peer.epsilon,
            "columns": len(peer.support_),
        },
        "fit_seconds": time.process_time() - start,
    }
