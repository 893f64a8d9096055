"""The recipes of the documentation, run block by block: `make recipes` has the packages for all.

Packages that kboost does not need are not installed for `make test`, which skips their pages, and
the one page that starts the command line.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.docs.test_pages import in_tmp  # noqa: F401

PAGES = Path(__file__).resolve().parents[2] / "docs" / "recipes"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
NEEDED = {
    "mlflow": "mlflow",
    "shap": "shap",
    "optuna": "optuna",
    "skrub": "skrub",
    "inspection": "pandas",
    "onnx_pipeline": "onnxruntime",
}
SLOW = "onnx_pipeline"


@pytest.mark.filterwarnings("default")  # other packages warn of what is theirs
@pytest.mark.parametrize("page", NEEDED)
def test_recipe_runs(page, in_tmp):  # noqa: F811
    pytest.importorskip(
        NEEDED[page], reason=f"the recipe needs {NEEDED[page]}; `make recipes` installs it"
    )
    if page == SLOW and "KBOOST_RECIPES" not in os.environ:
        pytest.skip("it starts the command line; `make recipes` runs it")
    scope = {"__name__": f"recipe_{page}"}
    for code in FENCE.findall((PAGES / f"{page}.md").read_text(encoding="utf-8")):
        exec(compile(code, f"docs/recipes/{page}.md", "exec"), scope)
    assert len(scope) > 3


def test_every_recipe_is_run_and_listed():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert pages == set(NEEDED)
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert all(f"({page}.md)" in index for page in pages)
