"""Generated fits, each held against a second one that must agree with it."""
