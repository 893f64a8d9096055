"""Files that are damaged or forged: a ValueError or an OSError of one line, and nothing is run."""

import json
import os
import pickle
import struct
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.mutants import DAMAGES, FORGERIES, parted, repaired
from kboost import load_model, save_model
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
    if mutant != file:
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
    file[8:12] = struct.pack("<I", 2)
    assert "requires a newer kboost: its format is 2" in refusal(bytes(file), folder)


def test_a_file_may_not_be_larger_than_allowed(files, folder):
    words = refusal(files[0][0], folder, max_bytes=1000)
    assert "must have at most max_bytes=1000 bytes" in words


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
        ["<f8", [10**15], "C"],
        ["<f8", [10**15, 0], "C"],
        ["<f8", [2**40, 2**40, 0], "C"],
        ["|O8", [1], "C"],
        ["<U4", [1], "C"],
        ["<f8", [-1], "C"],
        ["<f8", [True], "C"],
        ["<f8", [1.0], "C"],
        ["<f8", "1", "C"],
        ["<c16", [1], "C"],
        ["<f8", [0] * 99, "C"],
        ["<f8", [1], "A"],
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
    sizes = [np.dtype(d).itemsize * int(np.prod(shape)) for d, shape, _ in manifest["arrays"]]
    start = sum(sizes[:place])
    circle = numbers[:start] + b"\0" * sizes[place] + numbers[start + sizes[place] :]
    words = refusal(repaired(version, text, circle), folder)
    assert "the fields of a CellTree are inconsistent" in words
