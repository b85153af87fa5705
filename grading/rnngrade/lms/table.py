"""A table that a platform wrote, in which one column is filled: all else stays as it was."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rnngrade.core.errors import DeskError


class TableError(DeskError):
    """Why a platform's table cannot be filled, in one sentence."""


@dataclass
class Table:
    """The names of the columns, and the rows below them."""

    path: Path
    columns: list[str]
    rows: list[list[str]]
    delimiter: str = ","

    @classmethod
    def read(cls, path: Path) -> Table:
        """**Errors:** `TableError` if it is no table."""
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                text = file.read()
            delimiter = max(",;", key=text.partition("\n")[0].count)
            lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if line]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise TableError(f"{path} cannot be read: {error}.") from None
        if len(lines) < 2:
            raise TableError(f"{path} has no rows: download it again, with all participants.")
        width = len(lines[0])
        return cls(path, lines[0], [[*line, *[""] * (width - len(line))] for line in lines[1:]], delimiter)

    def index(self, name: str, what: str) -> int:
        """Where the column is. **Errors:** `TableError` with the names of those that there are."""
        if self.columns.count(name) != 1:
            there = ", ".join(repr(column) for column in self.columns)
            raise TableError(f"{self.path} has not one column {name!r}: say with {what} which it is, of {there}.")
        return self.columns.index(name)

    def text(self) -> str:
        """The table as CSV, as it was but for what was filled in."""
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\r\n").writerows([self.columns, *self.rows])
        return text.getvalue()


@dataclass(frozen=True)
class Filled:
    """What came of it: the file's text, who got a grade, and whose waits for a person and was left empty."""

    text: str
    graded: Sequence[str]
    waiting: Sequence[str]


def number(value: float) -> str:
    """Points, with a point.

    >>> number(3.0), number(2.5)
    ('3', '2.5')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
