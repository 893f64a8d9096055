"""Benchmarks of kboost and its peers, all judged alike: `python -m benchmarks --list`."""
