"""Models that take rows in batches and do not keep them."""
