"""Settings saved before they had all of their fields."""

import pytest

from kboost.persistence.errors import FormatError
from kboost.persistence.registry import SETTINGS
from kboost.settings import Cells

ENTRY = next(entry for entry in SETTINGS if entry.name == "Cells")
OLD = {"size": 100, "partitions": 1, "columns_per_cell": None, "overlap": 0.5}


def test_cells_without_shared_columns_are_read():
    assert ENTRY.make(OLD) == Cells(100, overlap=0.5)
    assert ENTRY.make({**OLD, "shared_columns": 7}).shared_columns == 7


def test_other_fields_must_be_there():
    with pytest.raises(FormatError, match="must have the fields"):
        ENTRY.make({name: value for name, value in OLD.items() if name != "size"})
