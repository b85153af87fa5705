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
from dataclasses import dataclass, field
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
    """A file of the source: its path there, its bytes, when it was made, the zip in the source that it was in, and
    the timestamp.txt beside it.
    """

    path: str
    data: bytes
    modified: float
    outer: str = ""
    timestamp: bytes | None = None


@dataclass
class _Budget:
    """What is still read of one student's zips, however many there are."""

    room: int = field(default_factory=lambda: MAX_WITHIN)
    files: int = field(default_factory=lambda: MAX_NESTED)

    def covers(self, data: bytes) -> bool:
        self.room -= len(data)
        return self.room >= 0


class _Broken(Exception):
    """Why something in a zip cannot be read, in a few words."""


@dataclass(frozen=True)
class Entry:
    """A file that lies in a folder or a zip: its path there, when it was made, and how so many of its bytes are read;
    and why it cannot be collected, if it cannot. **Errors:** `_Broken` or `OSError`, of `read`.
    """

    path: str
    modified: float
    read: Callable[[int], bytes]
    odd: str = ""


@contextlib.contextmanager
def opened(source: Path, failures: Failures) -> Iterator[list[Entry]]:
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
            yield [Entry(source.name, source.stat().st_mtime, partial(_read, source))]
        else:
            raise DeskError(f"{shown(str(source))} is no folder, zip or notebook to collect from.")
    except (_Broken, OSError) as error:
        raise DeskError(f"{shown(str(source))} cannot be read: {error}.") from None


@dataclass
class Reader:
    """Reads the notebooks among some entries, also those in zips. What is odd about one is put into `notes`; what
    cannot be read for another reason into `failures`. `owner` tells by its path whose zip it is: all of one student's
    are read as far as one budget goes. `others` gets the paths of what is no notebook, each with its zip.
    """

    notes: list[str]
    failures: Failures
    owner: Callable[[str], str]
    others: list[tuple[str, str]] = field(default_factory=list)

    def files(self, entries: list[Entry]) -> Iterator[File]:
        budgets: dict[str, _Budget] = {}
        read = 0
        for file in self._files(entries):
            is_zip = file.path.casefold().endswith(".zip")
            budget = budgets.setdefault(self.owner(file.path), _Budget()) if is_zip else _Budget()
            if is_zip and not budget.covers(file.data):
                self.notes.append(_spent(file.path))
                continue
            read += len(file.data)
            if read > MAX_ALL:
                self.notes.append(f"There are more than {MAX_ALL // 2**30} GB: the rest was left out.")
                return
            if not is_zip:
                yield file
            elif file.data.count(_ENTRY) > MAX_FILES:
                self._leave(file.path, f"it holds more than {MAX_FILES} files")
            else:
                with self.failures.at(shown(file.path)):
                    try:
                        with _zip(BytesIO(file.data)) as inner:
                            yield from self._files(inner, file.path, budget)
                    except _Broken as why:
                        self._leave(file.path, f"it is no zip that can be read ({why})")

    def _files(self, entries: list[Entry], outer: str = "", budget: _Budget | None = None) -> Iterator[File]:
        """The notebooks among the entries, and the zips, unless they are in one, `outer`, themselves."""
        most = budget.files if budget else MAX_FILES
        if budget:
            budget.files -= min(most, len(entries))
        if len(entries) > most:
            where = f" in {shown(outer)}" if outer else ""
            self.notes.append(f"There are {len(entries)} files{where}: only {most} were looked at.")
        stamps = {entry.path: entry for entry in entries[:most] if entry.path.endswith("timestamp.txt")}
        for entry in entries[:most]:
            path = PurePosixPath(entry.path)
            said = f"{outer}/{entry.path}" if outer else entry.path
            if entry.odd:
                self._leave(said, entry.odd)
            elif not wanted(entry.path) or (outer and entry.path.casefold().endswith(".zip")):
                if path.name not in _ABOUT and not (outer and entry.path.endswith(".json")):
                    self.others.append((entry.path, outer))
                    self._leave(said, "it is no notebook")
            else:
                beside = stamps.get(str(path.with_name("timestamp.txt")))
                with self.failures.at(shown(said)):
                    try:
                        data = entry.read(MAX_FILE + 1)  # what the zip says of its size is not believed
                        written = None if beside is None or beside.odd else beside.read(100)
                    except _Broken as why:
                        self._leave(said, str(why))
                        continue
                    if budget and not budget.covers(data):
                        self.notes.append(_spent(outer))
                        return
                    if len(data) > MAX_FILE:
                        self._leave(said, f"it is larger than {MAX_FILE // 2**20} MB")
                    else:
                        yield File(entry.path, data, entry.modified, outer, written)

    def _leave(self, path: str, why: str) -> None:
        self.notes.append(f"{shown(path)} was left out: {why}.")


def _of_folder(folder: Path, failures: Failures) -> list[Entry]:
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
                    found.append(Entry(relative, about.st_mtime, partial(_read, path), odd))
    return found


@contextlib.contextmanager
def _zip(archive: Path | IO[bytes]) -> Iterator[list[Entry]]:
    """What lies in a zip. **Errors:** `_Broken`."""
    try:
        opened = zipfile.ZipFile(archive)
    except _NO_ZIP as error:
        raise _Broken(str(error)) from None
    with opened:
        found = []
        for entry in opened.infolist():
            name = _name_in_zip(entry)
            odd = "it is a link" if stat.S_ISLNK(entry.external_attr >> 16) else ""
            if name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name):
                found.append(Entry(name, 0.0, partial(_unpacked, opened, entry), "its path leads out of the zip"))
            elif not entry.is_dir() and not _IGNORED.search(name):
                found.append(Entry(name, _modified(entry), partial(_unpacked, opened, entry), odd))
        yield found


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _unpacked(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    if entry.flag_bits & 1:
        raise _Broken("it has a password")
    try:
        with opened.open(entry) as file:
            return file.read(most)
    except _NO_ZIP as error:
        raise _Broken(f"it is broken ({error})") from None


def _name_in_zip(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip. Macs write UTF-8 and do not say so; Windows writes backslashes."""
    name = entry.orig_filename if "\0" not in entry.orig_filename else entry.filename
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _modified(entry: zipfile.ZipInfo) -> float:
    """When a file in a zip was made: a number that grows with it."""
    value = 0
    for part, base in zip(entry.date_time, (10_000, 13, 32, 24, 60, 62)):
        value = value * base + part
    return float(value)


def folders(path: str) -> list[str]:
    """The folders that a file lies in, the outermost first."""
    return list(PurePosixPath(path).parts[:-1])


def wanted(path: str) -> bool:
    return path.casefold().endswith((".ipynb", ".zip"))


def _spent(path: str) -> str:
    most = MAX_WITHIN // 2**20
    return (
        f"More than {most} MB are in {shown(path)} and what else this student handed in as zips: the rest was left out."
    )


def full(file: File) -> str:
    return f"{file.outer}/{file.path}" if file.outer else file.path


def shown(text: str) -> str:
    """Text that can be printed: without control characters, and not too long."""
    printable = "".join(c if c.isprintable() else "�" for c in text)
    return printable if len(printable) <= 200 else f"{printable[:100]}…{printable[-90:]}"
