"""Rules of the code base that no linter knows: names, sizes, one place for interrupts."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import kboost
from kboost import baselines

SOURCE = Path(kboost.__file__).parent
MAX_PARAMETERS = 16
INTERRUPTS = {"core/iterate.py", "core/outputs.py"}  # beside the process of the command line

ESTIMATORS = [
    value
    for module in (kboost, baselines)
    for value in (getattr(module, name) for name in module.__all__)
    if inspect.isclass(value) and hasattr(value, "get_params")
]


@cache
def trees():
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text())
        for path in SOURCE.rglob("*.py")
    }


def classes():
    return [
        node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]


def test_no_class_name_is_defined_twice():
    assert [name for name, count in Counter(classes()).items() if count > 1] == []


def test_the_page_on_design_lists_every_method_of_the_driver():
    """That of one step, `core/interruptible.py`, is private and not listed."""
    methods = {
        (node.name, path)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for base in node.bases
        if isinstance(base, ast.Subscript) and getattr(base.value, "id", "") == "Method"
    }
    page = (SOURCE.parents[1] / "docs" / "design.md").read_text()
    listed = set(re.findall(r"`(\w+)`, `([\w/]+\.py)`", page))
    assert len(methods) > 10
    assert sorted(methods - listed) == []
    assert all((SOURCE / path).is_file() for _, path in listed)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_constructors_have_few_parameters(estimator):
    assert len(inspect.signature(estimator).parameters) <= MAX_PARAMETERS


def test_ctrl_c_is_caught_in_one_place():
    """The driver, the helper that runs outputs in threads, and the command line's own process."""
    catching = {
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and node.type is not None
        and "KeyboardInterrupt" in ast.unparse(node.type)
    }
    assert {path for path in catching if not path.startswith("cli/")} <= INTERRUPTS


def test_no_part_refuses_a_method_of_its_own_contract():
    refusing = [
        path
        for path, tree in trees().items()
        if path.startswith(("core/", "masters/", "oracles/", "plans/", "estimators/", "baselines/"))
        and any(
            "NotImplementedError" in ast.unparse(n)
            for n in ast.walk(tree)
            if isinstance(n, ast.Raise)
        )
    ]
    assert refusing == []


def test_functions_are_short():
    long = [
        f"{path}:{node.name}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and _length(node) > 60
    ]
    assert long == []


def _length(node: ast.FunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
