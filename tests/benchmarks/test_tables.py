"""The entry `tables`: its splits, the forms of its frames, its scores and its criteria."""

import json
from math import inf, log

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import tables_dev
from benchmarks.entries import _tables as summary
from benchmarks.tabular import data
from benchmarks.tabular.competitors import OURS, PEERS, QUICK, CatBoost, Categories, Numbers
from benchmarks.tabular.measure import million, of_classes, of_numbers

pd = pytest.importorskip("pandas")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Two tables of 40 rows; in the test quarter every number is negative."""
    (tmp_path / "tables").mkdir()
    number = np.r_[-np.arange(1, 11), np.arange(30)].astype(float)
    frame = pd.DataFrame({"number": number, "text": ["a", "b"] * 20, "y": ["no", "yes"] * 20})
    frame.loc[12, ["number", "text"]] = None
    frame.to_csv(tmp_path / "tables" / "words.csv.gz", index=False)
    frame.assign(y=number).to_csv(tmp_path / "tables" / "numbers.csv.gz", index=False)
    every = [
        {"name": name, "file": f"{name}.csv.gz", "task": task, "target": "y", "rows": 40,
         "features": 2, "source": "here"}
        for name, task in (("words", "classification"), ("numbers", "regression"))
    ]  # fmt: skip
    (tmp_path / "tables" / "manifest.json").write_text(json.dumps(every))
    monkeypatch.setenv("KBOOST_DATA", str(tmp_path))
    data.manifest.cache_clear()
    yield tmp_path
    data.manifest.cache_clear()


def test_the_first_quarter_judges(place):
    split = data.reported("numbers")
    assert len(split.y_test) == 10
    assert (split.y_test < 0).all()
    assert (split.y_train >= 0).all()
    assert "y" not in split.X_train


def test_tuning_does_not_see_the_first_quarter(place, monkeypatch):
    frames = []
    read = data.read
    monkeypatch.setattr(data, "read", lambda *a, **k: frames.append(read(*a, **k)) or frames[-1])
    split = data.tuning("numbers", 3)
    assert (frames[0]["y"] >= 0).all()
    assert (len(split.y_train), len(split.y_test)) == (23, 7)
    assert sorted([*split.y_train, *split.y_test]) == list(np.arange(30.0))
    assert not np.array_equal(split.y_test, data.tuning("numbers", 4).y_test)


def test_labels_are_codes_and_an_unknown_one_is_minus_one(place):
    entry = data.manifest()["words"]
    train, test = pd.DataFrame({"y": ["b", "a"]}), pd.DataFrame({"y": ["c", "b"]})
    split = data.split(entry, train, test)
    assert split.y_train.tolist() == [1, 0]
    assert split.y_test.tolist() == [-1, 1]


def test_categories_are_those_of_the_training_rows():
    train = pd.DataFrame({"x": [1.0, None, 2.0], "self": ["u", "v", "w"]})
    new = pd.DataFrame({"x": [3.0, 4.0], "self": ["v", "never"]})
    few, many = Categories(None), Categories(None, most=2)
    for one in (few, many):
        one.learn(train)
    assert list(few.form(new)["self"].cat.categories) == ["u", "v", "w"]
    assert few.form(new)["self"].isna().tolist() == [False, True]
    assert many.form(new)["self"].tolist()[0] == 1.0
    assert new["self"].tolist() == ["v", "never"]
    assert np.isnan(many.form(new)["self"].tolist()[1])


def test_catboost_is_given_strings():
    frame = pd.DataFrame({"x": [1.0, None], "t": ["u", None]})
    competitor = CatBoost(None)
    competitor.learn(frame)
    assert competitor.names == ["t"]
    assert competitor.form(frame)["t"].tolist() == ["u", "missing"]


def test_numbers_take_text_and_gaps(place):
    from sklearn.svm import SVR

    split = data.reported("numbers")
    competitor = Numbers(SVR())
    competitor.learn(split.X_train)
    competitor.fit(split.X_train, split.y_train)
    assert competitor.predict(split.X_test).shape == (10,)
    assert competitor.facts()["columns"] > 0
    assert set(million(competitor, split.X_test)) == {"million_seconds", "million_form_seconds"}


def test_scores_of_classes_by_hand():
    split = data.Split(None, np.array([0, 0, 0, 1]), None, np.array([0, 1, 1]))
    P = np.array([[0.8, 0.2], [0.5, 0.5], [0.9, 0.1]])
    row = of_classes(split, np.array([0, 1, 0]), P)
    assert row["error"] == pytest.approx(1 / 3)
    assert row["log_loss"] == pytest.approx(-(log(0.8) + log(0.5) + log(0.1)) / 3)
    assert row["auc"] == pytest.approx(0.5)
    assert row["rarest"] == 0.25
    assert of_classes(split, np.array([0, 1, 0]), None)["log_loss"] is None


def test_the_mean_has_an_nmse_of_one():
    y = np.array([1.0, 2.0, 6.0])
    row = of_numbers(y, np.full(3, y.mean()))
    assert row["error"] == pytest.approx(1.0)
    assert row["rmse"] == pytest.approx(y.std())


def made(errors, **changes):
    """Rows of one classification and one regression table; ours first, then the peers."""
    found = {}
    for table, task in (("c", "classification"), ("r", "regression")):
        for name, error in zip((OURS, *PEERS), errors, strict=True):
            found[table, name] = {
                "status": "ok", "task": task, "error": error, "log_loss": error, "auc": 0.9,
                "rarest": 0.1, "n_test": 100, "n_train": 300, "n_features": 5,
                "fit_cpu_seconds": 1.0, "million_seconds": 1.0,
            } | changes.get(name, {})  # fmt: skip
        found[table, QUICK] = found[table, OURS]
    return found


ERRORS = (0.10, 0.11, 0.2, 0.105, 0.3, 0.4, 0.1005)


def test_ranks_and_wins():
    found = made(ERRORS)
    assert summary.mean_ranks(found, "classification", "error")[OURS] == 1
    assert summary.place(summary.mean_ranks(made(ERRORS[::-1]), "regression", "error")) == 2
    assert summary.compare(found, "c", "LightGBM", "error") == "tie"  # one row of a hundred
    assert summary.compare(found, "r", "LightGBM", "error") == "win"
    assert summary.compare(found, "r", "LightGBM 1000x63", "error") == "tie"  # half a percent
    assert summary.compare(made(ERRORS, AutoKernel={"error": None}), "c", "SVM", "error") == "loss"
    assert summary.counts(found, "regression", "CatBoost", "error") == "1/0/0"


FINE = {"status": "ok", "error": 0.04, "columns": 99, "fit_cpu_seconds": 5.0}


def test_every_criterion_can_be_met_and_missed():
    assert all(one.met for one in summary.verdicts(made(ERRORS), [FINE]))
    worse = made(
        (0.5, *ERRORS[1:]),
        AutoKernel={"fit_cpu_seconds": 61.0, "auc": 0.8, "million_seconds": 1.1},
    )
    slow = [FINE | {"fit_cpu_seconds": 5.1}]
    assert not any(one.met for one in summary.verdicts(worse, slow))


def test_what_failed_is_not_met():
    lost = dict.fromkeys(("error", "log_loss", "auc", "fit_cpu_seconds", "million_seconds"))
    found = made(ERRORS, AutoKernel={"status": "failed", **lost})
    assert not any(one.met for one in summary.verdicts(found, [{"status": "failed"}]))


def test_a_best_error_of_nothing_allows_nothing():
    assert summary.ratio_to_best(made((0.01, 0, *ERRORS[2:])), "c") == inf
    assert summary.ratio_to_best(made((0.0, 0, *ERRORS[2:])), "c") == 1.0


def test_the_script_takes_up_where_it_ended(place, monkeypatch, capsys):
    jobs = []

    def judge(job):
        jobs.append(job)
        bad = job.table == "words"
        return {"status": "failed", "message": "why"} if bad else {
            "status": "ok", "error": 0.5, "fit_cpu_seconds": 1.0,
        }  # fmt: skip

    monkeypatch.setattr(tables_dev, "judge", judge)
    options = ["--competitors", "SVM", "--output", str(place / "out.jsonl")]
    tables_dev.main(options)
    assert [(job.table, job.seed) for job in jobs] == [("words", 0), ("numbers", 0)]
    tables_dev.main(options)
    assert [job.table for job in jobs[2:]] == ["words"]  # failed, so once more
    tables_dev.main([*options, "--again", "--only", "numbers", "--seeds", "0,1"])
    assert [job.seed for job in jobs[3:]] == [0, 1]
    assert "error 0.5" in capsys.readouterr().out


def test_the_entry_is_skipped_without_its_data(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("KBOOST_DATA", raising=False)
    data.manifest.cache_clear()
    assert command.main(["tables", "--results", str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().out
