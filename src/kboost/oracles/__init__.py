"""Oracles propose columns worth adding; one file a way of searching."""
