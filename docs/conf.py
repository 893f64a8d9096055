"""How the documentation is built. Everything is local: no page is fetched while building."""

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
