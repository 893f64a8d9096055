"""Rows held out, rows to predict, remarks on the table, and what the model file knows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

import kboost  # noqa: E402
from kboost.cli._checks import dependence, notes_on  # noqa: E402
from kboost.cli._complete import column_names  # noqa: E402
from kboost.cli._console import PlainConsole  # noqa: E402
from kboost.cli._data import DataOptions, _order, labels_like, load  # noqa: E402
from kboost.cli._files import rows_of  # noqa: E402
from kboost.cli._guard import INTERRUPTED  # noqa: E402
from kboost.cli._holdout import Holdout  # noqa: E402
from kboost.cli._learn import estimator_for  # noqa: E402
from kboost.cli._live import Progress  # noqa: E402
from kboost.cli._notes import share_of_training_rows  # noqa: E402
from kboost.cli._predict import write_table  # noqa: E402
from kboost.cli._show import score_table  # noqa: E402
from kboost.cli.app import app  # noqa: E402
from kboost.core.stopping import OUT_OF_TIME  # noqa: E402
from kboost.report.page import in_terms  # noqa: E402
from kboost.report.scores import Score  # noqa: E402

SMALL = ["--estimator", "KernelBoostClassifier", "--set", "C=1.0", "--set", "max_columns=8"]
N = 80


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "code": rng.permutation(n) * 3 + 1000,
            "x": x,
            "town": rng.choice(["Graz", "Linz"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="D"),
            "person": np.arange(n) // 4,
            "y": np.where(x + 0.1 * rng.normal(size=n) > 0, "=up", "down"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of it."""
    folder = tmp_path_factory.mktemp("rows")
    table().to_csv(folder / "t.csv", index=False)
    table(1, 30).to_csv(folder / "new.csv", index=False)
    given = ["--test", folder / "new.csv", "--drop", "code,person", "--na", "void"]
    fitted = fit(folder, *given)
    (folder / "facts.json").write_text(json.dumps(fitted), "utf-8")
    return folder


def fit(folder, *given, output="m.kboost"):
    result = run(
        "fit", folder / "t.csv", "-t", "y", "-o", folder / output, "--json", *SMALL, *given
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_another_file_is_scored_and_all_rows_are_fitted(folder):
    found = json.loads((folder / "facts.json").read_text("utf-8"))
    assert (found["rows"], found["test_rows"]) == (N, 30)
    assert found["scored"].endswith("new.csv")
    model = kboost.load_model(folder / "m.kboost")
    predicted = run("predict", folder / "m.kboost", folder / "new.csv", "--json").stdout
    right = np.mean(np.array(json.loads(predicted)["prediction"]) == table(1, 30)["y"])
    assert found["scores"]["accuracy"] == pytest.approx(right)
    assert model[-1].max_seconds == 60.0  # the budget of the default


def test_cross_validation_has_means_and_spreads(folder):
    found = fit(folder, "--cv", "3", output="cv.kboost")
    assert (found["rows"], found["test_rows"]) == (N, N)
    assert found["score_spreads"]["accuracy"] >= 0
    assert "3 folds" in found["scored"]


def test_spreads_are_whole_on_a_narrow_screen():
    found = [Score("area under the ROC curve", 0.98765, 0.5, False)]
    for width in (80, 60):
        console = PlainConsole(file=StringIO(), width=width)
        console.print(score_table(found, "classification", [0.012345]))
        assert "0.9877 ± 0.012" in console.file.getvalue()


def test_labels_of_another_file_are_read_as_those_of_the_fit():
    assert labels_like(np.array(["1", "0"]), np.array([0, 1]), "t.csv").tolist() == [1, 0]
    assert labels_like(np.array([1, 0]), np.array(["0", "1", "x"]), "t.csv").tolist() == ["1", "0"]
    with pytest.raises(ValueError, match=r"t.csv must have labels of the fit, such as 3; got 'x'"):
        labels_like(np.array(["x"]), np.array([3, 4]), "t.csv")


def test_rows_of_one_class_have_a_report(folder, tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(
        "kboost.cli._report.write_report", lambda *a, **k: given.update(rows=a, **k)
    )
    monkeypatch.setattr("kboost.cli._report._show.size_words", str)
    new, page = tmp_path / "one.csv", tmp_path / "r.html"
    page.touch()
    table().query("y == 'down'").to_csv(new, index=False)
    result = run("report", folder / "m.kboost", new, "-o", page)
    assert result.exit_code == 0, result.output
    assert set(given["rows"][3]) == {"down"}
    assert given["na"] == ["void"]  # for the code that reads such rows


def test_rows_keep_their_numbers_when_others_are_left_out(tmp_path):
    rows = table()
    rows.loc[[0, 2], "y"] = None
    rows.to_csv(tmp_path / "t.csv", index=False)
    assert load(tmp_path / "t.csv", "y").part([0, 1]).X.index.tolist() == [2, 4]


def test_the_default_of_the_time_is_not_told_where_it_is_given(folder):
    data = load(folder / "t.csv", "y")
    assert ", by default for at most 60 seconds." in estimator_for(data, None, ())[1]
    assert "their blend compete." in estimator_for(data, None, (), max_seconds=5.0)[1]


@pytest.mark.parametrize("cv", [None, 3])
def test_the_last_rows_are_held_out(folder, cv):
    data = load(folder / "t.csv", "y", DataOptions(split_by="day"))
    parts = Holdout(cv=cv).parts(data)
    assert len(parts) == (cv or 1)
    for train, left in parts:
        assert train.order.max() < left.order.min()
    assert "by day" in Holdout().words(data, 16)


@pytest.mark.parametrize("cv", [None, 4])
def test_groups_are_held_out_together_and_not_used(folder, cv):
    data = load(folder / "t.csv", "y", DataOptions(groups="person"))
    assert "person" not in data.X.columns
    for train, left in Holdout(cv=cv).parts(data):
        assert not set(train.groups) & set(left.groups)


def test_ctrl_c_in_the_last_fit_keeps_the_model_before(folder, monkeypatch):
    fits = []
    plain = kboost.KernelBoostClassifier.fit

    def interrupted(self, *given):
        fits.append(self)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return plain(self, *given)

    monkeypatch.setattr(kboost.KernelBoostClassifier, "fit", interrupted)
    path = folder / "stopped.kboost"
    result = run("fit", folder / "t.csv", "-t", "y", "-o", path, *SMALL)
    assert result.exit_code == INTERRUPTED
    assert "on 16 rows held out" in result.output
    assert "interrupted; the best model so far is saved." in result.stderr
    assert kboost.persistence.load_with_notes(path)[1]["rows"] == 64


def test_a_final_fit_that_is_cut_short_is_not_taken(folder, monkeypatch):
    plain = kboost.KernelBoostClassifier.fit

    def late(self, X, y):
        plain(self, X, y)
        if len(y) == N:
            self.n_columns_, self.stop_reason_ = 0, [OUT_OF_TIME]
        return self

    monkeypatch.setattr(kboost.KernelBoostClassifier, "fit", late)
    path = folder / "late.kboost"
    result = run("fit", folder / "t.csv", "-t", "y", "-o", path, "--max-seconds", "9", *SMALL)
    assert "no time to fit all rows" in result.output
    assert kboost.persistence.load_with_notes(path)[1]["rows"] == 64


def test_any_time_limit_ends_in_a_model(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 180))).add_prefix("f")
    frame.assign(y=np.where(frame["f0"] > 0, "a", "b")).to_csv(tmp_path / "wide.csv", index=False)
    result = run(
        "fit", tmp_path / "wide.csv", "-t", "y", "-o", tmp_path / "m.kboost",
        "--max-seconds", "0.001",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert set(kboost.load_model(tmp_path / "m.kboost").classes_) == {"a", "b"}


def test_a_name_that_ends_in_brackets_is_another_column(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"w (unit)": rng.choice(["kg", "lb"], 40), "w": rng.normal(size=40)})
    frame["y"] = frame["w"] + 0.1 * rng.normal(size=40)
    frame.to_csv(tmp_path / "t.csv", index=False)
    small = ["--estimator", "SparseKernelRegressor", "--set", "max_columns=5"]
    done = run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.kboost", *small)
    assert done.exit_code == 0, done.stderr
    done = run("predict", tmp_path / "m.kboost", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, done.stderr
    assert "outside the range" not in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["-o", "t.csv"], "outputs must be files of their own; got t.csv twice."),
        (["-o", "a", "--report", "a"], "outputs must be files of their own; got a twice."),
        (["-o", "a", "--groups", "x,code"], "--groups must be one column of the table; got 'x"),
    ],
)
def test_options_that_would_cost_the_work_are_refused_before_it(given, words, tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    options = [tmp_path / v if v in ("t.csv", "a") else v for v in given]
    done = run("fit", tmp_path / "t.csv", "-t", "y", *options, *SMALL)
    assert done.exit_code == 1
    assert words in " ".join(done.stderr.split())


def test_gaps_of_a_column_of_time_are_no_words():
    dates = pd.Series(["2020-01-01", "", "2019-05-01", "", ""], name="when")
    assert np.argsort(_order(dates)).tolist()[-2:] == [2, 0]
    with pytest.raises(ValueError, match=r"^--split-by must be a column of numbers or dates"):
        _order(pd.Series(["a", "", "b"], name="when"))


def test_the_clock_ticks_between_records(monkeypatch):
    progress = Progress(kboost.SparseKernelClassifier(), "fit 1 of 2")
    start = progress._started
    monkeypatch.setattr("kboost.cli._live.time.monotonic", lambda: start + 7)
    assert progress.lines() == [("seconds", "7  fit 1 of 2")]


def test_predict_says_what_training_had_not(folder):
    new = table(2, 20).drop(columns="day")
    new.loc[:1, "town"] = "Wien"
    new.loc[2, "town"] = "void"  # a missing value of the model
    new["x"] += 50
    new.to_csv(folder / "odd.csv", index=False)
    result = run("predict", folder / "m.kboost", folder / "odd.csv")
    assert result.exit_code == 0
    said = result.stderr.splitlines()
    assert said[0] == "warning: day is not in the file; all its values are missing"
    assert "x: 20 of 20 rows have a value outside the range of training" in said[1]
    assert "town: 2 of 20 rows have a value that training did not have, e.g. 'Wien'" in said[2]
    assert len(said) == 3
    assert len(result.stdout.splitlines()) == 21


def test_columns_are_kept_and_text_is_safe(folder):
    result = run(
        "predict", folder / "m.kboost", folder / "new.csv", "--keep", "code,x", "--spreadsheet"
    )
    header, *lines = result.stdout.splitlines()
    assert header.startswith("code,x,prediction,probability of =up")
    codes, numbers, found = zip(*(line.split(",")[:3] for line in lines), strict=True)
    assert list(map(int, codes)) == table(1, 30)["code"].tolist()
    np.testing.assert_allclose(np.array(numbers, dtype=float), table(1, 30)["x"])
    assert set(found) == {"'=up", "down"}


def test_predictions_have_the_format_of_their_suffix(folder, tmp_path):
    for name in ("p.xlsx", "p.json.gz"):
        result = run("predict", folder / "m.kboost", folder / "new.csv", "-o", tmp_path / name)
        assert result.exit_code == 1
        assert "--output must be a CSV or Parquet file" in result.stderr
    write_table(pd.DataFrame({"a": ["1,5"], "b": [2]}), tmp_path / "p.tsv")
    assert (tmp_path / "p.tsv").read_text("utf-8").splitlines() == ["a\tb", "1,5\t2"]


def test_kept_dates_are_words_in_json(folder, tmp_path):
    rows = table(1, 3)
    rows.loc[1, "day"] = pd.NaT
    rows.to_parquet(tmp_path / "new.parquet")
    given = ["predict", folder / "m.kboost", tmp_path / "new.parquet", "--keep", "day", "--json"]
    days = json.loads(run(*given).stdout)["day"]
    assert days == ["2024-01-01T00:00:00", None, "2024-01-03T00:00:00"]


def test_the_file_knows_its_origin(folder):
    said = run("inspect", folder / "m.kboost").stdout
    for words in (
        f"written by kboost {kboost.__version__}",
        "target: y (classification)",
        f"fitted to {N} rows",
        "new.csv: accuracy",
        "days, month, weekday",
    ):
        assert words in said
    found = json.loads(run("inspect", folder / "m.kboost", "--json").stdout)
    assert (found["target"], found["rows"]) == ("y", N)
    assert {column["name"] for column in found["preparation"]} >= {"x", "town", "day"}


def test_a_report_knows_the_target_and_the_rows_of_the_fit(folder):
    asked = ["report", folder / "m.kboost"]
    page = ["-o", folder / "r.html"]
    result = run(*asked, folder / "t.csv", *page)
    assert result.exit_code == 0, result.output
    assert "fitted to about 100% of these rows" in result.stderr
    model, notes = kboost.persistence.load_with_notes(folder / "m.kboost")
    new = rows_of(model, folder / "new.csv")[0]
    assert share_of_training_rows(notes, new) == 0.0


def test_remarks_on_the_table(tmp_path):
    frame = table().rename(columns={"code": "code_id"})
    frame["paid"] = np.where(frame["y"] == "down", "no", "yes")
    frame["again"] = frame["x"]
    frame["size"] = np.arange(N) % 13
    frame.to_csv(tmp_path / "t.csv", index=False)
    notes = notes_on(load(tmp_path / "t.csv", "y"))
    assert notes == [
        "paid alone predicts y (100.0%); if it is known only after y, --drop paid",
        "code_id looks like an id and is left out; --use code_id uses it",
        "again has the same values as x; --drop again leaves it out",
    ]
    (note,) = notes_on(load(tmp_path / "t.csv", "size", DataOptions(drop=["code_id", "again"])))
    assert note == "size is read as 13 classes; if it is a quantity, --task regression"
    used = load(tmp_path / "t.csv", "y", DataOptions(use=["code_id"]))
    assert "code_id (used)" in used.X.columns


def test_the_terms_of_a_model_are_not_columns():
    said = "Column generation has 9 columns; raise max_columns; column generation; a column"
    assert in_terms(said) == (
        "Column generation has 9 terms; raise max_columns; column generation; a term"
    )


def test_dependence_is_an_estimate_of_the_share_explained():
    rng = np.random.default_rng(0)
    x = pd.Series(rng.normal(size=4000))
    y = np.sin(3 * x.to_numpy())
    assert dependence(x, y, labels=False) > 0.999
    noisy = dependence(x, y + rng.normal(scale=y.std(), size=4000), labels=False)
    assert noisy == pytest.approx(0.5, abs=0.05)
    assert dependence(x, rng.normal(size=4000), labels=False) == pytest.approx(0, abs=0.05)


def test_names_of_columns_are_completed(folder):
    context = SimpleNamespace(params={"data": folder / "t.csv"})
    assert column_names(context, "p") == ["person"]
    assert "--show-completion" in run("--help").output


def test_commands_import_nothing_before_they_run_and_a_closed_pipe_is_silent(folder):
    code = """
import sys
from kboost.cli import app, main
assert not {"numpy", "pandas", "sklearn"} & set(sys.modules)
main()
"""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", code, "predict", folder / "m.kboost", folder / "new.csv"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
