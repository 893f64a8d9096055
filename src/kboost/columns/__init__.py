"""Columns of the library: kernels at centres, computed in blocks."""
