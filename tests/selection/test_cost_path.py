"""When the path over C ends."""

from __future__ import annotations

import pytest

from kboost.selection.c_path import Tried, _steps_since_best


@pytest.mark.parametrize(
    ("losses", "columns", "steps"),
    [
        ([3.0, 1.0], 9, 0.0),
        ([3.0, 1.0, 1.02, 1.05], 9, 2.0),  # hardly above the lowest
        ([3.0, 1.0, 1.005, 1.009], 9, 1.0),  # as low, up to one percent
        ([3.0, 1.0, 1.02, 1.2], 9, 3.0),  # far above
        ([3.0, 1.0, 1.02, 1.2], 2, 0.0),  # too few columns to count
    ],
)
def test_values_since_the_lowest_loss(losses, columns, steps):
    path = [Tried(10.0**k, loss, columns) for k, loss in enumerate(losses)]
    assert _steps_since_best(path, alike=0.01) == steps
