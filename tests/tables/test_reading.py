"""Files are read whatever their separator and encoding, and refused in one sentence."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

pd = pytest.importorskip("pandas")

from kboost.tables import read_table  # noqa: E402


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_csv_of_any_kind(tmp_path, separator, encoding):
    path = tmp_path / "t.csv"
    rows = [["größe", "b"], ["1", "x"], ["2", "für"]]
    path.write_bytes("\n".join(separator.join(row) for row in rows).encode(encoding))
    frame = read_table(path).frame
    assert frame.columns.tolist() == rows[0]
    assert frame.to_numpy().tolist() == rows[1:]


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("sep=;\na;b\n1;2\n", ["a", "b"], [["1", "2"]]),  # as spreadsheets write
        ("a,b\n1,2,\n3,4,\n", ["a", "b"], [["1", "2"], ["3", "4"]]),  # and other programs
        ("a,b\nr1,1,2\nr2,3,4\n", ["Unnamed: 0", "a", "b"], [["r1", "1", "2"], ["r2", "3", "4"]]),
        ("a,,b\n1,2,3\n", ["a", "Unnamed: 1", "b"], [["1", "2", "3"]]),
        ("a  b\n1  2\n33 4\n", ["a", "b"], [["1", "2"], ["33", "4"]]),
        ("a b\n1\n2\n", ["a b"], [["1"], ["2"]]),
        ("\n\na,b\n1,2\n", ["a", "b"], [["1", "2"]]),
        ("a;b\n1,234;x\n-5,250;y\n", ["a", "b"], [["1.234", "x"], ["-5.250", "y"]]),
        ("a;b\n1,234;x\n1,234.5;y\n", ["a", "b"], [["1,234", "x"], ["1,234.5", "y"]]),
    ],
)
def test_layouts(tmp_path, text, names, rows):
    path = tmp_path / "t.csv"
    path.write_text(text)
    frame = read_table(path).frame
    assert frame.columns.tolist() == names
    assert frame.to_numpy().tolist() == rows


def test_packed_csv_and_one_column(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n2\n"))
    assert read_table(path).frame["a"].tolist() == ["1", "2"]


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet").frame, frame)
    frame.set_index("a").to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").frame.columns.tolist() == ["a", "b"]


def test_matrices(tmp_path):
    X, y = sparse.random(6, 4, 0.5, format="csr", random_state=0), np.arange(6.0)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    table = read_table(tmp_path / "t.svm", n_features=4)
    np.testing.assert_allclose(table.X.toarray(), X.toarray())
    np.testing.assert_array_equal(table.y, y)
    np.savez(tmp_path / "t.npz", X=X.toarray(), y=y)
    assert len(read_table(tmp_path / "t.npz")) == 6


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.xls", b"", "must be one of CSV"),
        ("t.csv", b"", "it is empty"),
        ("t.csv", b"a,b\n", "must have rows; it has none"),
        ("t.csv", b"a,a\n1,2\n", "must have distinct column names"),
        ("t.csv", b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("t.csv", b"# from here\na,b,c\n1,2,3\n", "it has 1 names, and the next line has 3 fields"),
        ("t.csv.gz", b"not packed", "must be a CSV file"),
        ("t.parquet", b"nonsense", "must be a Parquet file"),
        ("t.svm", b"one two three", "must be an svmlight file"),
        ("t.npz", b"nonsense", "must be an npz file"),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_npz_without_rows_or_with_objects(tmp_path):
    np.savez(tmp_path / "a.npz", Z=np.zeros(3))
    with pytest.raises(ValueError, match=r"a matrix named X; it contains \['Z'\]"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", X=np.zeros((3, 2)), y=np.zeros(2))
    with pytest.raises(ValueError, match="one y per row"):
        read_table(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", X=np.array([{}, {}], dtype=object))
    with pytest.raises(ValueError, match="plain arrays"):
        read_table(tmp_path / "c.npz")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be an existing file"):
        read_table(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.arrow", "s.arrow", "columns.json"])
def test_json_and_arrow(tmp_path, name):
    frame, path = pd.DataFrame({"a": [1.5, 2.0], "b": ["x", None]}), tmp_path / name
    if name.endswith("arrow"):
        pa = pytest.importorskip("pyarrow")
        given = pa.Table.from_pandas(frame)
        kind = pa.ipc.new_file if name == "t.arrow" else pa.ipc.new_stream
        with kind(str(path), given.schema) as writer:
            writer.write_table(given)
    elif name == "columns.json":
        path.write_text('{"a": [1.5, 2.0], "b": ["x", null]}')
    else:
        frame.to_json(path, orient="records", lines=name == "t.jsonl")
    found = read_table(path).frame
    assert found["a"].tolist() == [1.5, 2.0]
    assert found["b"][0] == "x"
    assert found["b"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.json", "[1, 2]", "must be a JSON file of rows; its rows must be objects"),
        ("t.json", "{", "must be a JSON file of rows"),
        ("t.jsonl", '{"a": [1]}\n', "must have plain values; 'a' has lists or objects"),
        ("t.arrow", "no", "must be an Arrow file"),
    ],
)
def test_json_and_arrow_files_that_cannot_be_read(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        read_table(tmp_path / name)


def test_lines_of_json_end_at_line_feeds_only(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "x\u2028y"}\r\n{"a": "-9.0"}\n', "utf-8", newline="")
    assert read_table(path).frame["a"].tolist() == ["x\u2028y", "-9.0"]
    assert read_table(path, na=["-9"]).frame["a"].isna().tolist() == [False, True]
