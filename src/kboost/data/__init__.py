"""Training rows (merged, weighted, split) and checks of user-defined kernels."""
