"""Bytecode, made ahead: of the modules that a first session imports, so that no student's browser has to compile them.

Bytecode is for one version of Python, and Pyodide's is not the one that builds the site. So Pyodide makes it, in the
Node.js that Playwright brings along (`bytecode.mjs`): it runs a few cells as the browser's kernel does, and writes the
bytecode of all that was imported. It says of itself that it need not be compared with its source: a file's time is
another wherever a wheel is unpacked. The sources stay beside it, for tracebacks.
"""

import hashlib
import json
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from playwright._impl._driver import compute_driver_executable
from playwright.sync_api import Error

HERE = Path(__file__).resolve().parent
STDLIB = "python_stdlib.zip"
MADE_WITH = (Path(__file__), HERE / "bytecode.mjs", HERE / "imported.py")
TAG = "__pycache__"


def add(pyodide: Path, options: Mapping[str, object], cells: list[str], kept: Path) -> None:
    """Put bytecode into the wheels and the standard library of the folder `pyodide`.

    options: what Pyodide is loaded with. cells: what is run to see what is imported; they may fail. kept: a folder
    where the bytecode stays: with the same files to make it from, it is not made again. **Errors:** `RuntimeError`,
    with what Pyodide has to say.
    """
    archives = [pyodide / STDLIB, *sorted(pyodide.glob("*.whl"))]
    asked = json.dumps({"pyodide": str(pyodide), "options": options, "cells": cells})
    made = kept / f"{_key(archives, json.dumps([options, cells]))}.zip"
    if not made.exists():
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        _make(asked, made)
    holds = {name: archive for archive in archives for name in zipfile.ZipFile(archive).namelist()}
    with zipfile.ZipFile(made) as bytecode:
        for archive in archives:
            new = [name for name in bytecode.namelist() if holds[_source(name)] == archive]
            if new:
                with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
                    for name in new:
                        file.writestr(name, bytecode.read(name))


def _key(archives: list[Path], asked: str) -> str:
    """What bytecode is made from, as a name. Of an archive its files count, and not when they were packed."""
    parts = [path.read_bytes() for path in MADE_WITH] + [asked.encode()]
    for archive in archives:
        with zipfile.ZipFile(archive) as file:
            files = sorted((i.filename, i.CRC) for i in file.infolist() if ".dist-info/" not in i.filename)
        parts.append(repr(files).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:32]


def _make(asked: str, made: Path) -> None:
    try:
        node, _ = compute_driver_executable()
    except Error as error:  # it says what Playwright lacks
        raise RuntimeError(str(error)) from error
    unfinished = made.with_suffix(".new")
    unfinished.touch()
    command = [node, "--no-warnings", HERE / "bytecode.mjs", HERE / "imported.py", unfinished]
    done = subprocess.run(command, input=asked, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)
    unfinished.replace(made)


def _source(name: str) -> str:
    """The source of a file with bytecode: in the standard library it is a.pyc beside a.py, in a wheel it is in a folder
    of its own.
    """
    folder, _, file = name.rpartition("/")
    if not folder.endswith(TAG):
        return name.removesuffix("c")
    return f"{folder.removesuffix(TAG)}{file.partition('.')[0]}.py"
