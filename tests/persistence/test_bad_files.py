"""Files that are damaged or forged: a ValueError or an OSError of one line, and nothing is run."""

import hashlib
import json
import os
import pickle
import struct
import zlib
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.mutants import DAMAGES, FORGERIES, parted, repaired
from kboost import load_model, save_model
from kboost.persistence.coding import size_of
from kboost.persistence.errors import damaged
from tests.fitted import fitted, rows_of

NAMES = ("boost three classes", "sparse partitions", "active", "halfspaces", "boost sparse rows")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def files(folder):
    made = []
    for name in NAMES:
        save_model(fitted(name), folder / "model.kboost")
        made.append(((folder / "model.kboost").read_bytes(), rows_of(name)))
    return made


@pytest.fixture
def parts(files):
    version, manifest, numbers = parted(files[0][0])
    return version, json.loads(manifest), numbers


def load(content, folder, **options):
    path = folder / "bad.kboost"
    path.write_bytes(content)
    return load_model(path, **options)


def refusal(content, folder, **options):
    with pytest.raises(ValueError) as caught:
        load(content, folder, **options)
    words = str(caught.value)
    assert "\n" not in words
    assert words.endswith(".")
    return words


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_file_is_refused(files, folder, seed):
    draw = Random(seed)
    (file, _), (other, _) = draw.choice(files), draw.choice(files)
    mutant = draw.choice(DAMAGES)(file, other, draw)
    assume(mutant != file)
    refusal(mutant, folder)


@settings(max_examples=400)
@given(seed=st.integers(0, 2**32))
def test_a_forged_file_is_refused_or_is_a_model(files, folder, seed):
    draw = Random(seed)
    (file, _), (other, _) = draw.choice(files), draw.choice(files)
    model = words = None
    try:
        model = load(draw.choice(FORGERIES)(file, other, draw), folder)
    except (ValueError, OSError) as error:
        words = str(error)
    assert hasattr(model, "predict") if words is None else "\n" not in words


def test_every_length_is_refused_but_the_right_one(files, folder):
    file = files[2][0]
    for length in (*range(64), *range(64, len(file), 97), len(file) - 1):
        refusal(file[:length], folder)
    refusal(file + b"\0", folder)


def test_a_newer_file_says_so(files, folder):
    file = bytearray(files[0][0])
    file[8:12] = struct.pack("<I", 3)
    assert "requires a newer kboost: its format is 3" in refusal(bytes(file), folder)


def test_a_file_may_not_be_larger_than_allowed(files, folder):
    words = refusal(files[0][0], folder, max_bytes=1000)
    assert "must have at most max_bytes=1000 bytes" in words


def test_a_file_may_not_inflate_beyond_what_is_allowed(files, folder):
    file = files[0][0]
    content = sum(struct.unpack_from("<QQ", file, 12))
    assert len(file) < content
    words = refusal(file, folder, max_bytes=len(file))
    assert f"must have at most max_bytes={len(file)} bytes; it has {content}" in words


def test_a_file_that_inflates_too_much_is_refused(folder):
    zeros = bytes(10**6)
    machine = zlib.compressobj(9, wbits=-15)
    head = struct.pack("<8sIQQ", b"\x89KBOOST\n", 2, 0, len(zeros))
    body = head + machine.compress(zeros) + machine.flush()
    words = refusal(body + hashlib.sha256(body).digest(), folder)
    assert "it should have 1000000 bytes and has fewer" in words


def test_other_files_are_refused(folder):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(folder / "executed"),)

    for content in (b"", b"PK\3\4", b"\x89KBOOST", pickle.dumps(Trap()), os.urandom(1000)):
        refusal(content, folder)
    assert not (folder / "executed").exists()
    with pytest.raises(ValueError, match="must be a regular file"):
        load_model(folder)
    with pytest.raises(FileNotFoundError):
        load_model(folder / "nowhere")


@pytest.mark.parametrize(
    "spec",
    [
        ["<f8", [10**15], "C", 0],
        ["<f8", [10**15, 0], "C", 0],
        ["<f8", [2**40, 2**40, 0], "C", 0],
        ["|O8", [1], "C", 0],
        ["<U4", [1], "C", 0],
        ["<f8", [-1], "C", 0],
        ["<f8", [True], "C", 0],
        ["<f8", [1.0], "C", 0],
        ["<f8", "1", "C", 0],
        ["<c16", [1], "C", 0],
        ["<f8", [0] * 99, "C", 0],
        ["<f8", [1], "A", 0],
        ["<f8", [1], "C"],
        ["<f8", [1], "C", 1],
        ["<f8", [1], "C", False],
        ["<f8", [3], "C", [1, 0, [1], []]],
        ["<f8", [3], "C", [1, 0, [1], [4]]],
        ["<f8", [3], "C", [1, 0, [1, 1], [3]]],
        ["<f8", [3], "C", [9, 0, [1], [3]]],
        ["<f8", [3], "C", [1, 2, [1], [3]]],
        ["<f8", [3], "C", [1, 0, [-1], [3]]],
        ["<f8", [3], "C", [1, 0, [0.5], [3]]],
        ["<f8", [10**9], "C", [1, 0, [1], [10**9]]],
        ["<f8", [2, 10**9], "C", [1, 0, [1], []]],
        ["|b1", [3], "C", [1, 0, [1], [3]]],
        [],
        None,
    ],
)
def test_arrays_that_cannot_be_are_refused(parts, folder, spec):
    version, manifest, numbers = parts
    manifest["arrays"][0] = spec
    refusal(repaired(version, json.dumps(manifest).encode(), numbers), folder)


def forged(parts, change):
    version, manifest, numbers = parts
    change(manifest)
    return repaired(version, json.dumps(manifest).encode(), numbers)


def objects(manifest, name):
    found = (node.get("object", {}) for node in manifest["nodes"])
    return [node["fields"] for node in found if node.get("class") == name]


@pytest.mark.parametrize(
    ("cls", "field", "value", "words"),
    [
        ("KernelBoostClassifier", "predict", "x", "has no attribute 'predict'"),
        ("KernelBoostClassifier", "__class__", "x", "has no attribute '__class__'"),
        ("KernelBoostClassifier", "_decision", 1, "has no attribute '_decision'"),
        ("KernelBoostClassifier", "n_features_in_", 10**15, "are inconsistent"),
        ("KernelBoostClassifier", "_model", "x", "are inconsistent"),
        ("Gaussian", "gamma", [], "is invalid"),
        ("Gaussian", "gamma", None, "must be a number or a rule"),
        ("Gaussian", "hook", 1, "must have the fields"),
        ("Ranks", "starts", 1, "must be a vector of indices"),
        ("AdditiveModel", "parts", 1, "must be a tuple of parts"),
        ("KernelPart", "coef", {"ref": 0}, "KernelPart"),
        ("SklearnKernel", "name", "eval", "must be a kernel's name"),
    ],
)
def test_objects_that_cannot_be_are_refused(parts, folder, cls, field, value, words):
    def change(manifest):
        objects(manifest, cls)[0][field] = value

    assert words in refusal(forged(parts, change), folder)


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "FunctionKernel", "SVC", "Kernel"])
def test_no_other_class_is_made(parts, folder, name):
    def change(manifest):
        manifest["nodes"].append({"object": {"class": name, "fields": {"func": "x"}}})

    assert "the unknown class" in refusal(forged(parts, change), folder)


def test_a_part_is_no_model(parts, folder):
    def change(manifest):
        kernel = {"gamma": 1.0, "columns": None, "on": None}
        manifest["nodes"].append({"object": {"class": "Gaussian", "fields": kernel}})
        manifest["root"] = {"ref": len(manifest["nodes"]) - 1}

    assert "does not contain an estimator" in refusal(forged(parts, change), folder)


def test_sparse_rows_that_point_outside_are_refused(files, folder):
    version, text, numbers = parted(files[4][0])
    manifest = json.loads(text)
    matrix = next(node["matrix"] for node in manifest["nodes"] if "matrix" in node)
    matrix["shape"][1] = 1
    words = refusal(repaired(version, json.dumps(manifest).encode(), numbers), folder)
    assert "damaged" in words


def test_trees_that_lead_in_circles_are_refused(files, folder):
    version, text, numbers = parted(files[1][0])
    manifest = json.loads(text)
    at = objects(manifest, "CellTree")[0]["children"]["ref"]
    place = manifest["nodes"][at]["array"]
    spec = manifest["arrays"][place]
    sizes = [size_of(c, np.dtype(d), shape[::-1] if order == "F" else shape)
             for d, shape, order, c in manifest["arrays"]]  # fmt: skip
    start = sum(sizes[:place])
    zeros = b"\0" * (np.dtype(spec[0]).itemsize * int(np.prod(spec[1])))
    spec[3] = 0
    circle = numbers[:start] + zeros + numbers[start + sizes[place] :]
    text = json.dumps(manifest).encode()
    words = refusal(repaired(version, text, circle), folder)
    assert "the fields of a CellTree are inconsistent" in words


def test_a_reason_is_one_short_line():
    """An error of the settings may quote a list of thousands of values."""
    message = str(damaged("file", "max_iter must be\n" + 500 * "positive "))
    assert message.startswith("file is damaged: max_iter must be positive")
    assert "\n" not in message
    assert len(message) < 330
