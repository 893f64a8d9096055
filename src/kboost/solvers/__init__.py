"""Optimisation without a word of machine learning: arrays in, arrays out."""
