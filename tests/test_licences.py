"""Whatever kboost brings with it, extras included, has a licence that asks nothing of its users.

Read from the installed packages, so the check needs no network.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

requirements = pytest.importorskip("packaging.requirements")

FILE = Path(__file__).parents[1] / "pyproject.toml"
PROJECT = tomllib.loads(FILE.read_text(encoding="utf-8"))["project"]
EXTRAS = ("plots", "dask", "onnx", "cli")  # what users install; the others are tools
ALLOWED = re.compile(r"0?BSD|MIT|Apache|ISC|PSF|Python Software Foundation|Zlib|CC0", re.IGNORECASE)
FORBIDDEN = re.compile(r"GPL|General Public|Affero|Commercial|Proprietary", re.IGNORECASE)


def licence(package: Distribution) -> str:
    """As the package states it: an SPDX expression, else classifiers, else free text."""
    fields = package.metadata
    classifiers = [c for c in fields.get_all("Classifier", []) if c.startswith("License ::")]
    stated = fields.get("License-Expression") or "; ".join(classifiers)
    return stated or fields.get("License", "")[:80]


def installed() -> dict[str, Distribution]:
    """The requirements of kboost and of its extras, and theirs, as far as they are installed."""
    optional = PROJECT["optional-dependencies"]
    lines = PROJECT["dependencies"] + [line for extra in EXTRAS for line in optional[extra]]
    waiting, found, done = [requirements.Requirement(line) for line in lines], {}, set()
    while waiting:
        needed = waiting.pop()
        key = (needed.name.lower().replace("_", "-"), *sorted(needed.extras))
        if key in done:
            continue
        done.add(key)
        try:
            found[key[0]] = package = distribution(needed.name)
        except PackageNotFoundError:
            continue  # an extra that is not installed here
        for line in package.requires or []:
            below = requirements.Requirement(line)
            extras = needed.extras or {""}
            if below.marker is None or any(below.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(below)
    return found


def test_every_licence_is_permissive():
    stated = {name: licence(package) for name, package in installed().items()}
    assert {"numpy", "scikit-learn", "highspy"} <= set(stated)
    unsuitable = {
        name: words
        for name, words in stated.items()
        if FORBIDDEN.search(words) or not ALLOWED.search(words)
    }
    assert unsuitable == {}
