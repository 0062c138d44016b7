"""The site: ``sphinx-build -W -n -b html docs site``; ``python -m docs.serve`` to look at it."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from citeweave import __version__  # noqa: E402 (after the path is set)

project = "citeweave"
author = "The citeweave developers"
copyright = author  # noqa: A001 (Sphinx names it so)
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "command_reference",  # in _ext: every command and option of the command line
    "plain_types",  # in _ext
]
exclude_patterns = ["_ext", "_static"]
default_role = "code"  # `name` in a docstring
highlight_language = "none"  # indented blocks are command lines and output

# Pages are read on the forge as well as on the site: GitHub's anchors, dollars for formulas.
smartquotes_action = "qe"  # quotation marks and ellipses; two hyphens begin an option
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "rules"}  # the checks behind declared parameters
autodoc_typehints = "none"  # docstrings give types, in words and with shapes
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"

mathjax_path = "mathjax/tex-svg.js"  # MathJax 3.2.2, Apache licence 2.0: no network is needed

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["citeweave.css"]
html_favicon = "../src/citeweave/web/static/mark.svg"  # as in the explorer
html_title = f"citeweave {version}"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_sidebars = {"start/index": []}  # a section of one page needs no navigation
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "back_to_top_button": False,
}
