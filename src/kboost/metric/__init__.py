"""One width per feature, learned from the gradients of a fit, and judged on rows left out."""
