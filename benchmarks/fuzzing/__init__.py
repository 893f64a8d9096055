"""Forged model files: sound ones to begin with, changes of them, and a process that tries them."""
