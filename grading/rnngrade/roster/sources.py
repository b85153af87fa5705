"""What is in a source that is collected, a folder, a zip or a notebook, and in zips within it. Nothing is believed."""

from __future__ import annotations

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
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, UnicodeError, NotImplementedError),
    *(OSError, EOFError, ValueError, OverflowError, RuntimeError),
)  # what Python raises for a zip that is
_ENTRY = b"PK\x01\x02"  # begins an entry of a zip's contents


class CollectError(DeskError):
    """Why nothing could be collected, in one sentence."""


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

    bytes: int = field(default_factory=lambda: MAX_WITHIN)
    files: int = field(default_factory=lambda: MAX_NESTED)


def paths(source: Path) -> list[str]:
    """The paths of all files in a source; what is in zips within it is not looked at."""
    if source.is_dir():
        paths = [
            Path(where, name).relative_to(source).as_posix() for where, _, names in os.walk(source) for name in names
        ]
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as opened:
            paths = [_name_in_zip(entry) for entry in opened.infolist() if not entry.is_dir()]
    else:
        paths = [source.name]
    return [path for path in paths if not _IGNORED.search(path) and not _leads_out(path)]


def files(
    source: Path,
    notes: list[str],
    failures: Failures,
    owner: Callable[[str], str] = lambda path: path,
    others: list[tuple[str, str]] | None = None,
) -> Iterator[File]:
    """The notebooks of a folder, a zip or a single file, also those in zips within it. What is odd about one is put
    into `notes`; what cannot be read for another reason into `failures`. `owner` tells by its path whose zip it is:
    all of one student's are read as far as one budget goes. `others` gets the paths of what is no notebook, each with
    the zip that it was in.
    """
    others = [] if others is None else others
    budgets: dict[str, _Budget] = {}
    if source.is_dir():
        files = _of_folder(source, notes, failures, others)
    elif zipfile.is_zipfile(source):
        files = _of_zip(source, notes, failures, others)
    elif source.is_file() and source.suffix.casefold() == ".ipynb":
        files = iter([File(source.name, _read(source), source.stat().st_mtime)])
    else:
        raise CollectError(f"{shown(str(source))} is no folder, zip or notebook to collect from.")
    read = 0
    for file in files:
        is_zip = file.path.casefold().endswith(".zip")
        budget = budgets.setdefault(owner(file.path), _Budget()) if is_zip else _Budget()
        if is_zip:
            budget.bytes -= len(file.data)
            if budget.bytes < 0:
                notes.append(_spent(file.path))
                continue
        read += len(file.data)
        if read > MAX_ALL:
            notes.append(f"More than {MAX_ALL // 2**30} GB are in {shown(str(source))}: the rest was left out.")
            return
        if is_zip:
            if file.data.count(_ENTRY) > MAX_FILES:
                notes.append(f"{shown(file.path)} was left out: it holds more than {MAX_FILES} files.")
                continue
            with failures.at(shown(file.path)):
                try:
                    yield from _of_zip(BytesIO(file.data), notes, failures, others, file.path, budget)
                except _BROKEN as error:
                    notes.append(f"{shown(file.path)} was left out: it is no zip that can be read ({error}).")
        else:
            yield file


def _of_folder(folder: Path, notes: list[str], failures: Failures, others: list[tuple[str, str]]) -> Iterator[File]:
    count = 0
    for where, inner, names in os.walk(folder, onerror=lambda error: _unreadable(error, failures)):
        inner.sort()
        for name in [*inner, *sorted(names)]:
            path = Path(where, name)
            relative = path.relative_to(folder).as_posix()
            with failures.at(shown(relative)):
                mode = path.lstat().st_mode
                if _IGNORED.search(relative) or (stat.S_ISDIR(mode) and not stat.S_ISLNK(mode)):
                    continue
                count += 1
                if count > MAX_FILES:
                    notes.append(f"More than {MAX_FILES} files are in {shown(str(folder))}: the rest was left out.")
                    return
                if file := _file(path, relative, mode, notes, others):
                    yield file


def _file(path: Path, relative: str, mode: int, notes: list[str], others: list[tuple[str, str]]) -> File | None:
    """A file of a folder; None, and a note, if it is none to collect."""
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "no file"
        notes.append(f"{shown(relative)} was left out: it is {kind}.")
    elif not wanted(relative):
        if path.name not in _ABOUT:
            others.append((relative, ""))
            notes.append(f"{shown(relative)} was left out: it is no notebook.")
    elif path.stat().st_size > MAX_FILE:
        notes.append(_too_large(relative))
    else:
        beside = path.with_name("timestamp.txt")
        written = _read(beside) if beside.is_file() and not beside.is_symlink() else None
        return File(relative, _read(path), path.stat().st_mtime, timestamp=written)
    return None


def _unreadable(error: OSError, failures: Failures) -> None:
    with failures.at(shown(str(error.filename))):
        raise error


def _of_zip(
    archive: Path | IO[bytes],
    notes: list[str],
    failures: Failures,
    others: list[tuple[str, str]],
    outer: str = "",
    budget: _Budget | None = None,
) -> Iterator[File]:
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
        most = budget.files if budget else MAX_FILES
        if budget:
            budget.files -= min(most, len(entries))
        if len(entries) > most:
            notes.append(f"{shown(outer or str(archive))} holds {len(entries)} files: only {most} were looked at.")
        times = {name: e for e in entries[:most] if (name := _name_in_zip(e)).endswith("timestamp.txt")}
        for entry in entries[:most]:
            name = _name_in_zip(entry)
            said = shown(f"{outer}/{name}" if outer else name)
            mode = entry.external_attr >> 16
            if _leads_out(name):
                notes.append(f"{said} was left out: its path leads out of the zip.")
            elif entry.is_dir() or _IGNORED.search(name):
                continue
            elif stat.S_ISLNK(mode):
                notes.append(f"{said} was left out: it is a link.")
            elif not wanted(name) or (outer and name.casefold().endswith(".zip")):
                if PurePosixPath(name).name not in _ABOUT and not (outer and name.endswith(".json")):
                    others.append((name, outer))
                    notes.append(f"{said} was left out: it is no notebook.")
            elif entry.flag_bits & 1:
                notes.append(f"{said} was left out: it has a password.")
            else:
                beside = times.get(str(PurePosixPath(name).with_name("timestamp.txt")))
                with failures.at(said):
                    try:
                        data = _unpacked(opened, entry, MAX_FILE + 1)  # what the zip says of its size is not believed
                        written = None if beside is None else _unpacked(opened, beside, 100)
                    except _BROKEN as error:
                        notes.append(f"{said} was left out: it is broken ({error}).")
                        continue
                    if budget:
                        budget.bytes -= len(data)
                        if budget.bytes < 0:
                            notes.append(_spent(outer))
                            return
                    if len(data) > MAX_FILE:
                        notes.append(_too_large(said))
                    else:
                        yield File(name, data, _modified(entry), outer, written)


def _unpacked(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    with opened.open(entry) as file:
        return file.read(most)


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


def _leads_out(path: str) -> bool:
    return path.startswith("/") or ".." in path.split("/") or bool(re.match(r"[A-Za-z]:", path))


def wanted(path: str) -> bool:
    return path.casefold().endswith((".ipynb", ".zip"))


def _too_large(path: str) -> str:
    return f"{shown(path)} was left out: it is larger than {MAX_FILE // 2**20} MB."


def _spent(path: str) -> str:
    most = MAX_WITHIN // 2**20
    return (
        f"More than {most} MB are in {shown(path)} and what else this student handed in as zips: the rest was left out."
    )


def _read(path: Path) -> bytes:
    """A file's bytes, but not more than a notebook may have."""
    with path.open("rb") as file:
        return file.read(MAX_FILE)


def full(file: File) -> str:
    return f"{file.outer}/{file.path}" if file.outer else file.path


def shown(text: str) -> str:
    """Text that can be printed: without control characters, and not too long."""
    printable = "".join(c if c.isprintable() else "�" for c in text)
    return printable if len(printable) <= 200 else f"{printable[:100]}…{printable[-90:]}"
