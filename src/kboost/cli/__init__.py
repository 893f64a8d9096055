"""The command line interface `kboost` (extra ``kboost[cli]``)."""

from __future__ import annotations

import os
import sys

BROKEN_PIPE = 141  # as if the signal had ended the process


def main() -> None:
    """Run the command line."""
    try:
        from kboost.cli.app import app
    except ModuleNotFoundError as error:
        sys.exit(f"error: kboost requires {error.name}; install it with pip install 'kboost[cli]'.")
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
