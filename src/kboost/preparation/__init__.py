"""Any table in, a matrix of numbers out: numbers, categories, dates and text, with their gaps."""

from kboost.preparation.prepared_column import PreparedColumn
from kboost.preparation.table_preparation import TablePreparation

__all__ = ["PreparedColumn", "TablePreparation"]
