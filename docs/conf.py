"""Settings of the documentation site; `make docs` builds it."""

import os
import sys
from pathlib import Path

from vecuq import __version__

os.environ.setdefault("MPLBACKEND", "Agg")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "vecuq"
author = "The vecuq founders"
project_copyright = "the vecuq founders, Apache-2.0"
version = release = __version__

extensions = [
    "accessible",
    "api",
    "catalogue",
    "contents",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# README.md lists the pages for readers on GitHub; here the navigation does.
exclude_patterns = ["README.md", "_build", "_ext", "_static", "**/GALLERY_HEADER.rst", "gallery/*", "**/README.rst"]
templates_path = ["_templates"]
# Scripts of two galleries may have the same name: pages are linked to by their paths.
suppress_warnings = ["sphinx_gallery.duplicate_filename"]

# Markdown is read as on GitHub: heading anchors, $mathematics$, tables.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_allow_digits = False
myst_dmath_allow_space = False

# Signatures stand in the page; numpydoc reads the parameters.
autodoc_typehints = "none"
autodoc_mock_imports = ["litellm", "mlflow", "openai", "opentelemetry", "pyspark"]
autosummary_generate = False
# A name in a docstring that leads nowhere is an error.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(collections|numpy|np|sklearn|typing)\..*")]
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "vecuq"
html_static_path = ["_static"]
html_favicon = "_static/mark.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
toc_object_entries_show_parents = "hide"
html_copy_source = False
html_theme_options = {
    "logo": {"text": "vecuq", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "alt_text": ""},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "secondary_sidebar_items": ["page-toc"],
}
# The whole of MathJax in one file of our own: the site asks no other host for anything.
mathjax_path = "vendor/mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def galleries() -> list[str]:
    """Folders of scripts that have a heading, and so make a gallery."""
    return [name for name in ("gallery", "validation") if (HERE / name / "GALLERY_HEADER.rst").exists()]


sphinx_gallery_conf = {
    "examples_dirs": galleries(),
    "gallery_dirs": [f"built/{name}" for name in galleries()],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(^|/)_|(^|/)conftest",
    "abort_on_example_error": True,
    "copyfile_regex": "",
    "download_all_examples": False,
    "min_reported_time": 4,
    "parallel": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_scrapers": ("whole_figures.scraped",),
    "image_srcset": ["2x"],
}
