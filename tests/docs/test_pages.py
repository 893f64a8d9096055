"""What the README, the pages and the examples show must run as it stands there.

Pages are run from their first fence to their last, in one namespace, with small data under the
names that pages use without making them. Examples that take longer than a second or two are run
by `make docs` only.
"""

import io
import json
import os
import re
import runpy
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest
import sklearn
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kboost import KernelBoostClassifier

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = (
    "index", "getting_started", "auto", "how_to_choose", "preparation", "plots", "files",
    "checkpoints", "deploy",
    "extend/index", "extend/kernel", "extend/master", "extend/oracle", "extend/stop_rule",
    "papers", "papers/mkboost", "papers/mkl_rivals", "user_guide/several_kernels",
    "user_guide/tube",
)  # fmt: skip
NOT_RUN = {
    "command_line": "needs a table and a model file",
    "dask": "tests/dask makes the same calls on a cluster",
    "design": "an outline of the loop",
    "report": "tests/report runs the same call",
}
RECIPES = "recipes/"  # tests/docs/test_recipes.py
ELSEWHERE = "Client("  # a cluster; tests/dask starts one
QUICK = ("plot_tube", "plot_novelty")


@pytest.fixture
def in_tmp(tmp_path, monkeypatch):
    """Files that are written go there; settings and pictures do not outlive the test."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    pyplot.switch_backend("agg")
    with sklearn.config_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        yield tmp_path
    pyplot.close("all")


def names():
    """What pages take for granted."""
    X, y = make_moons(80, noise=0.2, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = KernelBoostClassifier(["linear", "rbf"], C=1.0).fit(X_train, y_train)
    pipeline = make_pipeline(StandardScaler(), KernelBoostClassifier(["rbf"], C=1.0)).fit(X, y)
    return {
        "X": X, "y": y, "X_train": X_train, "X_test": X_test, "y_train": y_train, "y_test": y_test,
        "model": model, "pipeline": pipeline, "path": "churn.kboost",
        "KernelBoostClassifier": KernelBoostClassifier,
    }  # fmt: skip


def python(page):
    return FENCE.findall((ROOT / page).read_text(encoding="utf-8"))


def test_readme_runs_and_prints_what_it_says(in_tmp):
    table, boosted = python("README.md")
    said, printed = run_block(table)
    reason, best = printed
    assert said == [reason.partition(",")[0], best]
    said, (score, columns, per_kernel, gap) = run_block(boosted)
    assert f"{float(score):.3f}" == said[0]
    assert said[1].startswith(f"{columns} columns")
    counts = {name: int(n) for name, n in re.findall(r"'(\w+)\(.*?': (\d+)", per_kernel)}
    assert said[2] == ", ".join(f"{n} {name}" for name, n in counts.items())
    assert float(gap) < 1e-4


def run_block(code):
    """What the comments of a block say, and what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    return re.findall(r"print\(.*\)  # (.*)", code), printed.getvalue().splitlines()


def span(values, form):
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return low if low == high else f"{low} to {high}"


def figures():
    """Figures of README, the benchmarks' page and CG-Boost's, as the results have them."""

    def lines(entry):
        found = json.loads((ROOT / f"benchmarks/results/{entry}.json").read_text(encoding="utf-8"))
        head, rows = found["shown"]["head"], found["shown"]["lines"]
        return [dict(zip(head, row, strict=True)) for row in rows]

    lp = [row for row in lines("lp_forest") if row["draw"] != "median"]
    yield span([row["kboost s"] for row in lp], ".1f") + " s"
    yield span([min(row["simplex s"], row["interior point s"]) for row in lp], ".0f") + " s"
    qp = lines("qp_forest")
    yield span([row["kboost s"] for row in qp], ".1f") + " s"
    yield span([min(row["Clarabel s"], row["PIQP s"]) for row in qp], ".0f") + " s"
    yield span([min(row["Clarabel dual s"], row["PIQP dual s"]) for row in qp], ".1f") + " s"
    ours, svc = lines("predict_speed")[:2]
    yield f"{ours['columns']} columns, {ours['predict s']:.1f} s, {float(ours['accuracy'][:5]):.1f}"
    yield f"{svc['columns']:,} support vectors, {svc['predict s']:.0f} s"
    for method in ("cells", "LightGBM"):
        rows = [row for row in lines("covtype") if row["method"] == method]
        yield span([row["error %"] for row in rows], ".2f") + " %"
        yield span([row["total s"] for row in rows], ".0f") + " s"
    joint, plain = lines("mnist_rls")[1], lines("mnist_rls")[5]
    for name, row in (("basis vectors", joint), ("centres", plain)):
        error, seconds = row["test error %"], row["processor s"]
        yield f"{error:.2f} % with {row['basis']:,} {name}, {seconds:.0f} s"
    few = lines("ssmk")[0]
    yield f"{few['SSMK, test %']:.1f} % wrong"
    yield f"{few['IMK, test %']:.1f} %"
    yield f"{sum(row['number'] for row in lines('fuzz_files')):,} damaged or forged"
    gains = {
        row["labels"]: -row["minus IMK's"]
        for row in lines("ssmk_better")
        if row["method"] == "self-consistent IMK"
    }
    yield f"{gains[10]:.1f} and {gains[20]:.1f} points"
    forest = {
        (row["kernels"], row["stop"]): row["predict ms"]
        for row in lines("table3")
        if row["norm"] == "2-norm" and row["C from"] == "0.1 to 10"
    }
    composite = forest["L+Q", "TR3"]
    for stop, words in (("TR3", " faster"), ("whole run", "")):
        mixture = forest["L,Q,R", stop]
        yield f"{mixture:.1f} ms"
        yield f"({composite / mixture:.1f} times{words})"


def test_pages_have_the_figures_of_the_results():
    text = "".join(
        (ROOT / p).read_text(encoding="utf-8")
        for p in ("README.md", "docs/benchmarks.md", "docs/papers/cg_boost.md")
    )
    missing = [figure for figure in figures() if figure not in text]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page, in_tmp, monkeypatch):
    if page == "deploy":
        pytest.importorskip("skl2onnx")
    if page == "plots" and not hasattr(KernelBoostClassifier, "set_callbacks"):
        pytest.skip("callbacks need scikit-learn 1.9")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # classes of a page can be pickled
    scope, given = vars(module), names()
    scope.update(given)
    for code in python(f"docs/{page}.md"):
        if ELSEWHERE not in code:
            exec(compile(code, f"docs/{page}.md", "exec"), scope)
    assert set(scope) >= set(given)


def test_no_page_is_left_out():
    shown = {
        str(page.relative_to(ROOT / "docs").with_suffix(""))
        for page in (ROOT / "docs").rglob("*.md")
        if "_build" not in page.parts and python(page)
    }
    assert {page for page in shown if not page.startswith(RECIPES)} == {*PAGES, *NOT_RUN}


@pytest.mark.parametrize("name", QUICK)
def test_example_runs(name, in_tmp):
    with redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    assert printed.getvalue()


def test_every_example_has_its_place_in_the_gallery():
    listed = runpy.run_path(str(ROOT / "docs" / "_ext" / "gallery.py"))["ORDER"]
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [target for target in targets if "://" not in target]
    missing = [t for t in local if not os.path.exists((ROOT / page).parent / t)]
    assert local
    assert not missing
