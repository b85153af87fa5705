"""Tables as people and platforms save them: with commas, semicolons or tabs, as UTF-8 with a mark or without, as
Excel's UTF-16, or in the Western code page that Windows still takes for CSV.
"""

import contextlib
import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rnngrade.core.errors import DeskError

MARK = "\ufeff"  # of byte order, which some programs write twice


@dataclass(frozen=True)
class Row:
    """A row, by column, and the line of the file that it ends on. What is missing is empty."""

    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")


@dataclass(frozen=True)
class Table:
    """What a table is called, its columns, and all rows that are not empty."""

    name: str
    columns: list[str]
    rows: list[Row]

    @property
    def shown(self) -> str:
        """The names of the columns, not too many."""
        return ", ".join(map(repr, self.columns[:15]))


def table_of(name: str, rows: Iterable[dict[str, str]]) -> Table:
    """A table that was no file with lines."""
    made = [Row(number, row) for number, row in enumerate(rows, start=1)]
    return Table(name, list(dict.fromkeys(column for row in made for column in row.cells)), made)


def read_table(path: Path) -> Table:
    """A table, without spaces around its cells. Of columns that are called alike, the first counts. **Errors:**
    `DeskError`.
    """
    (_, first), *lines = read_lines(path)[0] or [(1, [])]
    columns, rows = [name.strip() for name in first], []
    for line, cells in lines:
        given: dict[str, str] = {}
        for name, cell in zip(columns, cells):
            given.setdefault(name, cell.strip())
        if any(given.values()):
            rows.append(Row(line, given))
    return Table(str(path), columns, rows)


def read_lines(path: Path) -> tuple[list[tuple[int, list[str]]], str]:
    """The rows as they stand there, each with the line that it ends on, and what stands between cells.

    **Errors:** `DeskError`.
    """
    found, begins = list[tuple[int, list[str]]](), 1
    try:
        text = decoded(path.read_bytes())
        delimiter = delimiter_of(text)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for cells in lines:
            found.append((lines.line_num, cells))
            begins = lines.line_num + 1
    except (OSError, UnicodeError, csv.Error) as error:
        if "expected after" in str(error) or "unexpected end" in str(error):
            words = "a quotation mark opens a cell there and is not closed as one. Within a cell it is written twice"
            raise DeskError(f"{path}, line {begins}: {words}.") from None
        said = getattr(error, "strerror", None) or error
        raise DeskError(f"{path} cannot be read: {said}.") from None
    return found, delimiter


def decoded(data: bytes) -> str:
    """The text of a file. **Errors:** `UnicodeError` if it is none, such as a spreadsheet's own.

    >>> decoded("\ufeffZoë".encode("utf-8-sig")), decoded("Zoë".encode("utf-16")), decoded("Zoë".encode("cp1252"))
    ('Zoë', 'Zoë', 'Zoë')
    """
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16").lstrip(MARK)
        if b"\0" not in data:
            with contextlib.suppress(UnicodeDecodeError):
                return data.decode().lstrip(MARK)
            return data.decode("cp1252")
    except UnicodeDecodeError:
        pass
    raise UnicodeError("it is no text; save it as CSV") from None


def delimiter_of(text: str) -> str:
    """What stands between cells: that of comma, semicolon and tab which the first line has most of, quotes aside.

    >>> delimiter_of('"Lovelace, Ada";id;email'), delimiter_of("id"), delimiter_of("id\\temail")
    (';', ',', '\\t')
    """
    outside = "".join(text.partition("\n")[0].split('"')[::2])
    return max(",;\t", key=outside.count)
