"""The library lined up in columns: kernels times centres, computed in blocks."""
