"""What is stated in several files agrees, and whatever runs in a workflow is pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import kboost

ROOT = Path(__file__).parents[1]
META = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = META["project"]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recipe():
    return pytest.importorskip("yaml").safe_load(read("recipe/recipe.yaml"))


def test_the_version_is_written_once():
    assert PROJECT["dynamic"] == ["version"]
    assert META["tool"]["hatch"]["version"]["path"] == "src/kboost/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", kboost.__version__)
    assert "\nversion:" not in read("CITATION.cff")


def test_the_conda_recipe_has_the_version_and_the_requirements(recipe):
    assert recipe["context"]["version"] == kboost.__version__
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"][1:]}
    assert run == set(PROJECT["dependencies"])
    extras = {
        re.sub(r"\[.*\]", "", line)
        for extra in ("plots", "dask", "onnx", "cli")
        for line in PROJECT["optional-dependencies"][extra]
    }
    names = {"dask-core": "dask", "matplotlib-base": "matplotlib"}  # as conda-forge has them
    parts = [line.split() for line in recipe["requirements"]["run_constraints"]]
    assert {names.get(name, name) + bound for name, bound in parts} == extras


def test_addresses_agree(recipe):
    urls = PROJECT["urls"]
    assert recipe["about"]["repository"] == urls["Source"]
    assert recipe["about"]["documentation"] == urls["Documentation"]
    for page in ("README.md", "CONTRIBUTING.md", "docs/conf.py", "docs/releasing.md"):
        named = set(re.findall(r"https://github\.com/[\w-]+/kboost\b", read(page)))
        assert named <= {urls["Source"]}, page


def test_actions_are_pinned_by_commit():
    uses = [
        (path.name, line.strip())
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    pinned = re.compile(r"(- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert len(uses) > 10
    assert [use for use in uses if not pinned.fullmatch(use[1])] == []
    assert len({line.split("@")[0].split()[-1] for _, line in uses}) == len(
        {line.removeprefix("- ") for _, line in uses}
    )  # one commit of each


def test_locks_have_hashes_and_no_addresses():
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        pins = re.findall(r"^[a-zA-Z0-9._-]+(?:\[.*\])?==.*$", text, re.MULTILINE)
        assert pins, path.name
        assert all(pin.endswith("\\") for pin in pins), path.name
        assert not re.search(r"://|^-", text, re.MULTILINE), path.name


def test_every_lock_has_its_line_in_the_makefile():
    listed = re.search(r"^LOCKS := (.*)$", read("Makefile"), re.MULTILINE).group(1).split()
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "requirements").glob("*.txt"))
