"""`kboost` on the command line (extra ``kboost[cli]``): fit, predict, inspect, report, and more."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from kboost.cli.app import app
    except ModuleNotFoundError as error:
        sys.exit(f"error: kboost needs {error.name} here; pip install 'kboost[cli]' installs it.")
    app()
