"""Read tables, infer the types of their columns, and prepare them with a pipeline.

Requires pandas (extra ``kboost[cli]``).
"""

from kboost.tables.columns import Column, describe
from kboost.tables.preparing import missing_columns, preparation, rows_for, rows_like, tidy
from kboost.tables.reading import Table, read_table
from kboost.tables.target import target_of

__all__ = [
    "Column",
    "Table",
    "describe",
    "missing_columns",
    "preparation",
    "read_table",
    "rows_for",
    "rows_like",
    "target_of",
    "tidy",
]
