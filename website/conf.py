"""Sphinx's settings. The pages are made by make_website.py, which also says where they lie."""

import importlib.metadata
import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

project = "Recurrent neural networks"
author = "the authors of rnncourse"
copyright = "the authors of rnncourse; code under the MIT licence, text under CC BY 4.0"
version = release = importlib.metadata.version("rnncourse")
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.mathjax",
]

exclude_patterns = ["notebooks", "files"]  # to be downloaded, not read

# What is stored is what is shown: the notebooks' outputs, and no page asks anything of any other computer.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True
nb_render_text_lexer = "none"
mathjax_path = "mathjax/tex-svg-full.js"  # drawn as SVG: no fonts to load, so it works from a folder too
mathjax3_config = {"options": {"enableMenu": False}}

myst_enable_extensions = ["amsmath", "attrs_block", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "sphinx_book_theme"
html_title = "Recurrent neural networks"
# the course's own, and MathJax, which make_website.py puts beside the pages
html_static_path = ["static", str(Path(os.environ["RNNCOURSE_SITE_SOURCE"]) / "static")]
templates_path = [str(Path(__file__).parent / "templates")]
# the theme's own, with home-link.html for its navbar-logo.html
html_sidebars = {"**": ["home-link.html", "search-button-field.html", "sbt-sidebar-nav.html"]}
html_css_files = ["course.css", "home.css"]
html_js_files = ["course.js", ("search.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_domain_indices = False
html_use_index = False
pygments_style = "friendly"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_persistent": [],
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", name_the_sidebar_s_toggles, priority=900)  # once the theme has added its own
    app.connect("build-finished", leave_out_font_awesome)


def name_the_sidebar_s_toggles(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """The theme unfolds an entry of the sidebar with a chevron that has no name: it gets that of the entry."""
    generate = context["generate_toctree_html"]

    def named(*arguments: Any, **options: Any) -> Any:
        tree = generate(*arguments, **options)
        for entry in tree.select("li:has(> details)"):
            entry.select_one("summary")["aria-label"] = f"Pages below {entry.select_one('a').get_text()}"
        return tree

    context["generate_toctree_html"] = named
    context["without"] = without


def without(html: str, scripts: str) -> str:
    """A page's head without the scripts whose address matches."""
    return re.sub(rf"<script[^>]*(?:{scripts})[^>]*></script>", "", html)


def leave_out_font_awesome(app: Sphinx, error: Exception | None) -> None:
    """The theme's files of icons: 4 MB that nothing asks for (templates/layout.html)."""
    for folder in ("scripts", "vendor"):
        for path in (app.outdir / "_static" / folder).rglob("*"):
            if path.is_file() and re.search(r"fontawesome|fa-\w+-\d+\.woff2", path.name):
                path.unlink()
