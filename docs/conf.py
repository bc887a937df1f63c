"""Sphinx, because scientific readers know it, the pages are Markdown already (MyST) and it has a gallery of scripts."""

import sys
import warnings
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent)]

from reference import file_names  # noqa: E402

from partita import MixingWarning  # noqa: E402

warnings.simplefilter("error", MixingWarning)  # no example of the gallery hides one

project = "partita"
author = "The partita developers"
copyright = author
version = release = installed("partita")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "measured",
    "reference",
    "sessions",
    "tables",
]
exclude_patterns = ["_tables"]
templates_path = ["templates"]
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 3

autosummary_filename_map = file_names()
autodoc_typehints = "none"  # shapes and types are in the docstrings
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "capture_repr": (),
    "write_computation_times": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"partita {version}"
html_static_path = ["static"]
html_css_files = ["partita.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "start": [], "changelog": [], "api/**": []}
