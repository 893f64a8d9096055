"""Training rows: merged, weighted, split; checks of user kernels."""
