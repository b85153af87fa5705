"""Words that a student may have chosen, made fit to be shown: on a page, in a table, in a terminal."""

import re

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: str) -> str:
    """Text without what a terminal takes for orders, and without characters that control how what is around them looks.

    >>> visible("\\x1b[31mValueError\\x1b[0m: \\u202etxt")
    'ValueError: txt'
    """
    return _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
