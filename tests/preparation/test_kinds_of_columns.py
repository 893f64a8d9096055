"""Each kind of column becomes the numbers that it should, in frames and arrays of all sorts."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from kboost.preparation import TablePreparation

N = 60
FRAMES = ["pandas", "polars", "pyarrow", "dict of pandas objects"]


def frame_of(columns, kind):
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    pd = pytest.importorskip("pandas")
    made = {
        name: pd.Series(values, dtype=object if kind.startswith("dict") else None)
        for name, values in columns.items()
    }
    return pd.DataFrame(made)


def prepared(values, name="x", **options):
    pl = pytest.importorskip("polars")
    prepare = TablePreparation(**options)
    rows = prepare.fit_transform(pl.DataFrame({name: values, "other": np.arange(len(values)) / 7}))
    return prepare, rows[:, prepare.columns_[0].output]


def with_missing(values, every=7):
    return [None if i % every == 3 else value for i, value in enumerate(values)]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_of_all_kinds_is_the_same_in_every_frame(kind):
    rng = np.random.default_rng(0)
    start = datetime.datetime(2024, 1, 29, 8)
    columns = {
        "number": with_missing(rng.normal(size=N).tolist()),
        "whole": rng.integers(0, 9, N).tolist(),
        "flag": with_missing((rng.random(N) < 0.5).tolist()),
        "colour": with_missing(rng.choice(["red", "green", "blue"], N).tolist()),
        "side": rng.choice(["left", "right"], N).tolist(),
        "seen": with_missing([start + datetime.timedelta(hours=31 * i) for i in range(N)]),
        "born": [datetime.date(1990, 1, 1) + datetime.timedelta(days=37 * i) for i in range(N)],
        "took": with_missing([datetime.timedelta(minutes=i * i) for i in range(N)]),
        "at": with_missing([datetime.time(i % 24, i % 60) for i in range(N)]),
    }
    prepare = TablePreparation()
    rows = prepare.fit_transform(frame_of(columns, kind))
    assert [c.kind for c in prepare.columns_] == [
        *("number", "number", "boolean", "category", "category"),
        *("date", "date", "number", "number"),
    ]
    assert [c.n_missing for c in prepare.columns_] == [9, 0, 9, 9, 0, 9, 0, 9, 9]
    names = prepare.get_feature_names_out().tolist()
    assert names == [
        *("number", "number:missing", "whole", "flag", "flag:missing"),
        *("colour=blue", "colour=green", "colour=red", "colour=(missing)", "side=right"),
        *("seen:days", "seen:month", "seen:weekday", "seen:hour", "seen:missing"),
        *("born:days", "born:month", "born:weekday"),
        *("took", "took:missing", "at", "at:missing"),
    ]
    out = dict(zip(names, rows.T, strict=True))
    np.testing.assert_array_equal(out["whole"], columns["whole"])
    assert out["took"][2] == 240.0
    assert out["at"][5] == 5 + 5 / 60
    assert out["seen:hour"][1] == 15.0
    assert out["seen:weekday"][0] == 0.0  # a Monday
    assert out["born:days"][0] == 7305.0
    np.testing.assert_array_equal(out["number:missing"], out["flag:missing"])
    again = TablePreparation().fit_transform(frame_of(columns, "polars"))
    np.testing.assert_array_equal(rows, again)


def test_the_median_takes_the_place_of_a_missing_value():
    prepare, rows = prepared([1.0, None, 2.0, 40.0, float("nan")])
    np.testing.assert_array_equal(rows, [[1, 0], [2, 1], [2, 0], [40, 0], [2, 1]])
    np.testing.assert_array_equal(prepare.one_hot_, [False, True, False])


def test_a_constant_number_is_encoded_by_its_missing_values():
    prepare, rows = prepared([3.0, None, 3.0, None])
    np.testing.assert_array_equal(rows[:, 0], [0, 1, 0, 1])
    assert prepare.get_feature_names_out()[0] == "x:missing"


def test_columns_that_say_nothing_are_left_out_with_a_note():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "x": np.arange(N) ** 0.5,
            "country": ["de"] * N,
            "empty": [None] * N,
            "customer_id": np.random.default_rng(0).permutation(N) * 7,
            "row": np.arange(N),
            "uuid": [f"{i:08x}" for i in range(N)],
            "label": [f"text {i}" for i in range(N)],
            "year": np.arange(N) + 1950,
        }
    )
    prepare = TablePreparation().fit(frame)
    notes = {c.name: c.note for c in prepare.columns_ if c.kind == "left out"}
    assert notes == {
        "country": "one value only",
        "empty": "no values",
        "customer_id": "an id: a different number in each row",
        "row": "an id: a different number in each row",
        "uuid": "an id: a different value in each row",
        "label": "an id: a different value in each row",
    }
    assert prepare.get_feature_names_out().tolist() == ["x", "year"]


def test_rare_values_share_a_column_with_unseen_ones():
    values = ["a"] * 40 + ["b"] * 30 + ["c"] * 30 + ["d", "e"]
    prepare, rows = prepared(values)
    names = prepare.get_feature_names_out().tolist()
    assert names[:4] == ["x=a", "x=b", "x=c", "x=(other)"]
    np.testing.assert_array_equal(rows[-2:], [[0, 0, 0, 1]] * 2)
    assert prepare.one_hot_[:4].all()
    new = pytest.importorskip("polars").DataFrame({"x": ["z", None, "b"], "other": [0.0, 1, 2]})
    np.testing.assert_array_equal(prepare.transform(new)[:, :4].argmax(axis=1), [3, 3, 1])


def test_an_unseen_value_without_rare_ones_is_no_value():
    prepare, _ = prepared(["a", "b", "c"] * 20)
    new = pytest.importorskip("polars").DataFrame({"x": ["z", None, "b"], "other": [0.0, 1, 2]})
    np.testing.assert_array_equal(prepare.transform(new)[:, :3], [[0, 0, 0], [0, 0, 0], [0, 1, 0]])


def test_two_values_are_one_column_and_an_unseen_one_the_frequent():
    prepare, rows = prepared(["no"] * 10 + ["yes"] * 20)
    assert rows.shape[1] == 1
    assert rows.sum() == 20
    new = pytest.importorskip("polars").DataFrame({"x": ["?", None, "no"], "other": [0.0, 1, 2]})
    np.testing.assert_array_equal(prepare.transform(new)[:, 0], [1, 1, 0])


def test_numbers_as_categories_where_the_frame_says_so():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": pd.Categorical([3, 7, 7, 5] * 10), "z": np.arange(40) / 3})
    prepare = TablePreparation().fit(frame)
    assert prepare.get_feature_names_out().tolist() == ["x=3", "x=5", "x=7", "z"]
    new = pd.DataFrame({"x": [5, 7], "z": [0.0, 1.0]})  # plain numbers
    np.testing.assert_array_equal(prepare.transform(new)[:, :3], [[0, 1, 0], [0, 0, 1]])


def test_an_enum_of_polars_is_a_category():
    pl = pytest.importorskip("polars")
    values = ["low", "high", "mid", "mid"] * 10
    for dtype in (pl.Enum(["low", "mid", "high"]), pl.Categorical):
        prepare, _ = prepared(pl.Series(values, dtype=dtype))
        assert prepare.get_feature_names_out()[:3].tolist() == ["x=high", "x=low", "x=mid"]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string", "int64[pyarrow]"])
def test_nullable_columns_of_pandas(dtype):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    values = {"string": ["a", "b", pd.NA], "boolean": [True, False, pd.NA]}.get(
        dtype, [1, 2, pd.NA]
    )
    frame = pd.DataFrame({"x": pd.Series(values * 10, dtype=dtype), "z": np.arange(30) / 3})
    prepare = TablePreparation().fit(frame)
    assert prepare.columns_[0].n_missing == 10
    assert "x:missing" in prepare.get_feature_names_out() or dtype == "string"
    assert np.isfinite(prepare.transform(frame)).all()


def test_monthly_dates_have_no_weekday():
    pd = pytest.importorskip("pandas")
    for frequency, parts in (
        ("MS", ["d:days", "d:month"]),
        ("ME", ["d:days", "d:month"]),
        ("YS", ["d:days"]),
        ("9D", ["d:days", "d:month", "d:weekday"]),
        ("29h", ["d:days", "d:month", "d:weekday", "d:hour"]),
    ):
        dates = pd.date_range("2019-01-01", periods=50, freq=frequency)
        prepare = TablePreparation().fit(pd.DataFrame({"d": dates}))
        assert prepare.get_feature_names_out().tolist() == parts, frequency


def days_as_strings(written):
    start = datetime.datetime(2022, 1, 9, 7)
    days = [start + datetime.timedelta(days=19 * i, hours=i) for i in range(60)]
    texts = [day.strftime(written) for day in days]
    return days, np.array([[text, i % 7] for i, text in enumerate(texts)], dtype=object)


@pytest.mark.parametrize(
    "written", ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%d.%m.%Y", "%m/%d/%Y", "%b %d %Y"]
)
def test_dates_as_strings_are_dates(written):
    days, X = days_as_strings(written)
    prepare = TablePreparation()
    rows = prepare.fit_transform(X[:-1])
    assert prepare.columns_[0].kind == "date"
    assert int(rows[3, 0]) == (days[3].date() - datetime.date(1970, 1, 1)).days
    assert prepare.transform(X[-1:])[0, 0] > rows[-1, 0]
    with pytest.raises(ValueError, match="column 'x0' must hold dates, as in fit; got 'soon'"):
        prepare.transform(np.array([["soon", 1]], dtype=object))


@pytest.mark.parametrize(("written", "kind"), [("%Y", "number"), ("%H:%M", "category")])
def test_years_and_times_as_strings_are_no_dates(written, kind):
    _, X = days_as_strings(written)
    assert TablePreparation().fit(X).columns_[0].kind == kind


def test_days_that_may_be_months_are_no_dates():
    texts = [f"{d:02d}/{m:02d}/2024" for d in range(1, 8) for m in range(1, 8)]
    X = np.array([[text, i % 5] for i, text in enumerate(texts * 2)], dtype=object)
    assert TablePreparation().fit(X).columns_[0].kind == "category"


def test_a_time_zone_keeps_the_time_of_the_clock():
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2024-05-01 08:00", periods=20, freq="5h", tz="Asia/Tokyo")
    prepare = TablePreparation()
    rows = prepare.fit_transform(pd.DataFrame({"d": dates}))
    hour = rows[:, prepare.get_feature_names_out().tolist().index("d:hour")]
    np.testing.assert_array_equal(hour, dates.hour)


def test_text_is_kept_and_similar_texts_are_near():
    rng = np.random.default_rng(0)
    fruit = ["ripe apple", "green apple pie", "sweet pear tart", "apple and pear"]
    metal = ["steel bolt", "brass screw", "steel screw nut", "bolt and nut"]
    values = [f"{rng.choice(fruit if i % 2 else metal)} number {i}" for i in range(200)]
    values = [v.replace("number", rng.choice(["nr", "item", "lot"])) for v in values]
    prepare, rows = prepared(values)
    assert prepare.columns_[0].kind == "text"
    assert rows.shape[1] == 11
    unit = rows[:, :10] / np.linalg.norm(rows[:, :10], axis=1)[:, None]
    same = np.equal.outer(np.arange(200) % 2, np.arange(200) % 2)
    likeness = unit @ unit.T
    assert likeness[same].mean() > likeness[~same].mean() + 0.1
    np.testing.assert_allclose(rows[:, 10], np.log1p([len(v) for v in values]))
    np.testing.assert_array_equal(prepared(values)[1], rows)
    _, with_missing_value = prepared([None, *values])
    np.testing.assert_array_equal(with_missing_value[0], [0.0] * 11 + [1.0])


def test_many_values_have_a_mean_and_a_frequency():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 50, 2000)
    effect = rng.normal(size=50)
    y = effect[city] + 0.1 * rng.normal(size=2000)
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"city": [f"c{c}" for c in city], "x": rng.normal(size=2000)})
    for many, names in (
        ("target", ["city:mean", "city:log_count", "x"]),
        ("mean", ["city:mean", "x"]),
        ("frequency", ["city:log_count", "x"]),
    ):
        prepare = TablePreparation(many=many).fit(frame, y)
        assert prepare.get_feature_names_out().tolist() == names
        assert prepare.columns_[0].encoding == many
    rows = TablePreparation(many="target").fit(frame, y).transform(frame)
    assert np.corrcoef(rows[:, 0], effect[city])[0, 1] > 0.999
    np.testing.assert_allclose(rows[:, 1], np.log1p(np.bincount(city)[city]))
    prepare = TablePreparation(many="one-hot").fit(frame, y)
    assert len(prepare.get_feature_names_out()) == 32  # 30 values, the others, x
    assert prepare.one_hot_[:31].all()
    both = TablePreparation(many="both").fit(frame, y).transform(frame)
    np.testing.assert_array_equal(both[:, :31], prepare.transform(frame)[:, :31])
    np.testing.assert_array_equal(both[:, 31:33], rows[:, :2])


def test_an_unseen_value_has_one_row_less_than_the_rarest():
    pl = pytest.importorskip("polars")
    city = np.repeat(np.arange(40), 20 + np.arange(40))
    frame = pl.DataFrame({"city": [f"c{c}" for c in city], "x": np.arange(len(city)) % 17 / 3})
    prepare = TablePreparation(many="target").fit(frame, city % 7 + 0.5)
    new = pl.DataFrame({"city": ["unseen", None], "x": [0.0, 1.0]})
    rows = prepare.transform(new)
    np.testing.assert_allclose(rows[:, 0], np.mean(city % 7 + 0.5))
    np.testing.assert_allclose(rows[:, 1], np.log1p(19))
    once = pl.concat([frame, pl.DataFrame({"city": ["once"], "x": [0.1]})])
    prepare = TablePreparation(many="target").fit(once, np.append(city % 7 + 0.5, 1.0))
    np.testing.assert_array_equal(prepare.transform(new)[:, 1], 0.0)


def test_classes_have_one_mean_each_and_at_most_ten():
    rng = np.random.default_rng(0)
    X = np.array(
        [[f"c{c}", x] for c, x in zip(rng.integers(0, 40, 900), rng.random(900), strict=True)]
    )
    for n_classes, n_means in ((2, 1), (3, 3), (15, 10)):
        y = rng.integers(0, n_classes, 900)
        prepare = TablePreparation(many="target").fit(X, y.astype(str))
        names = prepare.get_feature_names_out()
        assert sum(":mean" in name for name in names) == n_means


def test_arrays_of_strings_have_their_numbers_back():
    X = np.array([["1.5", "a", "007"], ["2", "b", "012"], ["nan", "a", "007"], ["4", "b", "012"]])
    prepare = TablePreparation()
    rows = prepare.fit_transform(X)
    assert [c.kind for c in prepare.columns_] == ["number", "category", "category"]
    np.testing.assert_array_equal(rows[:, 0], [1.5, 2, 2, 4])


NUMERALS = ["3", " 4.50", "-1e2", "", "NaN", "n/a", None, "3"] * 5


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_strings_that_are_all_numbers_are_numbers(kind):
    """As after reading a file whose missing values hid the numbers."""
    columns = {"x": NUMERALS, "z": ["a", "b", "c", "b"] * 10}
    if kind == "array":
        table = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    else:
        table = frame_of(columns, kind)
    prepare = TablePreparation()
    rows = prepare.fit_transform(table)
    assert (prepare.columns_[0].kind, prepare.columns_[0].n_missing) == ("number", 20)
    np.testing.assert_array_equal(rows[:8, 0], [3, 4.5, -100, 3, 3, 3, 3, 3])
    np.testing.assert_array_equal(rows[:8, 1], [0, 0, 0, 1, 1, 1, 1, 0])
    np.testing.assert_array_equal(prepare.transform(table), rows)


def test_an_array_of_numerals_only_is_a_matrix():
    X = np.array([["1", ""], ["2.5", "4"], [None, "7"]], dtype=object)
    prepare = TablePreparation()
    np.testing.assert_array_equal(
        prepare.fit_transform(X), [[1, 0, 5.5, 1], [2.5, 0, 4, 0], [1.75, 1, 7, 0]]
    )
    np.testing.assert_array_equal(
        prepare.transform(X),
        prepare.transform(np.array([[1.0, np.nan], [2.5, 4.0], [np.nan, 7.0]])),
    )


@pytest.mark.parametrize(
    "values",
    [
        ["007", "112", "101", "112"],  # codes
        [" 007", "112 ", "101", "112 "],
        ["3", "4", "five", "4"],
        ["1_000", "2", "1_000", "2"],
        ["", "nan", "NA", "none"],
    ],
)
def test_codes_and_words_are_no_numbers(values):
    prepare, _ = prepared(values * 10)
    assert prepare.columns_[0].kind == "category"


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("blank", ["", " ", "NA", "nan"])
def test_a_blank_among_new_numerals_is_a_missing_value(kind, blank):
    numerals = [str(i % 11 / 4) for i in range(N)]
    prepare = TablePreparation().fit(frame_of({"x": numerals, "z": np.arange(N) / 7}, kind))
    new, gap = (
        prepare.transform(frame_of({"x": ["0.5", value], "z": [0.1, 0.2]}, kind))
        for value in (blank, None)
    )
    np.testing.assert_array_equal(new, gap)
    assert new[1, 0] == np.median([float(text) for text in numerals])


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("word", ["1,234", "abc", "1_000", "-"])
def test_a_word_among_new_numerals_is_refused_by_its_name(kind, word):
    columns = {"x": [str(i % 11 / 4) for i in range(N)], "z": np.arange(N) / 7}
    prepare = TablePreparation().fit(frame_of(columns, kind))
    new = frame_of({"x": ["0.5", word, "2"], "z": [0.1, 0.2, 0.3]}, kind)
    message = f"^column 'x' must hold numbers, as in fit; got '{word}'\\.$"
    with pytest.raises(ValueError, match=message):
        prepare.transform(new)


def test_a_number_in_place_of_true_or_false_is_refused_by_its_name():
    prepare = TablePreparation().fit(frame_of({"x": [True, False] * 9}, "polars"))
    with pytest.raises(ValueError, match=r"'x' must hold true or false, as in fit; got '7\.0'"):
        prepare.transform(frame_of({"x": [0.0, 1.0, 7.0]}, "polars"))


def test_a_category_of_numerals_stays_one():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": pd.Categorical(["3", "7", "7", "5"] * 10), "z": np.arange(40) / 3})
    assert TablePreparation().fit(frame).columns_[0].kind == "category"


def test_a_category_with_words_reads_its_numerals_as_they_are_written():
    pl = pytest.importorskip("polars")
    prepare, rows = prepared(["3.50", "none of these", "4.0", "3.50"] * 10)
    new = pl.DataFrame({"x": ["3.50", "4.0"], "other": [0.0, 1.0]})
    np.testing.assert_array_equal(prepare.transform(new)[:, :3], rows[[0, 2], :])


def test_structured_arrays_have_names():
    X = np.array(
        [(1.5, True, "2024-01-03"), (2.5, False, "2024-02-09")],
        dtype=[("x", float), ("b", bool), ("d", "datetime64[D]")],
    )
    prepare = TablePreparation().fit(X)
    assert prepare.feature_names_in_.tolist() == ["x", "b", "d"]
    assert [c.kind for c in prepare.columns_] == ["number", "boolean", "date"]
