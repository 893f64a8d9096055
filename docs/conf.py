"""Configuration of the documentation. The build needs no network access."""

import os
import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

project = "kboost"
author = "kboost developers"
copyright = author
version = release = installed_version("kboost")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "gallery",
    "mathml",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the numpydoc sections describe the types
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

# Functions are given by name, because Sphinx cannot cache function objects between builds.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"demo\.py",
    "within_subsection_order": "gallery.place",
    "reset_modules": ("matplotlib", "gallery.look"),
    "doc_module": ("kboost",),
    "backreferences_dir": "api/generated/backreferences",
    "image_srcset": ["2x"],
    "thumbnail_size": (720, 430),
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,  # times depend on the machine
    "remove_config_comments": True,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"kboost {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["kboost.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "kboost"},
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def plain_docstring(app, what, name, obj, options, lines):
    """Convert plain docstrings to reStructuredText.

    In the source, an indented paragraph before the first section is a formula, and `coef_` is a
    name; reStructuredText would read them as a quotation and a link.
    """
    head = next((i for i, line in enumerate(lines) if line.startswith("---")), len(lines))
    out, formula = [], False
    for i, line in enumerate(lines):
        indented = i < head and line.startswith("    ")
        if indented and not formula and not any("::" in before for before in out[-2:]):
            out += [".. code-block:: text", ""]
        formula = indented or (formula and not line.strip())
        is_type = i > head and " : " in line
        out.append(re.sub(r"(?<=\w)_(?=[,)\s])", r"\\_", line) if is_type else line)
    lines[:] = out


def setup(app):
    """Run before numpydoc, which uses the default priority of 500."""
    app.connect("autodoc-process-docstring", plain_docstring, priority=400)
