"""Cells: the space cut into parts, each fitted by itself."""
