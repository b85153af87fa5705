"""Words as they are shown on a page, in a table, in a terminal: numbers with their nouns, and what a student may have
written, made fit for that.
"""

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: str) -> str:
    """Text without what a terminal takes for orders, and without characters that control how what is around them looks.

    >>> visible("\\x1b[31mValueError\\x1b[0m: \\u202etxt")
    'ValueError: txt'
    """
    return _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def number(value: float | None) -> str:
    """Points: two places at most.

    >>> number(3.0), number(1.804), number(None)
    ('3', '1.8', '–')
    """
    return "–" if value is None else f"{round(value, 2):g}"


def count(value: float, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "student"), count(2.5, "point"), count(2, "answer is", "answers are")
    ('1 student', '2.5 points', '2 answers are')
    """
    return f"{number(value)} {one if round(value, 2) == 1 else many or one + 's'}"
