"""What an estimator asks for, and the functions that run it."""
