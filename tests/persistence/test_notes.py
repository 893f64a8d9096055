"""Notes in a model file: values of JSON, which change nothing about the model."""

from __future__ import annotations

import json

import pytest

import kboost
from benchmarks.mutants import parted, repaired
from kboost.persistence import load_with_notes
from tests.fitted import fitted


def test_notes_come_back_and_must_be_an_object(tmp_path):
    path = tmp_path / "m.kboost"
    kboost.save_model(fitted("boost"), path, notes={"target": "späť", "rows": 3})
    model, notes = load_with_notes(path)
    assert (notes["target"], notes["rows"]) == ("späť", 3)
    assert notes["written_by"]["kboost"] == kboost.__version__
    assert model.n_columns_ == fitted("boost").n_columns_
    version, manifest, numbers = parted(path.read_bytes())
    forged = json.loads(manifest) | {"notes": ["target"]}
    path.write_bytes(repaired(version, json.dumps(forged).encode(), numbers))
    with pytest.raises(ValueError, match="its notes are not an object"):
        kboost.load_model(path)
