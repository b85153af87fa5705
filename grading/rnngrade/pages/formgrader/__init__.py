"""Formgrader, as `rnngrade lab` opens it: for marks and comments by hand.

Its other buttons would run what was handed in without a sandbox, or write over what the desk has written. So its pages
show no such button, and say which command does it instead. Jupyter's server loads this after nbgrader's own extension,
whose pages these extend; `jupyter/` holds the setting that has it loaded.

What students wrote comes harmless (`gradebook/showing.py`) to these pages, on which one can do all that the instructor
can; should that fail, this holds as well:

- Every name and id is escaped where nbgrader's templates put it into a page.
- Of scripts only those of nbgrader's own templates run, which bear a word that is drawn when the server starts, and
  nothing is asked of any other machine.
- Mathematics is set by MathJax from this machine, with TeX's own commands and those of AMS: none that makes links,
  attributes or boxes around the page, or says what other commands mean (`mathjax.html`).
"""

import base64
import functools
import hashlib
import importlib.metadata
import os
import re
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, DictLoader, Environment, PrefixLoader
from tornado.web import StaticFileHandler

from rnngrade.core.desk import Desk
from rnngrade.gradebook.book import GradebookWriter

HERE = Path(__file__).parent
# nbgrader's pages that get our words above them, and the columns that they lose, counted from 1
PAGES = {
    # Generate, Release, Collect; Generate Feedback, Release Feedback
    "manage_assignments.tpl": (5, 7, 8, 10, 11),
    # Autograde, Generate Feedback, Release Feedback
    "manage_submissions.tpl": (6, 7, 8),
}
MATHJAX_FILE = "tex-svg-full.js"  # drawn as SVG: there are no fonts to load

# what nbgrader's own buttons do
BUTTONS = (
    "toggle_name(true);",
    "toggle_name(false);",
    "toggleAllNames()",
    "createAssignmentModal();",
    "createStudentModal();",
)


def ours(page: str, columns: Iterable[int]) -> str:
    """One of nbgrader's pages with our words above it and without these columns of its table."""
    hidden = ", ".join(f"table.table tr > :nth-child({column})" for column in columns)
    return (HERE / "ours.html").read_text(encoding="utf-8").replace("PAGE", page).replace("HIDDEN", hidden)


class Guarded(BaseLoader):
    """nbgrader's templates, with the word that lets their scripts run, and with all that they put into a page escaped.

    Other templates, nbconvert's, are as they were: what students wrote goes through those.
    """

    def __init__(self, loader: BaseLoader, folder: Path, nonce: str) -> None:
        self.loader, self.folder, self.nonce = loader, folder, nonce

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        """The source of a template, the file that it comes from, and whether that is as it was."""
        source, path, is_fresh = self.loader.get_source(environment, template)
        if path is not None and Path(path).is_relative_to(self.folder):
            source = source.replace("<script", f'<script nonce="{self.nonce}"')
            source = re.sub(r'(\bvar \w+ = )"\{\{ ([\w.]+) \}\}"', r"\1{{ \2 | string | tojson }}", source)
            source = re.sub(r"\{\{ ((?:resources|cell)(?:\.\w+)+) \}\}", r"{{ \1 | e }}", source)
        return source, path, is_fresh


def policy(nonce: str) -> str:
    """The content security policy of formgrader's pages, in which scripts with this word run."""
    buttons = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in BUTTONS]
    scripts = " ".join([f"'nonce-{nonce}'", "'unsafe-hashes'", *(f"'sha256-{digest}'" for digest in buttons)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _kept(method: Callable[..., None], page_of: Callable[[Any, str], Any], desk_here: Callable[[], Desk]) -> Any:
    """One of formgrader's requests, after which the desk keeps in files of its own what a person gave by it."""

    @functools.wraps(method)
    def request(handler: Any, id: str) -> None:
        method(handler, id)
        page = page_of(handler.gradebook, id)
        unit, student = page.assignment.assignment.name, page.student.id
        handler.gradebook.db.commit()  # which ends this session's look at the database
        with GradebookWriter(desk_here()) as writer:
            writer.take_over(unit, student)

    return request


def _load_jupyter_server_extension(server: Any) -> None:
    """Put our pages before nbgrader's, guard them all, and have formgrader work on the desk's own gradebook."""
    from nbgrader.server_extensions.formgrader import apihandlers, handlers
    from nbgrader.server_extensions.formgrader.base import BaseHandler

    application, settings = server.web_app, server.web_app.settings
    folder, nonce = Path(handlers.template_path), secrets.token_urlsafe(16)
    BaseHandler.content_security_policy = property(lambda _: policy(nonce))

    pages = settings["nbgrader_jinja2_env"]
    guarded = Guarded(pages.loader, folder, nonce)
    own = DictLoader({page: ours(page, columns) for page, columns in PAGES.items()})
    pages.loader = ChoiceLoader([own, PrefixLoader({"nbgrader": guarded}), guarded])
    pages.autoescape = True

    base_url = settings.get("base_url", "/").rstrip("/")
    exporter = settings["nbgrader_exporter"]
    exporter.extra_loaders = [DictLoader({"mathjax.html.j2": (HERE / "mathjax.html").read_text(encoding="utf-8")})]
    environment = exporter.environment
    environment.loader = Guarded(environment.loader, folder, nonce)
    environment.globals.update(nonce=nonce, mathjax_url=f"{base_url}/rnngrade/mathjax/{MATHJAX_FILE}")
    mathjax = importlib.metadata.distribution("sphinx-mathjax-offline")
    mathjax_folder = mathjax.locate_file("sphinx-mathjax-offline/static/mathjax")
    route = rf"{re.escape(base_url)}/rnngrade/mathjax/({re.escape(MATHJAX_FILE)})"
    application.add_handlers(".*$", [(route, StaticFileHandler, {"path": str(mathjax_folder)})])

    from rnngrade.pages.marking.handlers import desk_here, routes

    for handler, method, page_of in (
        (apihandlers.GradeHandler, "put", lambda book, id: book.find_grade_by_id(id).notebook),
        (apihandlers.CommentHandler, "put", lambda book, id: book.find_comment_by_id(id).notebook),
        (apihandlers.FlagSubmissionHandler, "post", lambda book, id: book.find_submission_notebook_by_id(id)),
    ):
        setattr(handler, method, _kept(getattr(handler, method), page_of, desk_here))
    application.add_handlers(".*$", routes(base_url))
    if db_url := os.environ.get("RNNGRADE_DB"):
        settings["nbgrader_formgrader"].coursedir.db_url = db_url
