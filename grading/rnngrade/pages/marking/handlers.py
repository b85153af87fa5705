"""The page on which written answers are marked, on Jupyter's own server: with its token, on this machine alone.

What students wrote is on it, so it is rendered without HTML of theirs (`core/text.py`), and the page has a content
security policy by which only its own script and style run, and nothing is asked of any other machine.
"""

import json
import os
import re
import secrets
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import jinja2
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from tornado.web import HTTPError, authenticated

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.text import markdown
from rnngrade.pages.marking.answers import (
    Answer,
    MarkedMeanwhile,
    answers,
    answers_of,
    change_item,
    mark,
    part_of,
)
from rnngrade.pages.marking.question import Item, Question, questions_of
from rnngrade.pages.templates import templates

HERE = Path(__file__).parent
ADDRESS = "/rnngrade/mark"
PART = re.compile(r"([1-9]\d?)/([1-9]\d?)")  # "1/2", the first of two
MOST_HTML = 100_000  # bytes of one answer on the page


def routes(base_url: str) -> list[tuple[str, Any]]:
    start = re.escape(base_url.rstrip("/") + ADDRESS)
    return [
        (rf"{start}/(\w+)(?:;[^/]*)?", PageHandler),
        (rf"{start}/(\w+)/(\w+)/(?:item/(\d+)|(\w+))", ChangeHandler),
    ]


def desk_here() -> Desk:
    """The desk that the server was started for."""
    root, folder = os.environ.get("RNNGRADE_COURSE"), os.environ.get("RNNGRADE_DESK")
    if not root or not folder:
        raise HTTPError(404, "Start this server by 'rnngrade mark UNIT'.")
    return Desk(Path(root), Path(folder), os.environ.get("RNNGRADE_DB"))


class PageHandler(JupyterHandler):
    @cached_property
    def nonce(self) -> str:
        """The word by which the page's own script and style run. Tornado asks for the headers before anything else."""
        return secrets.token_urlsafe(16)

    @property
    def content_security_policy(self) -> str:
        own = f"'nonce-{self.nonce}'"
        return (
            f"default-src 'none'; script-src {own}; style-src {own}; connect-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'self'"
        )

    @authenticated
    def get(self, unit: str) -> None:
        desk = desk_here()
        try:
            stem = exercises.unit(unit).stem
            asked = [(question, *self._wanted(desk, stem, question)) for question in questions_of(desk, stem)]
        except (KeyError, DeskError) as why:
            raise HTTPError(404, str(why.args[0])) from None
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(
            _template().render(
                unit=stem,
                title=exercises.unit(stem).title,
                questions=asked,
                student=self._asked("student"),
                part=self._asked("part"),
                nonce=self.nonce,
                xsrf=self.xsrf_token.decode(),
            )
        )

    def _asked(self, name: str) -> str:
        """What stands in the address behind a semicolon: Jupyter puts a question mark and its token behind."""
        return parse_qs(self.request.path.partition(";")[2]).get(name, [""])[0].strip()

    def _wanted(self, desk: Desk, unit: str, question: Question) -> tuple[list[Answer], str]:
        """The answers that were asked for, one student's or a part of several, and what is odd of that."""
        found = answers(desk, unit, question)
        if student := self._asked("student"):
            return answers_of(desk, unit, found, student)
        if part := PART.fullmatch(self._asked("part")):
            found = part_of(found, int(part[1]), int(part[2]))
        return found, "" if found else "There is no such answer." if part else "Nobody has answered this yet."


class ChangeHandler(APIHandler):
    """A change of an answer's marks, or of an item of the rubric, which comes as JSON. What is wrong with it goes back
    as a sentence.
    """

    @authenticated
    def put(self, unit: str, name: str, item: str | None, answer: str | None) -> None:
        """Make it, and give back what it came to."""
        try:
            desk, stem, given = desk_here(), exercises.unit(unit).stem, json.loads(self.request.body)
            question = next(one for one in questions_of(desk, stem) if one.name == name)
            if item is not None:
                text = Item(float(given["points"]), str(given["text"]))
                self.finish({"changed": change_item(desk, stem, question, int(item), text)})
                return
            items = {int(number): float(part) for number, part in given.get("items", {}).items()}
            points, comment = float(given["points"]), str(given.get("comment", ""))
            self.finish(_state(mark(desk, stem, question, str(answer), points, comment, items, str(given["seen"]))))
        except MarkedMeanwhile as why:
            self._refuse(409, message=str(why), seen=why.now.seen)
        except (DeskError, OSError, ValueError) as why:
            self._refuse(400, message=str(why))
        except (KeyError, TypeError, AttributeError, StopIteration):
            self._refuse(400, message="This cannot be understood: reload the page.")

    def _refuse(self, status: int, **words: str) -> None:
        self.set_status(status)
        self.finish(words)


def _state(one: Answer) -> dict[str, Any]:
    kept = ("id", "points", "comment", "waits", "differ", "seen")
    items = {str(number): part for number, part in one.items.items()}
    return {name: getattr(one, name) for name in kept} | {"items": items, "count": len(one.students)}


@cache
def _template() -> jinja2.Template:
    environment = templates(HERE, "script.js", "style.css")
    environment.filters.update(markdown=partial(markdown, most=MOST_HTML), state=_state)
    return environment.get_template("page.html")
