"""The command line interface `kboost` (extra ``kboost[cli]``)."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from kboost.cli.app import app
    except ModuleNotFoundError as error:
        sys.exit(f"error: kboost requires {error.name}; install it with pip install 'kboost[cli]'.")
    app()
