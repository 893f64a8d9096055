"""Multiple kernel learning: kernel weights and a support vector machine in turns."""
