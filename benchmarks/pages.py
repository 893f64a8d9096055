"""Generate tables and figures of the documentation from the results: `python -m benchmarks.pages`.

Each table is the table that its entry printed, as Markdown in docs/papers/tables. Each figure is
drawn from the rows of an entry and written to docs/_static. Entries without a result are skipped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import evidence, machine, mkb_pages, peer_pages
from benchmarks.datasets.mkb import FILES
from benchmarks.objective import ROOT
from benchmarks.store import RESULTS
from benchmarks.table import markdown

TABLES, PICTURES = ROOT / "docs" / "papers" / "tables", ROOT / "docs" / "_static"
TABLED = (
    *("toy", "table2", "table2_optimum", "table3", "table4", "table5", "curves"),
    *("sinc", "mackey_glass", "mackey_glass_fixed", "santa_fe", "few_rows"),
    *("ssmk", "ssmk_protocols", "ssmk_better", "sre_speed"),
    *(
        "fuzz_files",
        "faults",
        "limits",
        "interrupts",
        "onnx_parity",
        "mkl_speed",
        "mkb_speed",
        "mkb_mnist",
    ),
    *("kin40k", "kin40k_ensemble", "mnist_rls", "growth"),
    *("covtype", "covtype_series", "dask_covtype"),
    *("tables", "peers", "model_size", "intervals", "predict_row", "memory", "column_scaling"),
    "c_sample",
)
PARTS = {"train": "#888888", "validation": "#d95f02", "test": "#1b6ca8"}
METHODS = {
    "SSMK": ("#1b6ca8", "-"),
    "IMK": ("#d95f02", "-"),
    "LabelSpreading": ("#888888", "--"),
    "SelfTraining(SVC)": ("#888888", ":"),
}
LARGE = {
    "random": ("#bbbbbb", "-"),
    "mp": ("#e6ab02", "-"),
    "max-res": ("#7570b3", "-"),
    "boost": ("#a6761d", "-"),
    "ald": ("#66a61e", "-"),
    "ran": ("#e7298a", "-"),
    "ensemble": ("#d95f02", "-"),
    "joint": ("#1b6ca8", "-"),
    "plain": ("#000000", "--"),
    "nystroem": ("#000000", "s"),
    "lightgbm": ("#000000", "x"),
}
Result = dict[str, Any]


def main() -> int:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(
        {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.hashsalt": "kboost",
            "svg.fonttype": "none",
            "legend.frameon": False,
        }
    )
    TABLES.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in TABLED:
        if (result := read(name)) is not None:
            (TABLES / f"{name}.inc").write_text(page(result))
    for name, draw in DRAWN.items():
        if (result := read(name)) is not None:
            draw(result)
    found = [result for name in ("mkb_tables", "mkb_rivals") if (result := read(name)) is not None]
    for name, text in mkb_pages.pages([row for one in found for row in one["rows"]]).items():
        (TABLES / f"{name}.inc").write_text(text)
    if (result := read("tables")) is not None:
        (TABLES / "peers_losses.inc").write_text(peer_pages.losses(result))
        (TABLES / "peers_ranks.inc").write_text(peer_pages.alike(result))
        peer_pages.draw(result, save)
    evidence.write()
    return 0


def read(name: str) -> Result | None:
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        print(f"  no result for {name}")
        return None
    result: Result = json.loads(path.read_text())
    return result


def page(result: Result) -> str:
    """Format a result: the table, its notes, the criterion, the machine and the code version."""
    shown = result["shown"]
    words = [*shown["notes"]]
    if shown["met"] is not None:
        words.append(f"Criterion ({shown['criterion']}): {'met' if shown['met'] else 'not met'}.")
    words.append(f"Measured on {machine.in_one_line(result['machine'])}; code {result['code']}.")
    notes = "\n".join(f"- {word}" for word in words)
    tables = [markdown(shown["head"], shown["lines"])]
    for title, head, lines in shown.get("more", ()):
        tables += [f"{title}:", markdown(head, lines)]
    return "\n\n".join([*tables, notes]) + "\n"


def toy(result: Result) -> None:
    """Figure 1: the target, and the fit of each method to 50 points."""
    import matplotlib.pyplot as plt

    from benchmarks import datasets

    first = {r["job"]["method"]: r for r in result["rows"] if r["job"]["seed"] == 0}
    surfaces = {"target": first["mixture"]["target"], **{m: r["surface"] for m, r in first.items()}}
    names = ["target", "linear", "RBF", "composite", "mixture"]
    points = datasets.load("toy", seed=0).X_train
    figure, axes = plt.subplots(1, 5, figsize=(9, 2.5), sharey=True, layout="constrained")
    low, high = np.min(surfaces["target"]), np.max(surfaces["target"])
    for axis, name in zip(axes, names, strict=True):
        values = np.array(surfaces[name])
        side = int(np.sqrt(len(values)))
        x = np.linspace(-1, 1, side)
        levels = np.linspace(low - 0.2, high + 0.2, 15)
        axis.contourf(x, x, values.reshape(side, side), levels, cmap="viridis", extend="both")
        axis.set_aspect("equal")
        axis.set_xticks([-1, 0, 1])
        axis.set_yticks([-1, 0, 1])
        if name == "target":
            axis.plot(*points.T, "w.", markersize=3)
            axis.set_title("target\n50 points", fontsize=9)
        else:
            row = first[name]
            words = f"{name}\nerror {row['error']:.2f}\n{row['columns']} columns"
            axis.set_title(words, fontsize=9)
    save(figure, "cg_boost_1.png")


def curves(result: Result) -> None:
    """Figures 2 to 4: errors against the number of columns."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    row = pick(result, "mnist", "stratified", 0.1)
    for part, colour in PARTS.items():
        plot(axis, row, part, colour, label=part)
    for rule, marker in (("TR1", "*"), ("TR3", "P"), ("TR2", "X")):
        place = {"TR1": row["tr1"], "TR3": row["tr3"], "TR2": -1}[rule]
        if place is not None:
            at = [row["curve"]["columns"][place]]
            axis.plot(at, [100 * row["curve"]["test"][place]], marker, color="k", markersize=8,
                      linestyle="none", label=rule)  # fmt: skip
    finish(axis, top=25)
    save(figure, "cg_boost_2.svg")

    figure, axis = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for pricing, style in (("stratified", "-"), ("scan", "--")):
        row = pick(result, "mnist", pricing, 0.1)
        for part in ("train", "test"):
            plot(axis, row, part, PARTS[part], style, label=f"{part}, {pricing}")
    finish(axis, top=25)
    save(figure, "cg_boost_3.svg")

    figure, axis = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for C, style in ((0.1, "-"), (10.0, "--")):
        row = pick(result, "forest", "stratified", C)
        for part in ("train", "validation"):
            plot(axis, row, part, PARTS[part], style, label=f"{part}, C = {C:g}")
    finish(axis, top=35)
    save(figure, "cg_boost_4.svg")


def sinc(result: Result) -> None:
    """SRE, Figure 1: fits and their tubes; Figure 2: objective against rounds."""
    import matplotlib.pyplot as plt

    rows = [row for row in result["rows"] if row["job"]["part"] == "rounds"]
    figure, axes = plt.subplots(2, 2, figsize=(9, 4.6), layout="constrained")
    for line, row in zip(axes, rows, strict=True):
        for axis, noise in zip(line, ("", ", noise"), strict=True):
            sinc_fit(axis, row["fits"], row["job"]["half_width"], noise)
    axes[0, 0].legend(fontsize=8)
    save(figure, "regression_ensembles_1.svg")

    figure, axes = plt.subplots(2, 2, figsize=(9, 4.6), layout="constrained")
    for line, row in zip(axes, rows, strict=True):
        for axis, noise in zip(line, ("", ", noise"), strict=True):
            for method, colour in (("CG-k", "#1b6ca8"), ("Bar-k", "#d95f02")):
                axis.semilogy(row["objective"][method + noise], color=colour, label=method)
            axis.axhline(min(row["objective"]["CG-k" + noise]), color="k", linestyle=":")
            axis.set_title(f"±{row['job']['half_width']:.3g}{noise}", fontsize=9)
            axis.set_xlabel("rounds")
            axis.set_ylabel("objective")
    axes[0, 0].legend(fontsize=8)
    save(figure, "regression_ensembles_2.svg")


def sinc_fit(axis: Any, fits: Result, half: float, noise: str) -> None:
    x = np.linspace(-half, half, len(fits["CG-k"]["curve"]))
    found = fits["CG-k" + noise]
    curve, tube = np.array(found["curve"]), found["epsilon"]
    axis.fill_between(x, curve - tube, curve + tube, color="#1b6ca8", alpha=0.15, linewidth=0)
    axis.plot(x, np.sinc(x / np.pi), color="#888888", linewidth=2.5, label="sin(x) / x")
    axis.plot(x, curve, color="#1b6ca8", linewidth=1.3, label="CG-k and its tube")
    axis.plot(x, fits["CG-LP" + noise]["curve"], "--", color="#d95f02", linewidth=1, label="CG-LP")
    axis.set_title(f"±{half:.3g}{noise}; Q² {found['test']:.2g}, tube {tube:.2g}", fontsize=9)


def pick(result: Result, dataset: str, pricing: str, C: float) -> Result:
    """Return the run with these settings."""
    wanted = (dataset, pricing, C)

    def settings(job: dict[str, Any]) -> tuple[str, str, float]:
        return job["dataset"], *(job["solver_parameters"][name] for name in ("pricing", "C"))

    return next(row for row in result["rows"] if settings(row["job"]) == wanted)


def plot(axis: Any, row: Result, part: str, colour: str, style: str = "-", *, label: str) -> None:
    errors = 100 * np.array(row["curve"][part])
    axis.plot(row["curve"]["columns"], errors, style, color=colour, linewidth=1.3, label=label)


def finish(axis: Any, top: float) -> None:
    axis.set_ylim(0, top)
    axis.set_xlim(left=0)
    axis.set_xlabel("columns generated")
    axis.set_ylabel("error, %")
    axis.legend(ncols=2, fontsize=8)


def ssmk(result: Result) -> None:
    """Figure 1 of SSMK: errors against the number of labels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    jobs = [(row["job"]["method"], row["job"]["labels"], row) for row in result["rows"]]
    sizes = sorted({labels for _, labels, _ in jobs})
    for axis, part in zip(axes, ("unlabelled", "test"), strict=True):
        for method, (colour, style) in METHODS.items():
            found = {
                size: [row[part] for name, n, row in jobs if (name, n) == (method, size)]
                for size in sizes
            }
            mean = {size: 100 * np.mean(errors) for size, errors in found.items() if errors}
            line = {"color": colour, "marker": ".", "linewidth": 1.3, "label": method}
            axis.plot(list(mean), list(mean.values()), style, **line)
        axis.set_xscale("log")
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.set_xlabel("labelled rows")
        axis.set_title(f"{part} rows", fontsize=9)
    axes[0].set_ylabel("error, %")
    axes[1].legend(fontsize=8)
    save(figure, "semi_supervised.svg")


def kin40k(result: Result) -> None:
    """Figures 1 to 4 of Sun and Yao: the error against seconds and against basis vectors."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for axis, (place, name) in zip(axes, ((2, "seconds"), (0, "basis vectors")), strict=True):
        for method, (colour, style) in LARGE.items():
            at, error = large_curve(result, method, place)
            if at[0] is None:  # no basis vectors
                continue
            line = {"color": colour, "linewidth": 1.3, "markersize": 4, "label": method}
            if style in ("-", "--"):
                line |= {"linestyle": style, "marker": "."}
            else:
                line |= {"linestyle": "none", "marker": style}
            axis.plot(at, error, **line)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
        axis.minorticks_off()
        axis.set_xlabel(name)
    axes[0].set_ylabel("NMSE, %")
    axes[0].legend(fontsize=7, ncols=2)
    save(figure, "large_scale_kin40k.svg")


def large_curve(result: Result, method: str, place: int) -> tuple[list[Any], list[float]]:
    """Return the points of a method, averaged over shuffles: along its fit, or one per size."""
    points: dict[Any, list[list[Any]]] = {}
    for row in result["rows"]:
        if row["job"]["method"] == method:
            size = row["job"]["size"]
            whole = [[size, row["error"], row["fit_seconds"]]]
            for point in row.get("points", whole):
                points.setdefault(point[0], []).append(point)
    some = [own for own in points.values() if len(own) == max(map(len, points.values()))]
    at = [None if own[0][place] is None else np.mean([p[place] for p in own]) for own in some]
    return at, [100 * float(np.mean([p[1] for p in own])) for own in some]


VARIANTS = {"D1": ("#1b6ca8", "-"), "D2": ("#d95f02", "-"), "S1": ("#1b6ca8", "--"),
            "S2": ("#d95f02", "--")}  # fmt: skip


def mkb_figures(result: Result) -> None:
    """Figures 1 to 6 of MKBoost: accuracy above, time below, one column per data set."""
    import matplotlib.pyplot as plt

    axes_of = {"rounds": "stages", "ratio": "ratios", "decay": "decays"}
    rows = result["rows"]
    sets = list(dict.fromkeys(row["job"]["data"] for row in rows))
    for varied, setting in axes_of.items():
        values = result["settings"][setting]
        figure, axes = plt.subplots(2, len(sets), figsize=(9, 4), sharex=True, layout="constrained")
        for column, name in zip(axes.T, sets, strict=True):
            for variant, (colour, style) in VARIANTS.items():
                wanted = {"data": name, "variant": variant, "varied": varied}
                some = [row for row in rows if wanted.items() <= row["job"].items()]
                for axis, key in zip(column, ("accuracy", "seconds"), strict=True):
                    if some:
                        mean = np.mean([row[key] for row in some], axis=0)
                        axis.plot(values, mean, style, color=colour, label=variant, linewidth=1.3)
            column[0].set_title(f"{name} {FILES[name]}", fontsize=9)
            column[1].set_xlabel(varied)
            if varied == "decay":
                column[1].set_xscale("log", base=2)
        axes[0, 0].set_ylabel("accuracy")
        axes[1, 0].set_ylabel("seconds")
        figure.legend(
            *axes[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize=8
        )
        save(figure, f"mkboost_{varied}.svg")


def save(figure: Any, name: str) -> None:
    import matplotlib.pyplot as plt

    plain = {"metadata": {"Date": None}} if name.endswith("svg") else {"dpi": 110}
    figure.savefig(PICTURES / name, **plain)
    plt.close(figure)


DRAWN: dict[str, Callable[[Result], None]] = {
    "toy": toy,
    "curves": curves,
    "ssmk": ssmk,
    "sinc": sinc,
    "kin40k": kin40k,
    "mkb_figures": mkb_figures,
}

if __name__ == "__main__":
    sys.exit(main())
