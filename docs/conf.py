"""How the documentation is built. Everything is local: no page is fetched while building."""

import re
from importlib.metadata import version as installed_version

project = "kboost"
author = "kboost developers"
copyright = author
version = release = installed_version("kboost")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the numpydoc sections say it in words
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = f"kboost {release}"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def plain_docstring(app, what, name, obj, options, lines):
    """Let docstrings stay readable in the source.

    There, an indented paragraph is a formula and `coef_` is a name; reStructuredText would take
    them for a quotation and a link. Formulas stand before the first section.
    """
    head = next((i for i, line in enumerate(lines) if line.startswith("---")), len(lines))
    out, formula = [], False
    for i, line in enumerate(lines):
        indented = i < head and line.startswith("    ")
        if indented and not formula and not any("::" in before for before in out[-2:]):
            out += ["::", ""]
        formula = indented or (formula and not line.strip())
        is_type = i > head and " : " in line
        out.append(re.sub(r"(?<=\w)_(?=[,)\s])", r"\\_", line) if is_type else line)
    lines[:] = out


def setup(app):
    """Run before numpydoc, which reads the docstring at the default priority of 500."""
    app.connect("autodoc-process-docstring", plain_docstring, priority=400)
