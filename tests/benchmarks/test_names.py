"""Names that benchmarks import from kboost exist: entries that take hours are not run by tests."""

import ast
from importlib import import_module

from benchmarks.objective import ROOT

OPTIONAL = ("kboost.dask", "kboost.export.onnx")  # slow or optional packages


def imported():
    """Pairs of a module of kboost and a name that some benchmark takes from it."""
    for path in (ROOT / "benchmarks").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "from kboost" in text else ():
            module = getattr(node, "module", None) or ""
            if module.startswith("kboost") and module not in OPTIONAL:
                yield from ((module, alias.name) for alias in node.names)


def has(module, name):
    if hasattr(import_module(module), name):
        return True
    try:
        return import_module(f"{module}.{name}") is not None
    except ImportError:
        return False


def test_names_exist():
    missing = [
        f"{module}.{name}" for module, name in sorted(set(imported())) if not has(module, name)
    ]
    assert not missing
