"""What is in a source that is collected, a folder, a zip or a notebook, and in zips within it. Nothing is believed."""

import contextlib
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from rnngrade.core.errors import DeskError, Failures

MAX_FILE = 64 * 2**20  # bytes of one notebook, or of a zip within a zip
MAX_ALL = 4 * 2**30  # bytes that are read of one source
MAX_FILES = 100_000  # files of one source
MAX_NESTED = 1_000  # files of the zips within it that are one student's
MAX_WITHIN = 256 * 2**20  # bytes that these zips have, and that are unpacked of them
_IGNORED = re.compile(r"(?:^|/)(?:\.[^/]*|__MACOSX|__pycache__)(?:/|$)|-checkpoint\.ipynb$", re.IGNORECASE)
_ABOUT = ("timestamp.txt", "late.txt", "submission_metadata.yml", "README.md")  # of what lies beside them
_NO_ZIP = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, UnicodeError, NotImplementedError),
    *(OSError, EOFError, ValueError, OverflowError, RuntimeError),
)  # what Python raises for a zip that is
_ENTRY = b"PK\x01\x02"  # begins an entry of a zip's contents


@dataclass(frozen=True)
class File:
    """A file in a folder or a zip: its path there, when it was made, how so many of its bytes are read (**Errors:**
    `LeftOut` or `OSError`), and why it cannot be collected, if it cannot. Of one that was read, the zip in the source
    that it was in, its bytes, None if it is no notebook, and the timestamp.txt beside it.
    """

    path: str
    modified: float
    read: Callable[[int], bytes]
    odd: str = ""
    outer: str = ""
    data: bytes | None = None
    timestamp: bytes | None = None

    @property
    def full(self) -> str:
        return f"{self.outer}/{self.path}" if self.outer else self.path


class LeftOut(Exception):
    """Why something in a source is not taken, in a few words."""


class Notes(list[str]):
    """A sentence on all that is odd in a source."""

    @contextlib.contextmanager
    def leaving(self, path: str) -> Iterator[None]:
        """Around what is done with something in the source, which may be left out."""
        try:
            yield
        except LeftOut as why:
            self.append(f"{shown(path)} was left out: {why}.")


@dataclass
class _Budget:
    """What is still read of a source, or of one student's zips in it, however many there are: bytes and files, and what
    is said when the bytes are used up.
    """

    room: int
    files: int
    words: str

    def covers(self, data: bytes, notes: Notes) -> bool:
        self.room -= len(data)
        if self.room < 0:
            notes.append(f"{self.words}: the rest was left out.")
        return self.room >= 0


@contextlib.contextmanager
def opened(source: Path, failures: Failures) -> Iterator[list[File]]:
    """What lies in a folder, a zip or a single file; what is in zips within it is not looked at. What cannot be
    listed is put into `failures`. **Errors:** `DeskError`.
    """
    try:
        if source.is_dir():
            yield _of_folder(source, failures)
        elif zipfile.is_zipfile(source):
            with _zip(source) as entries:
                yield entries
        elif source.is_file() and source.suffix.casefold() == ".ipynb":
            yield [File(source.name, source.stat().st_mtime, partial(_bytes_of, source))]
        else:
            raise DeskError(f"{shown(str(source))} is no folder, zip or notebook to collect from.")
    except (LeftOut, OSError) as error:
        raise DeskError(f"{shown(str(source))} cannot be read: {error}.") from None


def read(files: list[File], notes: Notes, failures: Failures, owner: Callable[[str], str]) -> Iterator[File]:
    """The notebooks among some files, also those in zips, and what is none, without its bytes. What is odd about one is
    put into `notes`; what cannot be read for another reason into `failures`. `owner` tells by its path whose zip it is:
    all of one student's are read as far as one budget goes.
    """
    budgets: dict[str, _Budget] = {}
    for file in _read_all(
        files, _Budget(MAX_ALL, MAX_FILES, f"There are more than {MAX_ALL // 2**30} GB"), notes, failures
    ):
        if file.data is None or not file.path.casefold().endswith(".zip"):
            yield file
            continue
        most = f"More than {MAX_WITHIN // 2**20} MB are in {shown(file.path)} and what else this student handed in"
        budget = budgets.setdefault(owner(file.path), _Budget(MAX_WITHIN, MAX_NESTED, f"{most} as zips"))
        with failures.at(shown(file.path)), notes.leaving(file.path):
            if not budget.covers(file.data, notes):
                continue
            if file.data.count(_ENTRY) > MAX_FILES:
                raise LeftOut(f"it holds more than {MAX_FILES} files")
            with _zip(BytesIO(file.data)) as inner:
                yield from _read_all(inner, budget, notes, failures, file.path)


def _read_all(files: list[File], budget: _Budget, notes: Notes, failures: Failures, outer: str = "") -> Iterator[File]:
    """These files read, as far as they are notebooks, or zips that are not in one, `outer`, themselves."""
    most = budget.files
    budget.files -= min(most, len(files))
    if len(files) > most:
        where = f" in {shown(outer)}" if outer else ""
        notes.append(f"There are {len(files)} files{where}: only {most} were looked at.")
    stamps = {file.path: file for file in files[:most] if file.path.endswith("timestamp.txt") and not file.odd}
    for file in (replace(file, outer=outer) for file in files[:most]):
        path = PurePosixPath(file.path)
        with failures.at(shown(file.full)), notes.leaving(file.full):
            if file.odd:
                raise LeftOut(file.odd)
            if path.name in _ABOUT or (outer and path.suffix == ".json"):
                continue
            if not wanted(path.name) or (outer and path.suffix.casefold() == ".zip"):
                yield file
                raise LeftOut("it is no notebook")
            data = file.read(MAX_FILE + 1)  # what the zip says of its size is not believed
            beside = stamps.get(str(path.with_name("timestamp.txt")))
            if not budget.covers(data, notes):
                return
            if len(data) > MAX_FILE:
                raise LeftOut(f"it is larger than {MAX_FILE // 2**20} MB")
            yield replace(file, data=data, timestamp=beside.read(100) if beside else None)


def _of_folder(folder: Path, failures: Failures) -> list[File]:
    def unreadable(error: OSError) -> None:
        with failures.at(shown(str(error.filename))):
            raise error

    found = []
    for where, inner, names in os.walk(folder, onerror=unreadable):
        inner.sort()
        for path in (Path(where, name) for name in [*inner, *sorted(names)]):
            relative = path.relative_to(folder).as_posix()
            with failures.at(shown(relative)):
                about = path.lstat()
                if not stat.S_ISDIR(about.st_mode) and not _IGNORED.search(relative):
                    odd = "it is a link" if stat.S_ISLNK(about.st_mode) else "it is no file"
                    odd = "" if stat.S_ISREG(about.st_mode) else odd
                    found.append(File(relative, about.st_mtime, partial(_bytes_of, path), odd))
    return found


@contextlib.contextmanager
def _zip(archive: Path | IO[bytes]) -> Iterator[list[File]]:
    """What lies in a zip. **Errors:** `LeftOut`."""
    try:
        opened = zipfile.ZipFile(archive)
    except _NO_ZIP as error:
        raise LeftOut(f"it is no zip that can be read ({error})") from None
    with opened:
        found = []
        for entry in opened.infolist():
            name = _name_in_zip(entry)
            odd = "it is a link" if stat.S_ISLNK(entry.external_attr >> 16) else ""
            if leads_out := name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name):
                odd = "its path leads out of the zip"
            if leads_out or not (entry.is_dir() or _IGNORED.search(name)):
                when = int("".join(f"{part:02}" for part in entry.date_time))  # a number that grows with it
                found.append(File(name, when, partial(_unpacked, opened, entry), odd))
        yield found


def _bytes_of(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _unpacked(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    if entry.flag_bits & 1:
        raise LeftOut("it has a password")
    try:
        with opened.open(entry) as file:
            return file.read(most)
    except _NO_ZIP as error:
        raise LeftOut(f"it is broken ({error})") from None


def _name_in_zip(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip. Macs write UTF-8 and do not say so; Windows writes backslashes."""
    name = entry.orig_filename if "\0" not in entry.orig_filename else entry.filename
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def folders(path: str) -> list[str]:
    """The folders that a file lies in, the outermost first."""
    return list(PurePosixPath(path).parts[:-1])


def wanted(path: str) -> bool:
    return path.casefold().endswith((".ipynb", ".zip"))


def shown(text: str) -> str:
    """Text that can be printed: without control characters, and not too long."""
    printable = "".join(c if c.isprintable() else "�" for c in text)
    return printable if len(printable) <= 200 else f"{printable[:100]}…{printable[-90:]}"
