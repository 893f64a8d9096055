"""Names that benchmarks import from kboost exist: entries that take hours are not run by tests."""

import ast
from importlib import import_module

import pytest

from benchmarks.objective import ROOT


def imported():
    """Pairs of a module of kboost and a name that some benchmark takes from it."""
    for path in (ROOT / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").partition(".")[0] == "kboost"
            ):
                yield from ((node.module, alias.name) for alias in node.names)


def has(module, name):
    if hasattr(import_module(module), name):
        return True
    try:
        return import_module(f"{module}.{name}") is not None
    except ImportError:
        return False


@pytest.mark.filterwarnings("ignore")
def test_names_exist():
    missing = [
        f"{module}.{name}" for module, name in sorted(set(imported())) if not has(module, name)
    ]
    assert not missing
