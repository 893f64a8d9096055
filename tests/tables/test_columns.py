"""Columns of tables that nobody prepared are taken for what a person would take them for."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from kboost.tables import describe, preparation, rows_for, target_of, tidy  # noqa: E402
from kboost.tables.columns import as_dates, as_numbers, with_missing  # noqa: E402


def kind_of(values, name="x"):
    (column,) = describe(pd.DataFrame({name: values}))
    return column


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "", "?", "-3e2"], "number"),
        (["$ 1,234.50", "$ 7", "12 %", "€3"], "number"),
        (["1,5", "2,25", "3,0"], "number"),
        (["007", "012", "101", "007"], "category"),
        (["red", "blue", "n/a", "red"], "category"),
        (["yes", "no"] * 30, "category"),
        (["2024-01-02", "2024-03-04", "", "2024-12-31"], "date"),
        (["13/02/2024", "01/03/2024", "25/12/2023"], "date"),
        (["5 Jan 2024", "6 Feb 2024"], "date"),
        (["", "NA", "null"], "left out"),
        (["same"] * 5, "left out"),
        ([f"text {i}" for i in range(60)], "left out"),
        ([f"{w} for room {i}" for i in range(30) for w in ("chair", "table")], "text"),
        ([f"town{i % 40}" for i in range(80)], "category"),
        (list(range(100, 140)), "left out"),  # running numbers
        ([0.5 * i**2 for i in range(40)], "number"),
        (pd.date_range("2024-01-01", periods=5), "date"),
        ([True, False, True], "category"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values).kind == kind


def test_a_number_that_differs_in_each_row_is_an_id_by_its_name():
    values = np.random.default_rng(0).permutation(np.arange(50) * 7).tolist()
    assert kind_of(values, "customer_id").kind == "left out"
    assert kind_of(values, "income").kind == "number"


def test_few_odd_values_of_numbers_count_as_missing_and_are_named():
    column = kind_of([*map(str, range(0, 60, 3)), "far", ""])
    assert (column.kind, column.n_missing) == ("number", 2)
    assert "'far'" in column.note


def test_numbers_as_people_write_them():
    found = as_numbers(pd.Series(["1,234.5", "12,5", " 7 ", "$ -3", "inf", "abc"]))
    np.testing.assert_array_equal(found, [1234.5, 12.5, 7, -3, np.nan, np.nan])


@pytest.mark.parametrize(
    ("written", "values"),
    [
        (["1.234,5", "2.345.678", "12,25", "1.234"], [1234.5, 2345678, 12.25, 1234]),
        (["1,234", "2,345,678", "12"], [1234, 2345678, 12]),
        (["1,234", "0,125", "12,5"], [1.234, 0.125, 12.5]),  # another value has a decimal comma
        (["1.234", "0.125"], [1.234, 0.125]),
    ],
)
def test_what_a_comma_is_the_column_says(written, values):
    np.testing.assert_array_equal(as_numbers(pd.Series(written)), values)


def test_durations_are_seconds():
    column = kind_of(pd.to_timedelta(np.arange(1, 5), unit="h"))
    assert column.kind == "number"
    assert as_numbers(pd.Series(pd.to_timedelta([2], unit="h"))).tolist() == [7200.0]


def test_times_of_day_are_told_as_such():
    assert kind_of(["7:30", "18:15", "12:00"]).note == "07:30 to 18:15"


def test_days_before_months_where_that_is_the_only_reading():
    dates = as_dates(pd.Series(["13/02/2024", "01/02/2024"]))
    assert dates.dt.month.tolist() == [2, 2]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": [*map(str, rng.integers(20, 70, 38)), "", "?"],
            "job": [*rng.choice(["nurse", "smith"], 38), "", "nurse"],
            "seen": pd.date_range("2024-01-29", periods=40, freq="9D").strftime("%Y-%m-%d"),
            "id": [f"p{i}" for i in range(40)],
        }
    )


def test_the_preparation_leaves_numbers_in_their_units(frame):
    table = tidy(frame, describe(frame))
    assert list(table.columns) == ["age", "job", "seen"]
    steps = preparation(table)
    rows = steps.fit_transform(table)
    assert np.isfinite(rows).all()
    names = steps.get_feature_names_out().tolist()
    assert names == [
        *("age", "age:missing", "job=nurse", "job=smith", "job=(missing)"),
        *("seen:days", "seen:month", "seen:weekday"),
    ]
    np.testing.assert_array_equal(rows[:38, 0], table["age"][:38])


def test_new_rows_in_any_order_with_gaps_and_unknown_words(frame):
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    table = tidy(frame, describe(frame))
    model = make_pipeline(preparation(table), Ridge()).fit(table, np.arange(40.0))
    np.testing.assert_array_equal(
        model.predict(rows_for(model, frame[frame.columns[::-1]])), model.predict(table)
    )
    new = frame.head(2).assign(job=["astronaut", ""], age=["", "41"], extra=1)
    assert np.isfinite(model.predict(rows_for(model, new))).all()
    with pytest.raises(ValueError, match="columns of the model; 'seen' is missing"):
        rows_for(model, frame.drop(columns="seen"))


def test_one_day_beyond_the_twelfth_says_how_all_are_written():
    every = pd.date_range("2025-01-01", "2025-12-31")  # either way from January to December
    for style in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%Y-%m-%d"):
        found = as_dates(pd.Series(every.strftime(style)))
        assert (found.to_numpy() == every.to_numpy()).all(), style
    assert kind_of(every.strftime("%d/%m/%Y")).note.endswith("day before month")


def test_new_dates_are_read_as_the_rows_learnt_from_were():
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    frame = pd.DataFrame({"on": [f"{d:02d}/04/2025" for d in range(1, 29)]})
    table = tidy(frame, describe(frame))
    assert list(table) == ["on (d/m)"]
    model = make_pipeline(preparation(table), Ridge()).fit(table, np.arange(28.0))
    alone = rows_for(model, frame.iloc[[2]])  # 03/04 alone could be the fourth of March
    pd.testing.assert_frame_equal(alone, table.iloc[[2]])


def test_a_table_without_anything_to_learn_from_is_refused():
    table = pd.DataFrame({"a": ["x"] * 5})
    with pytest.raises(ValueError, match="must have a usable column"):
        preparation(tidy(table, describe(table)))


@pytest.mark.parametrize(
    ("values", "task", "kind"),
    [
        (["0", "1", "1", ""], "classification", "i"),
        (["a", "b", "a"], "classification", "U"),
        (["1.5", "2", "3"], "regression", "f"),
        ([str(i) for i in range(30)], "regression", "f"),
        ([str(i % 15) for i in range(30)], "classification", "i"),
        ([str(10**30 + i % 2) for i in range(6)], "classification", "U"),  # float64 merges these
    ],
)
def test_targets(values, task, kind):
    y, kept, found = target_of(pd.Series(values, name="y"))
    assert found == task
    assert y.dtype.kind == kind
    assert len(y) == kept.sum() == sum(v != "" for v in values)


def test_words_for_missing_values_are_values_among_words():
    column = kind_of(["None", "NA", "red", "?", "red", "None"])
    assert (column.kind, column.n_missing) == ("category", 0)
    assert column.note.startswith("4 values: ")
    table = pd.DataFrame({"x": ["None", "", "red", "red"]})
    assert tidy(table, describe(table))["x"].tolist() == ["None", None, "red", "red"]
    numbers = kind_of(["1", "2", "None", "NA", "?", "4"])
    assert (numbers.kind, numbers.n_missing, numbers.note) == ("number", 3, "")
    dates = kind_of(["2024-01-02", "None", "2024-05-02", "NA"])
    assert (dates.kind, dates.n_missing) == ("date", 2)


def test_labels_that_are_words_for_missing_values():
    y, kept, _ = target_of(pd.Series(["None", "mild", "None", "NA", "mild", ""], name="y"))
    assert y.tolist() == ["None", "mild", "None", "NA", "mild"]
    assert kept.tolist() == [True] * 5 + [False]
    y, kept, _ = target_of(pd.Series(["0", "1", "None", "1"], name="y"))
    assert (y.tolist(), kept.tolist()) == ([0, 1, 1], [True, True, False, True])
    y, _, task = target_of(pd.Series(["0", "1", "None", "1"], name="y"), None, ())
    assert (y.tolist(), task) == (["0", "1", "None", "1"], "classification")


def test_given_words_are_gaps_in_all_columns():
    frame = pd.DataFrame({"a": ["x", " gone ", "NA"], "b": [1, -999, 3], "c": ["-999", "2", "3"]})
    found = with_missing(frame, ["gone", "-999"])
    assert found.isna().to_numpy().tolist() == [
        [False, False, True], [True, True, False], [False, False, False]
    ]  # fmt: skip
    assert found["a"].tolist()[2] == "NA"


def test_targets_that_cannot_be():
    with pytest.raises(ValueError, match="'y' must be numbers for a regression; got 'a'"):
        target_of(pd.Series(["a", "b"], name="y"), "regression")
    with pytest.raises(ValueError, match="'y' must have at least two values; got 'a'"):
        target_of(pd.Series(["a", "a"], name="y"))
    with pytest.raises(ValueError, match="labels with repeated values; got 4 distinct"):
        target_of(pd.Series(["2024-01-01", "2024-01-02", "a", "b"], name="y"))
    with pytest.raises(ValueError, match="'y' must have values"):
        target_of(pd.Series(["", "NA"], name="y"))
