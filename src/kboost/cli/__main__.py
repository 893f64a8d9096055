"""`python -m kboost.cli`."""

from kboost.cli import main

main()
