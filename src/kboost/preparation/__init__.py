"""Tables as matrices of numbers: numbers, categories, dates, text, and missing values in them."""

from kboost.preparation.prepared_column import PreparedColumn
from kboost.preparation.table_preparation import TablePreparation

__all__ = ["PreparedColumn", "TablePreparation"]
