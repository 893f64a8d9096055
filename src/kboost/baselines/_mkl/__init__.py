"""Multiple kernel learning: one file a method, and what they share."""
