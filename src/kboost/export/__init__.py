"""Models for other runtimes; each module needs its own extra."""
