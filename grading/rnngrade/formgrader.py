"""Formgrader, as `rnngrade lab` opens it: for marks and comments by hand.

What else it can do is the desk's business: its Autograde button would run what was handed in without a sandbox, its
Generate and its feedback would write over what the build and the desk have written. So its pages show no such button,
and say which command does it instead. Jupyter's server loads this after nbgrader's own extension, whose pages these
extend; `jupyter/` holds the setting that has it loaded.

The page where one marks takes MathJax from the web. Without a network it stopped there; now it goes on, with formulas
as they were typed.
"""

from __future__ import annotations

import os
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, PrefixLoader

COMMANDS = """
{%- block messages -%}
<div class="alert alert-info" role="note">
  Here you read, give points and write comments: choose <b>Manual Grading</b> in the menu. The rest is done in a
  terminal, in the desk's folder: <code>rnngrade run {{ assignment_id or "UNIT" }}</code> grades what is new, in a
  sandbox; <code>rnngrade feedback {{ assignment_id or "UNIT" }}</code> writes what students get back.
</div>
{%- endblock -%}
{%- block script -%}
{{ super() }}
<style>HIDDEN { display: none; }</style>
{%- endblock -%}
"""


def _without(page: str, *columns: int) -> str:
    """One of nbgrader's pages with our words above it and without these columns of its table, counted from 1."""
    hidden = ", ".join(f"table.table tr > :nth-child({column})" for column in columns)
    return f'{{%- extends "nbgrader/{page}" -%}}' + COMMANDS.replace("HIDDEN", hidden)


PAGES = {
    # Generate, Release, Collect; Generate Feedback, Release Feedback
    "manage_assignments.tpl": _without("manage_assignments.tpl", 5, 7, 8, 10, 11),
    # Autograde, Generate Feedback, Release Feedback
    "manage_submissions.tpl": _without("manage_submissions.tpl", 6, 7, 8),
}

MATHJAX = {
    "mathjax.html.j2": """
{%- from "nbconvert/templates/base/mathjax.html.j2" import mathjax as from_the_web -%}
{%- macro mathjax() -%}
{{ from_the_web() }}
<script>
if (!window.MathJax)
    MathJax = {Hub: {Startup: {signal: {Interest: tell => setTimeout(() => tell("End"))}}}};
</script>
{%- endmacro -%}
"""
}


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Put our pages before nbgrader's, and have formgrader work on the desk's own gradebook."""
    settings = server.web_app.settings
    pages = settings["nbgrader_jinja2_env"]
    pages.loader = ChoiceLoader([DictLoader(PAGES), PrefixLoader({"nbgrader": pages.loader}), pages.loader])
    settings["nbgrader_exporter"].extra_loaders = [DictLoader(MATHJAX)]
    if db_url := os.environ.get("RNNGRADE_DB"):
        settings["nbgrader_formgrader"].coursedir.db_url = db_url
