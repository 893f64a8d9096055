"""The command line: files in, files out, exit codes, one line where something is wrong."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

import kboost  # noqa: E402
from kboost.cli._guard import BAD_INPUT, INTERNAL, INTERRUPTED  # noqa: E402
from kboost.cli._live import Progress, seconds_left  # noqa: E402
from kboost.cli.app import app  # noqa: E402
from kboost.cli.demo_data import demo_table  # noqa: E402
from kboost.core.progress import TimeEstimate  # noqa: E402
from kboost.core.trace import Step  # noqa: E402
from tests.fitted import fitted, one_of_each, rows_of  # noqa: E402

BOOST = ["--estimator", "KernelBoostClassifier"]
SMALL = [*BOOST, "--set", "C=1.0", "--set", "max_columns=8"]


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A messy table, and a model of it."""
    folder = tmp_path_factory.mktemp("cli")
    demo_table(150).to_csv(folder / "orders.csv", index=False)
    result = run("fit", folder / "orders.csv", "-t", "late", "-o", folder / "m.kboost")
    assert result.exit_code == 0, result.output
    (folder / "fit.txt").write_text(result.output, "utf-8")
    return folder


def test_fit_says_what_it_did_with_each_column(folder):
    said = (folder / "fit.txt").read_text("utf-8")
    for words in ("an id", "category", "date", "number", "one value only", "are not numbers"):
        assert words in said
    for words in ("TablePreparation", "a 0/1 number per value", "classification, 2 classes"):
        assert words in said
    assert "2 classes and 136 rows: Laplacian, " in said  # the reason of the suggestion
    assert "accuracy" in said
    for words in ("what competed", "has the lowest log loss", "most important:"):
        assert words in said
    assert "order_id looks like an id and is left out; --use order_id uses it" in said
    assert "on 28 rows held out" in said
    assert "a model of 108 rows; the saved model is of all 136 rows" in said


def test_predictions_are_those_of_the_model(folder):
    result = run("predict", folder / "m.kboost", folder / "orders.csv", "-o", folder / "p.csv")
    assert result.exit_code == 0
    found = pd.read_csv(folder / "p.csv")
    assert len(found) == 150
    from kboost.tables import read_table, rows_for

    model = kboost.load_model(folder / "m.kboost")
    X = rows_for(model, read_table(folder / "orders.csv").frame)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found["probability of late"], model.predict_proba(X)[:, 1])


def test_predictions_are_printed_without_a_file(folder):
    printed = run("predict", folder / "m.kboost", folder / "orders.csv").output
    assert printed.splitlines()[0] == "prediction,probability of in time,probability of late"
    found = json.loads(run("predict", folder / "m.kboost", folder / "orders.csv", "--json").output)
    assert found["rows"] == len(found["prediction"]) == 150


def test_fit_for_scripts(folder, tmp_path):
    result = run(
        "fit", folder / "orders.csv", "-t", "late", "-o", tmp_path / "m.kboost", "--json",
        "--max-seconds", "4", "--set", "prefer=size",
    )  # fmt: skip
    found = json.loads(result.output)
    assert found["task"] == "classification"
    assert found["estimator"] == "AutoKernelClassifier(max_seconds=4.0, prefer='size')"
    assert (found["rows"], found["test_rows"]) == (136, 28)
    assert found["scoring"] == "neg_log_loss"
    assert any(line["candidate"] in found["choice"] for line in found["leaderboard"])
    assert len(found["feature_importances"]) == 8
    assert set(found["scores"]) == {
        "accuracy", "balanced accuracy", "area under the ROC curve", "log loss"
    }  # fmt: skip
    assert {c["name"]: c["kind"] for c in found["columns"]}["order_id"] == "left out"


def test_a_fit_of_few_columns_for_scripts(folder, tmp_path):
    result = run(
        "fit", folder / "orders.csv", "-t", "late", "-o", tmp_path / "m.kboost", "--json", *SMALL
    )
    found = json.loads(result.output)
    assert found["n_columns"] <= 8
    assert found["dual_gap"] >= 0
    assert "TablePreparation" in run("inspect", tmp_path / "m.kboost").output


def test_the_seed_draws_the_rows_held_out(folder, tmp_path):
    def fit(seed):
        result = run(
            "fit", folder / "orders.csv", "-t", "late", "-o", tmp_path / "m.kboost", "--json",
            *SMALL, "--seed", seed,
        )  # fmt: skip
        return json.loads(result.output)["scores"]

    first = fit(1)
    assert fit(1) == first
    assert fit(2) != first


@pytest.mark.parametrize("kind", ["npz", "svm"])
def test_matrices_of_numbers(tmp_path, kind):
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, path = X[:, 0] + 0.1 * rng.normal(size=60), tmp_path / f"t.{kind}"
    if kind == "npz":
        np.savez(path, X=X, y=y)
    else:
        dump_svmlight_file(X, y, str(path))
    result = run("fit", path, "-o", tmp_path / "m.kboost", "--max-seconds", "1")
    assert result.exit_code == 0, result.output
    assert "regression" in result.output
    assert len(run("predict", tmp_path / "m.kboost", path).output.splitlines()) == 61


def test_a_named_estimator_with_limits(folder, tmp_path):
    result = run(
        "fit", folder / "orders.csv", "-t", "weight_kg", "--drop", "late",
        "-o", tmp_path / "m.kboost",
        "--estimator", "SparseKernelRegressor", "--set", "max_columns=12", "--set", "ridge=0.1",
        "--set", "kernels=['rbf']", "--test-size", "0", "--json",
    )  # fmt: skip
    found = json.loads(result.output)
    assert found["estimator"].startswith("SparseKernelRegressor(")
    assert found["n_columns"] <= 12
    assert found["test_rows"] == 0
    assert found["scores"] == {}
    assert {c["name"]: c["note"] for c in found["columns"]}["late"] == "asked for"


def test_an_estimator_without_an_objective(folder, tmp_path):
    result = run(
        "fit", folder / "orders.csv", "-t", "late", "-o", tmp_path / "m.kboost",
        "--estimator", "MKBoostClassifier", "--set", "max_iter=2", "--set", "kernels=['rbf']",
        "--report", tmp_path / "r.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "no objective" in result.output


def test_a_matrix_with_gaps_is_filled_and_rows_without_target_are_left_out(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0].copy()
    X[::7, 1], y[:3] = np.nan, np.nan
    np.savez(tmp_path / "t.npz", X=X, y=y)
    result = run("fit", tmp_path / "t.npz", "-o", tmp_path / "m.kboost", "--max-seconds", "1")
    assert result.exit_code == 0, result.output
    assert "57 rows (3 more have no y and are left out)" in result.output
    assert "TablePreparation" in result.output
    assert len(run("predict", tmp_path / "m.kboost", tmp_path / "t.npz").output.split()) == 61


def test_three_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2.5\n2,3.5\n3,5.1\n")
    arguments = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.kboost"]
    result = run(*arguments, "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "on 1 row held out" in result.output
    assert "not defined" in result.output  # the R² of one row
    assert json.loads(run(*arguments, "--json").output)["scores"]["R²"] is None


@pytest.mark.parametrize("name", one_of_each())
def test_files_of_all_estimators_are_inspected_and_predict(name, tmp_path):
    model, rows = fitted(name), rows_of(name)
    kboost.save_model(model, tmp_path / "m.kboost")
    assert " term" in run("inspect", tmp_path / "m.kboost").output
    found = json.loads(run("inspect", tmp_path / "m.kboost", "--json").output)
    assert found["n_columns"] == model.n_columns_
    np.savez(tmp_path / "t.npz", X=rows.toarray() if hasattr(rows, "toarray") else rows)
    printed = run("predict", tmp_path / "m.kboost", tmp_path / "t.npz").output.splitlines()
    assert len(printed) == 61
    assert [line.split(",")[0] for line in printed[1:4]] == [
        str(v) for v in model.predict(rows)[:3]
    ]


def test_a_model_with_names_finds_its_columns(tmp_path):
    name = "boost names of features"
    kboost.save_model(fitted(name), tmp_path / "m.kboost")
    rows_of(name)[["four", "two", "one", "three"]].to_csv(tmp_path / "t.csv", index=False)
    printed = run("predict", tmp_path / "m.kboost", tmp_path / "t.csv").output.splitlines()
    expected = fitted(name).predict(rows_of(name)).tolist()
    assert [line.split(",")[0] for line in printed[1:]] == expected


def test_inspect(folder):
    words = run("inspect", folder / "m.kboost").output
    assert "AutoKernelClassifier()" in words
    assert "what competed" in words
    assert "columns: ordered (d/m), weight_kg" in words
    found = json.loads(run("inspect", folder / "m.kboost", "--json").output)
    assert found["classes"] == ["in time", "late"]
    assert found["dual_gap"] is None
    assert "ordered (d/m)" in found["columns"]
    assert found["leaderboard"][0]["score"] >= found["leaderboard"][-1]["score"]


def test_suggest(folder):
    found = json.loads(run("suggest", folder / "orders.csv", "-t", "late", "--json").output)
    assert found["estimator"] == "AutoKernelClassifier()"
    assert "AutoKernelRegressor" in run("suggest", folder / "orders.csv", "-t", "price").output


@pytest.mark.parametrize("given", [SMALL, []], ids=["boost", "auto"])
def test_bench(folder, given):
    result = run("bench", folder / "orders.csv", "-t", "late", "--json", *given)
    lines = {line["name"]: line for line in json.loads(result.output)}
    first = "KernelBoostClassifier" if given else "AutoKernelClassifier"
    assert list(lines) == [first, "SVC", "HistGradientBoosting"]
    assert all(0 <= line["value"] <= 1 and line["n_bytes"] > 0 for line in lines.values())


def test_demo_writes_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr("kboost.cli.demo_data.demo_table.__defaults__", (150, 7))
    monkeypatch.setattr("kboost.cli._fit.estimator_for", _small_estimator)
    result = run("demo", tmp_path / "demo")
    assert result.exit_code == 0, result.output
    assert "150 predictions written" in result.output
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert names == {"deliveries.csv", "deliveries.kboost", "report.html", "predictions.csv"}


def _small_estimator(*_, **__):
    return kboost.KernelBoostClassifier(C=1.0, max_columns=8), "chosen."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "none.csv", "-t", "y"], "must be an existing file; got none.csv"),
        (["fit", "orders.csv"], "--target must be a column"),
        (["fit", "orders.csv", "-t", "nope"], "one of order_id, ordered"),
        (["fit", "orders.csv", "-t", "late", "--task", "ranking"], "--task must be"),
        (["fit", "orders.csv", "-t", "lat"], "got --target lat (did you mean late?)"),
        (["fit", "orders.csv", "-t", "late", "--drop", "express,cariers"], "mean carrier?)"),
        (["fit", "orders.csv", "-t", "late", "--use", "country"], "--use must be a column of num"),
        (["fit", "orders.csv", "-t", "late", "--groups", "nope"], "--groups must be a column"),
        (["fit", "orders.csv", "-t", "late", "--split-by", "depot", "--groups", "depot"], "both"),
        (["fit", "orders.csv", "-t", "late", "--split-by", "carrier"], "numbers or dates"),
        (["fit", "orders.csv", "-t", "late", "--cv", "1"], "--cv must be at least 2"),
        (["fit", "orders.csv", "-t", "late", "--test", "short.csv"], "'ordered' is missing"),
        (["predict", "m.kboost", "orders.csv", "--keep", "id"], "--keep must be a column"),
        (["fit", "orders.csv", "-t", "late", "--estimator", "SVC"], "--estimator must be one of"),
        (
            ["fit", "orders.csv", "-t", "late", "--estimator", "KernelBoostRegressor"],
            "must be a classifier for a classification",
        ),
        (["fit", "orders.csv", "-t", "late", "--set", "D=1"], "--set must be NAME=VALUE"),
        (["fit", "orders.csv", "-t", "late", *BOOST, "--set", "C=-1"], "C must be positive"),
        (
            ["fit", "orders.csv", "-t", "late", "--validation-fraction", "0.2"],
            "must belong to an estimator with early stopping; got AutoKernelClassifier",
        ),
        (["fit", "orders.csv", "-t", "late", "--max-seconds", "-1"], "max_seconds must be"),
        (["fit", "constant.csv", "-t", "late"], "must have a usable column"),
        (["fit", "orders.csv", "-t", "late", "--test-size", "1"], "--test-size must be"),
        (
            ["fit", "orders.csv", "-t", "late", "-o", "no/m.kboost"],
            "must be in an existing folder; no does not exist",
        ),
        (["fit", "orders.csv", "-t", "late", "-o", "."], "it is a folder"),
        (["fit", "only.csv", "-t", "late"], "must have a column besides the target"),
        (["fit", "bare.csv", "-t", "late"], "(the first line must contain names)"),
        (["predict", "m.kboost", "matrix.npz"], "it is a matrix"),
        (["report", "m.kboost", "matrix.npz"], "it is a matrix"),
        (["fit", "without.npz"], "must contain y, the target of each row"),
        (["predict", "orders.csv", "orders.csv"], "orders.csv"),
        (["predict", "m.kboost", "short.csv"], "'ordered' is missing"),
        (["bench", "orders.csv", "-t", "late", "--test-size", "0"], "--test-size must be above 0"),
    ],
)
def test_what_is_wrong_is_one_line(folder, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    (folder / "short.csv").write_text("carrier,late\nAlpin,late\n")
    (folder / "only.csv").write_text("late\nyes\nno\n")
    (folder / "constant.csv").write_text("a,late\n" + "1,yes\n1,no\n" * 9)
    (folder / "bare.csv").write_text("1.5,yes\n2.5,no\n")
    np.savez(folder / "matrix.npz", X=np.eye(3), y=np.arange(3) % 2)
    np.savez(folder / "without.npz", X=np.eye(3))
    result = run(*arguments)
    assert result.exit_code == BAD_INPUT
    assert words in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stdout


def test_errors_for_scripts(folder):
    result = run("fit", folder / "orders.csv", "--json")
    assert result.exit_code == BAD_INPUT
    assert "--target" in json.loads(result.stderr)["error"]


def test_a_bug_is_one_line_too(folder, monkeypatch):
    monkeypatch.setattr("kboost.cli._data.load", lambda *_, **__: 1 / 0)
    result = run("suggest", folder / "orders.csv", "-t", "late")
    assert result.exit_code == INTERNAL
    assert result.stderr.startswith("error: ZeroDivisionError")


def test_usage_errors_have_their_own_code():
    assert run("fit").exit_code == 2
    assert run("--version").output == f"kboost {kboost.__version__}\n"


class Interrupting(logging.Handler):
    """Ctrl-C at a step of the engine."""

    def __init__(self, at: int) -> None:
        super().__init__(logging.INFO)
        self.at = at

    def emit(self, record):
        step = record.args[0] if record.args else None
        if isinstance(step, Step) and step.iteration == self.at:
            raise KeyboardInterrupt


@pytest.fixture
def interrupt():
    logger = logging.getLogger("kboost")
    added = []

    def at(step):
        added.append(Interrupting(step))
        logger.addHandler(added[0])

    yield at
    for handler in added:
        logger.removeHandler(handler)


def test_ctrl_c_saves_what_there_is(folder, tmp_path, interrupt):
    interrupt(2)
    path = tmp_path / "m.kboost"
    result = run(
        "fit", folder / "orders.csv", "-t", "late", "-o", path, "--set", "C=1.0", *BOOST,
        "--set", "solver=ColumnGeneration(columns_per_step=1)",
    )  # fmt: skip
    assert result.exit_code == INTERRUPTED
    assert "interrupted" in result.output
    assert kboost.load_model(path)[-1].n_columns_ >= 1


@pytest.mark.parametrize(
    ("given", "words"),
    [([], "while C was being chosen"), (["--set", "C=1"], "before there was a model")],
)
def test_ctrl_c_before_there_is_a_model(folder, tmp_path, monkeypatch, given, words):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(kboost.KernelBoostClassifier, "_checked", stop)
    path = tmp_path / "m.kboost"
    result = run("fit", folder / "orders.csv", "-t", "late", "-o", path, *BOOST, *given)
    assert result.exit_code == INTERRUPTED
    assert words in result.stderr
    assert not path.exists()


def test_time_left():
    def step(**given):
        base = {"iteration": 0, "n_columns": 0, "objective": 1.0, "bound": 0.0, "price": 1.0}
        return Step(**(base | {"n_priced": 1, "seconds": 0.0} | given))

    limits = {"tol": 1e-4, "max_columns": None, "max_seconds": None}
    first, half = step(), step(bound=0.99, seconds=2.0, n_columns=5)
    np.testing.assert_allclose(seconds_left(first, half, **limits), 2.0)  # 1 → 1e-2 → 1e-4
    assert seconds_left(first, half, **(limits | {"max_seconds": 2.5})) == 0.5
    assert seconds_left(first, half, **(limits | {"tol": 0.5, "max_columns": 10})) == 6.0
    assert seconds_left(first, first, **limits) is None


def test_the_time_left_is_the_one_a_fit_tells_itself():
    progress = Progress(kboost.SparseKernelRegressor(max_columns=10))
    progress.emit(logging.makeLogRecord({"args": (TimeEstimate(3, 16, "cells", 7.2),)}))
    assert ("time left", "about 7 s") in progress.lines()
    progress.emit(logging.makeLogRecord({"args": (Step(2, 5, 1.0, None, 1.0, 1, 100.0),)}))
    assert ("time left", "about 7 s") in progress.lines()


def test_a_process_of_its_own_and_what_importing_kboost_brings(folder):
    heavy = ["matplotlib", "typer", "kboost.cli", "kboost.report", "kboost.plotting"]
    heavy += ["dask", "distributed", "onnx", "skl2onnx", "onnxruntime"]
    code = f"""
import sys, kboost, kboost.export.onnx
print([name for name in {heavy} if name in sys.modules])
from kboost.cli import main
main()
"""
    command = [sys.executable, "-c", code, "inspect", str(folder / "m.kboost")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == "[]"
    assert any("AutoKernelClassifier" in line for line in rest)


def test_set_shows_the_message_of_wrong_settings(folder, tmp_path):
    def fails(*given):
        path = tmp_path / "m.kboost"
        options = ["-o", path, "--estimator", "KernelBoostClassifier", *given]
        result = run("fit", folder / "orders.csv", "-t", "late", *options)
        assert result.exit_code == 1
        return result.stderr

    wrong_value = fails("--set", "solver=ColumnGeneration(columns_per_step=0)")
    assert "columns_per_step must be an integer of at least 1" in wrong_value
    assert "--set must name settings" in fails("--set", "solver=ColumnGeneration(steps=1)")
    wrong_solver = fails("--set", "solver=simplex", "--validation-fraction", "0.2")
    assert "solver must be 'cg'" in wrong_solver


def test_set_takes_settings_inside_settings(folder, tmp_path):
    path = tmp_path / "m.kboost"
    solver = "solver=ColumnGeneration(early_stopping=EarlyStopping(0.2, n_iter_no_change=2))"
    run(
        "fit", folder / "orders.csv", "-t", "late", "-o", path, "--set", "C=1.0",
        "--estimator", "KernelBoostClassifier", "--set", solver,
    )  # fmt: skip
    fitted = kboost.load_model(path)[-1]
    assert fitted.solver.early_stopping == kboost.settings.EarlyStopping(0.2, n_iter_no_change=2)


ODD = r"\1 $\frac$ [bold]x[/] :bell: %s {0}"


def test_words_of_the_data_are_printed_as_they_are(tmp_path):
    """No label and no name is a pattern, markup, a picture, mathematics or a control sequence."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    names = [f"{ODD}0", "\x1b[2Jend\\"]
    table = pd.DataFrame(dict(zip(names, x.T, strict=True)))
    table[f"t {ODD}"] = np.where(x.sum(axis=1) > 0, f"{ODD}+", np.where(x[:, 0] > 0, ODD, "\\"))
    table.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m [red] 'q'.kboost"
    result = run(
        "fit", tmp_path / "t.csv", "-t", f"t {ODD}", "-o", model, "--report",
        tmp_path / "r.html", *SMALL,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for words in (f"{ODD}0", f"target t {ODD}: ", f"{ODD}+ (", r"\x1b[2Jend\ number"):
        assert words in said
    assert "\x1b[2J" not in result.output
    assert str(model) in result.output
    for word in (f"{ODD}0", f"{ODD}+"):
        assert word in run("inspect", model).output
    assert run("predict", model, tmp_path / "t.csv").exit_code == 0


def test_an_error_does_not_control_the_terminal(folder):
    result = run("fit", folder / "orders.csv", "-t", "\x1b]0;x\x07")
    assert r"got --target \x1b]0;x\x07" in result.stderr


def test_many_rows_without_a_target_are_warned_of(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=100), "y": ["None", "mild"] * 50})
    table.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.kboost", *SMALL]
    said = run(*fit).output
    assert "100 rows" in said
    assert "warning" not in said
    assert "None (50), mild (50)" in said or "mild (50), None (50)" in said
    table.loc[:1, "y"] = ""
    table.to_csv(tmp_path / "t.csv", index=False)
    said = " ".join(run(*fit).output.split())
    words = "warning: 2 of 100 rows (2%) have no value of y and are left out; --na WORD"
    assert said.count(words) == 2  # before the fit and at the end
    found = json.loads(run(*fit, "--json").output)
    assert found["rows_without_target"] == 2
    assert len(found["warnings"]) == 1
    result = run(*fit, "--na", "None")
    assert (result.exit_code, "must have at least two values" in result.stderr) == (BAD_INPUT, True)
