"""The transformer as scikit-learn, a script without pandas, and a user see it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import kboost
from benchmarks.mutants import parted, repaired
from kboost.preparation import TablePreparation

pl = pytest.importorskip("polars")


@parametrize_with_checks([TablePreparation()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    words = ["red", "old", "big", "new", "far", "low"]
    return pl.DataFrame(
        {
            "age": [None, *rng.integers(20, 70, 99).tolist()],
            "job": rng.choice(["nurse", "smith", "cook"], 100),
            "city": [f"c{i}" for i in rng.integers(0, 40, 100)],
            "note": [" ".join(rng.choice(words, 4)) + f" {i}" for i in range(100)],
            "seen": np.datetime64("2024-01-03")
            + rng.integers(0, 400, 100).astype("timedelta64[D]"),
        }
    )


def test_columns_are_found_by_name_among_others(frame):
    y = np.arange(100.0)
    prepare = TablePreparation().fit(frame, y)
    other = frame.with_columns(extra=1).select(["extra", *frame.columns[::-1]])
    np.testing.assert_array_equal(prepare.transform(other), prepare.transform(frame))
    assert prepare.feature_names_in_.tolist() == frame.columns
    with pytest.raises(ValueError, match="columns of fit; 'job' is missing; got age, city, note"):
        prepare.transform(frame.drop("job"))
    with pytest.raises(ValueError, match="'job' is missing"):
        prepare.transform(frame.rename({"job": "Job"}))


def test_a_column_that_was_left_out_need_not_be_there(frame):
    prepare = TablePreparation().fit(frame.with_columns(country=pl.lit("de")))
    assert np.isfinite(prepare.transform(frame)).all()


def test_other_kinds_of_the_same_values_are_read(frame):
    prepare = TablePreparation().fit(frame)
    text = frame.with_columns(pl.col("age", "seen").cast(pl.String))
    np.testing.assert_array_equal(prepare.transform(text), prepare.transform(frame))
    empty = frame.with_columns(age=None, job=None, seen=None, note=None)
    assert np.isfinite(prepare.transform(empty)).all()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"age": ["old"] * 100}, "column 'age' must hold numbers, as in fit; got 'old'"),
        ({"age": ["1"] * 99 + ["old"]}, "column 'age' must hold numbers, as in fit; got 'old'"),
        ({"seen": ["soon"] * 100}, "column 'seen' must hold dates, as in fit; got 'soon'"),
        ({"seen": [1.0] * 100}, "column 'seen' must hold dates, as in fit; got '1.0'"),
        (
            {"age": [np.inf] * 100},
            "column 'age' must hold finite numbers or missing values; got infinity",
        ),
    ],
)
def test_values_of_another_kind_are_refused(frame, column, message):
    prepare = TablePreparation().fit(frame)
    with pytest.raises(ValueError, match=message):
        prepare.transform(frame.with_columns(**{k: pl.Series(v) for k, v in column.items()}))


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), "1e400", "inf"], ids=["whole", "negative", "text", "word"]
)
def test_a_number_beyond_all_floats_is_refused_as_infinity(value):
    X = np.array([[1.5, 2.0], [2.5, 3.0], [value, 4.0]] * 10, dtype=object)
    with pytest.raises(
        ValueError, match="column 'x0' must hold finite numbers or missing values; got inf"
    ):
        TablePreparation().fit(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.array([[1.0, np.inf], [0.0, 1.0]]), ValueError, "column 'x1' must hold finite"),
        (pl.DataFrame({"a": [1.0, np.inf]}), ValueError, "column 'a' must hold finite"),
        (pl.DataFrame({"a": ["x"] * 30}), ValueError, "must have a usable column"),
        (pl.DataFrame({"a": [[1], [2]]}), TypeError, "column 'a' must hold numbers, .* List"),
        (np.array([[{}], [{}]], dtype=object), TypeError, "column 'x0' must hold .* a dict"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(X, error, message):
    with pytest.raises(error, match=message):
        TablePreparation().fit(X)


def test_names_must_be_distinct():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="distinct column names; got 'a' twice"):
        TablePreparation().fit(frame)


def test_names_that_are_no_strings_are_no_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({0: [1.5, 2.5, 4.5], 1: ["a", "b", "a"]})
    prepare = TablePreparation().fit(frame)
    assert not hasattr(prepare, "feature_names_in_")
    assert prepare.get_feature_names_out().tolist() == ["x0", "x1=b"]


def test_parameters_are_checked(frame):
    with pytest.raises(ValueError, match=r"many must be 'auto' or 'target' or .* or 'both'; got"):
        TablePreparation(many="median").fit(frame)
    with pytest.raises(ValueError, match="max_levels must be an integer of at least 1; got"):
        TablePreparation(max_levels=0).fit(frame)


@pytest.mark.parametrize("many", ["target", "mean", "both"])
@pytest.mark.parametrize("copy", ["pickle", "file"])
def test_a_copy_gives_the_same_rows(frame, copy, many, tmp_path):
    prepare = TablePreparation(many=many).fit(frame, np.arange(100) % 3)
    if copy == "pickle":
        found = pickle.loads(pickle.dumps(prepare))
    else:
        kboost.save_model(prepare, tmp_path / "p.kboost")
        found = kboost.load_model(tmp_path / "p.kboost")
    np.testing.assert_array_equal(found.transform(frame), prepare.transform(frame))
    assert found.columns_ == prepare.columns_
    assert found.get_feature_names_out().tolist() == prepare.get_feature_names_out().tolist()
    assert clone(found).get_params() == prepare.get_params()


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [
        ("LevelEncoding", "n_groups", 2),
        ("LevelEncoding", "group_of_gap", 3),
        ("DateEncoding", "fill", 10**30),
        ("TextEncoding", "has_indicator", True),
        ("PreparedColumn", "name", 1),
        ("NumberEncoding", "fill", "x"),
        ("MeanEncoding", "labels", {"ref": 0}),
        ("MeanEncoding", "counted", 2),
        ("JoinedEncoding", "one_hots", {"ref": 0}),
    ],
)
def test_a_forged_file_is_refused(frame, cls, field, value, tmp_path):
    prepare = TablePreparation(many="both").fit(frame, np.arange(100) % 3)
    kboost.save_model(prepare, tmp_path / "p.kboost")
    version, text, numbers = parted((tmp_path / "p.kboost").read_bytes())
    manifest = json.loads(text)
    objects = [node["object"] for node in manifest["nodes"] if "object" in node]
    next(o for o in objects if o["class"] == cls)["fields"][field] = value
    forged = repaired(version, json.dumps(manifest).encode(), numbers)
    (tmp_path / "p.kboost").write_bytes(forged)
    with pytest.raises(ValueError, match="is damaged"):
        kboost.load_model(tmp_path / "p.kboost")


def test_set_output_names_the_columns(frame):
    prepare = TablePreparation().set_output(transform="polars")
    out = prepare.fit_transform(frame, np.arange(100.0))
    assert out.columns == prepare.get_feature_names_out().tolist()


def test_polars_does_not_need_pandas():
    code = """
import sys
sys.modules["pandas"] = sys.modules["pyarrow"] = None
import numpy as np, polars as pl, datetime as dt
from kboost.preparation import TablePreparation
day = dt.date(2024, 1, 3)
frame = pl.DataFrame({
    "x": [1.0, None, 2.0] * 10, "c": ["a", "b", None] * 10, "b": [True, False, None] * 10,
    "d": [day + dt.timedelta(days=i) for i in range(30)],
})
print(TablePreparation().fit_transform(frame).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(30, 10)", done.stderr


def columns_of(frame, name, y, **options):
    """The output columns of one column, without its name."""
    prepare = TablePreparation(**options).fit(frame, y)
    place = prepare.columns_[frame.columns.index(name)].output
    return [each.removeprefix(name) for each in prepare.get_feature_names_out()[place]]


def test_a_text_has_so_many_columns_and_its_length(frame):
    y = np.arange(100.0)
    assert len(columns_of(frame, "note", y)) == 11
    assert len(columns_of(frame, "note", y, n_text=3)) == 4


def test_one_hots_up_to_so_many_values(frame):
    y = np.arange(100.0)
    many = len(frame["city"].unique())
    assert columns_of(frame, "city", y, many="target", max_levels=many - 1)[1] == ":log_count"
    assert ":log_count" not in columns_of(frame, "city", y, many="target", max_levels=many)


def test_the_type_of_a_target_can_be_given(frame):
    y = np.arange(100) % 3
    number = columns_of(frame, "city", y, many="mean", target_type="regression")
    classes = columns_of(frame, "city", y, many="mean", target_type="classification")
    assert number == [":mean"]
    assert classes == [":mean 0", ":mean 1", ":mean 2"]
    assert columns_of(frame, "city", y, many="mean") == classes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-250, 1e-170, 1e100, 1e160, 1e300])
def test_means_of_targets_of_any_size_tell_the_levels_apart(unit):
    """They are in a unit of their own: powers of 2 change no digit."""
    rng = np.random.default_rng(0)
    town = rng.integers(40, size=400)
    table = np.array([f"town{t}" for t in range(40)], dtype=object)[town][:, None]
    y = np.sin(town) + 0.1 * rng.normal(size=400)
    size = 2.0 ** round(np.log2(unit))
    plain = TablePreparation(many="mean").fit_transform(table, y)
    found = TablePreparation(many="mean").fit_transform(table, y * size)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found / found.std(), plain / plain.std(), rtol=1e-9)
    assert abs(np.corrcoef(found[:, 0], np.sin(town))[0, 1]) > 0.9
