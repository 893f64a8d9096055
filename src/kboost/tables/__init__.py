"""Read tables, infer the types of their columns, and prepare them with a pipeline.

Requires pandas (extra ``kboost[cli]``).
"""

from kboost.tables.columns import Column, describe
from kboost.tables.preparing import preparation, rows_for, tidy
from kboost.tables.reading import Table, read_table
from kboost.tables.target import target_of

__all__ = [
    "Column",
    "Table",
    "describe",
    "preparation",
    "read_table",
    "rows_for",
    "target_of",
    "tidy",
]
