"""What all errors of the desk that a user reads have in common, and how one student's does not stop a class."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from rnncourse.seat.sentences import FULL
from rnngrade.core.log import log

LONGEST = 300  # characters of what is said of one student's error


class DeskError(Exception):
    """What kept the desk from doing something, and what to do, in one sentence. It is of a kind of its own only where
    somebody tells it apart.
    """


class Stop(DeskError):
    """What would fail for everybody else as well."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Around what writes a file: the system's errors name it."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def some(names: Sequence[str], most: int = 8) -> str:
    """Names in a row, not too many.

    >>> some(["ada", "alan", "emmy"], 2)
    'ada, alan and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def together(notes: Iterable[str]) -> Iterator[str]:
    """Notes, of which those that say the same of more than three are one.

    >>> list(together([f"{n}.png was left out: it is no notebook." for n in range(9)]))
    ['Each of 9 was left out: it is no notebook: 0.png, 1.png, 2.png, 3.png, 4.png, 5.png, 6.png, 7.png and 1 more']
    """
    alike: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        *name, words = re.split(r" (?=is |was )", note, maxsplit=1)
        alike.setdefault(words, []).extend(name)
    for words, names in alike.items():
        if len(names) > 3:
            yield f"Each of {len(names)} {words.rstrip('.')}: {some(names)}"
        else:
            yield from [f"{name} {words}" for name in names] or [words]


class Failures:
    """For whom something could not be done, and why, while it was done for the rest of the class.

    with Failures() as failures:                        # a DeskError with the list at the end, if there is any
        for student in students:
            with failures.of(student, "03_cell"):
                …                                       # whatever is raised here is written down
    """

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def of(self, student: str, unit: str) -> Iterator[None]:
        """Write down what is raised for this student, and go on. **Errors:** `Stop`, and that of a full disk."""
        with self.at(f"{student}, {unit}"):
            yield

    @contextmanager
    def at(self, what: str) -> Iterator[None]:
        """The same for a file of which it is not known yet whose it is."""
        try:
            yield
        except Stop:
            raise
        except DeskError as error:
            log.debug("%s", what, exc_info=True)
            self._tell(what, str(error))
        except OSError as error:
            if error.errno in FULL:
                raise
            self._tell(what, f"{error.strerror}: {error.filename}" if error.filename else str(error))
        except Exception as error:  # there is no end to what a student can hand in
            log.exception("%s", what)
            self._tell(what, f"{type(error).__name__}: {error}")

    def add(self, student: str, unit: str, words: str) -> None:
        self._tell(f"{student}, {unit}", words)

    def _tell(self, what: str, words: str) -> None:
        # The words may be a student's: they are kept to one line that a terminal can print.
        line = " ".join(f"{what}: {words}".split())[:LONGEST]
        line = "".join(c if c.isprintable() else "\ufffd" for c in line)
        log.warning("%s", line)
        if line not in self.told:
            self.told.append(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        if raised is None:
            self.end()

    def end(self) -> None:
        """**Errors:** `DeskError` with a line for each failure, if there was one."""
        if self.told:
            raise DeskError("\n  ".join(("Done for all but these:", *self.told)))
