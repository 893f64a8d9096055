"""Oracles: each file is one way to search a library for columns to add."""
