"""What became of one column of a table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PreparedColumn:
    """What a preparation made of one column.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "boolean", "category", "date", "text", "left out"}
        What the column was taken for.
    n_missing : int
        Number of missing values in the rows of `fit`.
    note : str
        Remark for the user: the values of a category, the reason why a column is left out.
    output : slice
        Its columns in the output; empty if it is left out.
    encoding : str, default=""
        How a category is encoded, and the errors on rows left out by which this was chosen.

    Examples
    --------
    >>> from kboost.preparation import PreparedColumn
    >>> PreparedColumn("colour", "category", 0, "2 values: red, blue", slice(3, 4)).n_outputs
    1
    """

    name: str
    kind: str
    n_missing: int
    note: str
    output: slice
    encoding: str = ""

    @property
    def n_outputs(self) -> int:
        """Number of its columns in the output."""
        return int(self.output.stop - self.output.start)
