"""The course in a browser, nothing installed: a folder of static files, for any web server.

    python lite/make_lite.py --out FOLDER        (or `make lite`; without --out, build/lite/site)

It is JupyterLite with the units' NumPy parts (`torchless.py`), and Python itself as WebAssembly: Pyodide. What it is
made of comes from the package index alone, pinned; the site then asks nobody for anything. A package whose requirements
the site cannot meet ends the build with a sentence. Pyodide installs what a cell imports from a list of wheels,
`pyodide-lock.json`, which is written here: the course, and whatever it needs, to the last link.
"""

import argparse
import email.parser
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import bytecode
import nbformat
import torchless
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from rnncourse import exercises

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "lite"
# what the kernel is made of
KERNEL = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython")
# Of the course what a check needs comes first, and is there with the kernel. What a part of it needs besides comes when
# a cell imports that part: half of all there is to download.
PARTS = {
    "rnncourse.plots": ("matplotlib", "pillow"),
    "rnncourse.data": ("pooch", "requests", "pydoc-data"),
    "rnncourse.experiments": ("rnncourse-data",),
}
ROOTS = (*KERNEL, "rnncourse", *(part.replace(".", "-") for part in PARTS))
NOT_NEEDED = ("prompt-toolkit", "rich")  # only a terminal does
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
SETTINGS = "jupyter-lite.json"
LABEXTENSIONS = Path("share/jupyter/labextensions")
MENU = Path("rnncourse/seat/jupyter/labextensions")  # the menu Course, as in JupyterLab
WELCOME = (
    "> **This is the course in your browser.** Python runs in this page; nothing is installed. This browser keeps your "
    "notebooks and your progress, for this address alone. To hand in, choose *Course → Submit*, and give the file that "
    "it makes to your instructor."
)


class CannotBuildError(Exception):
    """A sentence on what the site lacks, or what does not fit the rest."""

    status = 1


class NotToBeHadError(CannotBuildError):
    """Something that the site is made of cannot be downloaded."""

    status = 3


def main() -> None:
    """Build the site. Downloads are kept in build/lite and made again when what they are pinned to has changed."""
    options = argparse.ArgumentParser(description="The NumPy units as static files that run in a browser.")
    options.add_argument("--out", type=Path, default=BUILD / "site", help="the site's folder, made anew")
    site = options.parse_args().out.absolute()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            _build(site, Path(scratch))
    except CannotBuildError as error:
        print(error, file=sys.stderr)
        sys.exit(error.status)
    print(f"The site is built. To try it: {sys.executable} -m http.server --directory {site} 8000")


def _build(site: Path, scratch: Path) -> None:
    tools, runtime = _tools(), _runtime()
    pyodide = scratch / "static" / "pyodide"
    pyodide.mkdir(parents=True)
    for name in RUNTIME:
        shutil.copy(runtime / name, pyodide)
    info = json.loads((runtime / LOCK).read_text(encoding="utf-8"))["info"]
    local = {_name(wheel): wheel for wheel in [*runtime.glob("*.whl"), *(tools / LABEXTENSIONS).rglob("*.whl")]}
    local["rnncourse"] = _course(scratch / "course")
    local |= _made_here(scratch / "course")
    wheels = _wheels(local, info["python"])
    for wheel, _ in wheels.values():
        shutil.copy(wheel, pyodide)
    _write_lock(info, wheels, pyodide)
    settings = _settings(_stage_notebooks(scratch / "contents"))
    (scratch / SETTINGS).write_text(json.dumps(settings, indent=1), encoding="utf-8")
    _add_bytecode(scratch / "contents", _pyodide_options(settings), pyodide)
    _write_lock(info, wheels, pyodide)
    _make_site(tools, scratch, site)


def _tools() -> Path:
    """JupyterLite, in a folder of its own: in the environment it would join every JupyterLab."""
    pins, folder = HERE / "requirements.txt", BUILD / "tools"
    if _is_out_of_date(folder, pins):
        _download("install", "--no-deps", "--require-hashes", "--target", folder, "-r", pins)
        _note(folder, pins)
    return folder


def _runtime() -> Path:
    """A folder with Python for the browser, and the wheels that are compiled for it."""
    pins, folder = HERE / "runtime.txt", BUILD / "runtime"
    if _is_out_of_date(folder, pins):
        folder.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as scratch:
            options = ("--no-deps", "--require-hashes", "--ignore-requires-python")
            _download("download", *options, "--dest", scratch, "-r", pins)
            with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as archive:
                (lock,) = (name for name in archive.namelist() if name.endswith(f"/{LOCK}"))
                for file in zipfile.Path(archive, lock.removesuffix(LOCK)).iterdir():
                    if file.name in (*RUNTIME, LOCK) or file.name.endswith(".whl"):
                        (folder / file.name).write_bytes(file.read_bytes())
        _note(folder, pins)
    return folder


def _is_out_of_date(folder: Path, pins: Path) -> bool:
    """Whether a folder was not filled as `pins` says now; it is gone then."""
    stamp = folder / pins.name
    if stamp.exists() and stamp.read_bytes() == pins.read_bytes():
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _note(folder: Path, pins: Path) -> None:
    shutil.copy(pins, folder / pins.name)


def _download(*arguments: str | Path) -> None:
    command, *rest = arguments
    print("Downloading", *rest[-2:] if rest[-2] == "-r" else rest[rest.index("--") + 1 :])
    if why := _pip(command, "--only-binary=:all:", *rest):
        raise NotToBeHadError(f"What the site is made of cannot be had: {why}")


def _pip(*arguments: str | Path) -> str:
    """What pip has to complain about; nothing, if all is well."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines() or ["pip failed"]
    return [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ") or line == said[-1]][-1]


def _course(folder: Path) -> Path:
    """The course as a wheel. Nothing is left behind in the project's folder."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        settings = Path(scratch) / "setup.cfg"
        settings.write_text(f"[build]\nbuild_base = {scratch}\n[egg_info]\negg_base = {scratch}\n", encoding="utf-8")
        os.environ["DIST_EXTRA_CONFIG"] = str(settings)
        why = _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
        del os.environ["DIST_EXTRA_CONFIG"]
    if why:
        raise CannotBuildError(f"The course cannot be packed: {why}")
    return next(folder.glob("rnncourse-*.whl"))


def _made_here(folder: Path) -> dict[str, Path]:
    """Packages that are on no index, by name.

    Python's documentation topics, which Pyodide leaves out and which are one of the course's texts. The parts of the
    course: empty, for they are in its wheel; they stand for what they need. And an empty jedi: without it the kernel
    completes by looking at what is there, and starts 5 MB sooner.
    """
    import pydoc_data

    topics = {f"pydoc_data/{file.name}": file for file in Path(pydoc_data.__path__[0]).glob("*.py")}
    made = {"pydoc-data": _wheel(folder, "pydoc-data", files=topics), "jedi": _wheel(folder, "jedi", version="0.99")}
    for part, needs in PARTS.items():
        name = part.replace(".", "-")
        made[name] = _wheel(folder, name, needs=("rnncourse", *needs))
    return made


def _wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    needs: Iterable[str] = (),
    files: Mapping[str, Path] = MappingProxyType({}),
) -> Path:
    """A wheel of these files, by the names that they get."""
    stem = f"{name.replace('-', '_')}-{version}"
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as file:
        for target, source in files.items():
            file.write(source, target)
        about = "".join(f"Requires-Dist: {need}\n" for need in needs)
        file.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{about}")
        file.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{stem}.dist-info/RECORD", "")
    return wheel


def _wheels(local: dict[str, Path], python: str) -> dict[str, tuple[Path, list[str]]]:
    """ROOTS and all that they need, by name: the wheel, and the names of what it needs directly.

    Wheels are taken from `local`; what is not there is pure Python and downloaded, at the version of constraints.txt.
    """
    folder, pins = BUILD / "wheels", ROOT / "constraints.txt"
    if _is_out_of_date(folder, pins):
        folder.mkdir(parents=True)
        _note(folder, pins)
    found: dict[str, tuple[Path, list[str]]] = {}
    wanted = [Requirement(name) for name in ROOTS]
    while wanted:
        missing = sorted({name for r in wanted if (name := canonicalize_name(r.name)) not in local})
        kept = {_name(wheel): wheel for wheel in folder.glob("*.whl")}
        if absent := [name for name in missing if name not in kept]:
            pure = ("--implementation=py", "--abi=none", "--platform=any", f"--python-version={python}")
            _download("download", "--no-deps", *pure, "--constraint", pins, "--dest", folder, "--", *absent)
            kept = {_name(wheel): wheel for wheel in folder.glob("*.whl")}
        local |= {name: kept[name] for name in missing}
        inner = []
        for requirement in wanted:
            name = canonicalize_name(requirement.name)
            _, version, *_ = parse_wheel_filename(local[name].name)
            if not requirement.specifier.contains(version, prereleases=True):
                raise CannotBuildError(f"The site would have {name} {version}, and {requirement} is needed.")
            if name not in found:
                needs = _requirements(local[name], python)
                found[name] = local[name], [canonicalize_name(need.name) for need in needs]
                inner += needs
        wanted = inner
    return found


def _requirements(wheel: Path, python: str) -> list[Requirement]:
    """What a wheel needs in the browser."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (n for n in file.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA"))
        about = email.parser.HeaderParser().parsestr(file.read(name).decode("utf-8"))
    environment = default_environment() | {
        "extra": "",
        "platform_machine": "wasm32",
        "platform_system": "Emscripten",
        "python_full_version": python,
        "python_version": ".".join(python.split(".")[:2]),
        "sys_platform": "emscripten",
    }
    later = {need for needs in PARTS.values() for need in needs} if _name(wheel) == "rnncourse" else set()
    return [
        requirement
        for requirement in map(Requirement, about.get_all("Requires-Dist", []))
        if canonicalize_name(requirement.name) not in {*NOT_NEEDED, *later}
        and (requirement.marker is None or requirement.marker.evaluate(environment))
    ]


def _name(wheel: Path) -> str:
    return parse_wheel_filename(wheel.name)[0]


def _write_lock(info: dict[str, str], wheels: dict[str, tuple[Path, list[str]]], pyodide: Path) -> None:
    """List the wheels, which are where Pyodide looks for them."""
    packages = {}
    for name, (source, needs) in sorted(wheels.items()):
        wheel = pyodide / source.name
        packages[name] = {
            "name": name,
            "version": str(parse_wheel_filename(wheel.name)[1]),
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": [part for part in PARTS if part.replace(".", "-") == name] or _imports(wheel),
            "depends": needs,
            "unvendored_tests": False,
        }
    (pyodide / LOCK).write_text(json.dumps({"info": info, "packages": packages}, indent=1), encoding="utf-8")


def _settings(left_out: list[str]) -> dict[str, Any]:
    """The site's settings; Python is told there which exercises are left out, so that no bar counts them."""
    settings: dict[str, Any] = json.loads((HERE / SETTINGS).read_text(encoding="utf-8"))
    _pyodide_options(settings)["env"]["RNNCOURSE_LEFT_OUT"] = " ".join(left_out)
    return settings


def _pyodide_options(settings: dict[str, Any]) -> dict[str, Any]:
    """What Pyodide is loaded with: a part of the site's settings."""
    plugins = settings["jupyter-config-data"]["litePluginSettings"]
    options: dict[str, Any] = plugins["@jupyterlite/pyodide-kernel-extension:kernel"]["loadPyodideOptions"]
    return options


def _add_bytecode(notebooks: Path, options: dict[str, Any], pyodide: Path) -> None:
    """Bytecode of what a student imports in unit 00, and of what each other unit begins with."""
    cells = []
    for path in sorted(notebooks.glob("*.ipynb")):
        code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        cells += code if path.stem == exercises.STEMS[0] else code[:2]
    try:
        bytecode.add(pyodide, options, cells, BUILD / "bytecode")
    except RuntimeError as error:
        raise CannotBuildError(f"What a student's browser would compile cannot be compiled here: {error}") from error


def _imports(wheel: Path) -> list[str]:
    """The names that a wheel makes importable."""
    with zipfile.ZipFile(wheel) as file:
        tops = {name.partition("/")[0] for name in file.namelist() if name.endswith((".py", ".so"))}
    names = {top.partition(".")[0] for top in tops if not top.endswith((".dist-info", ".data", ".libs"))}
    return sorted(name for name in names if name.isidentifier())


def _stage_notebooks(folder: Path) -> list[str]:
    """The units for the browser: its kernel, a word on what differs, and nothing that needs PyTorch. Gives the names of
    the exercises that are left out.
    """
    folder.mkdir(parents=True)
    left_out = []
    solutions = {stem: _notebook("solutions", stem) for stem in exercises.IN_BROWSER}
    refused = torchless.not_to_be_had(torchless.imports(solutions.values()))
    for stem, solution in solutions.items():
        notebook = torchless.without_torch(_notebook("notebooks", stem), solution, refused)
        notebook.metadata.kernelspec = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
        for cell in notebook.cells:
            # one thread is all there is, and Python has no clock for it alone
            cell.source = cell.source.replace("time.thread_time()", "time.process_time()")
            # all notebooks lie in one folder
            cell.source = re.sub(r"\]\(\.\./(\w+)/\1\.ipynb", r"](\1.ipynb", cell.source)
        notebook.cells.insert(1, new_markdown_cell(WELCOME, id="in-your-browser"))
        left_out += torchless.left_out(notebook)
        nbformat.write(notebook, folder / f"{stem}.ipynb")
    return left_out


def _notebook(folder: str, stem: str) -> NotebookNode:
    return nbformat.read(ROOT / folder / stem / f"{stem}.ipynb", as_version=4)


def _make_site(tools: Path, staged: Path, site: Path) -> None:
    """Let JupyterLite put it all together."""
    shutil.copy(HERE / "jupyter_lite_config.json", staged)
    shutil.rmtree(site, ignore_errors=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "jupyterlite_core.app", "build", "--force"),
            f"--lite-dir={staged}",
            f"--output-dir={site}",
            f"--FederatedExtensionAddon.extra_labextensions_path={tools / LABEXTENSIONS}",
            f"--FederatedExtensionAddon.extra_labextensions_path={ROOT / MENU}",
        ],
        cwd=staged,
        env=os.environ | {"PYTHONPATH": str(tools)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CannotBuildError(f"JupyterLite could not build the site:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
