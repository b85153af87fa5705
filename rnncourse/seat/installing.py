"""Where the course is installed from. It is in no index of packages: whoever names one would run code of whoever takes
the name there. So what is printed names the clone or the file that this installation came from, or the release.
"""

import json
import os
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

# The address of the latest release's wheel, once there is one: this is the only place that has it.
RELEASE = ""
WHEEL = "THE-WHEEL-YOU-WERE-GIVEN.whl"


def source() -> str:
    """What stands behind `pip install`: the release's address, the clone, or the wheel."""
    if RELEASE:
        return RELEASE
    clone = Path(__file__).parents[2]
    if (clone / "pyproject.toml").is_file():
        return str(clone)
    try:
        origin = json.loads(metadata.distribution("rnncourse").read_text("direct_url.json") or "{}").get("url", "")
    except (metadata.PackageNotFoundError, ValueError):
        origin = ""
    if origin.startswith("file:"):
        path = local_path(urlsplit(origin).path, windows=os.name == "nt")
        return path if Path(path).exists() else WHEEL
    return origin or WHEEL


def command(extra: str = "", options: str = "") -> str:
    """The command that installs the course, with an extra."""
    what = source()
    if extra:
        what = f"rnncourse[{extra}] @ {what}" if "://" in what else f"{what}[{extra}]"
    return f"pip install {options}{quoted(what, windows=os.name == 'nt')}"


def quoted(path: str | Path, windows: bool | None = None) -> str:
    """A path as a shell takes it, in quotes if it has to be: a terminal's on Unix, and Windows' two."""
    text = str(path)
    if not (os.name == "nt" if windows is None else windows):
        return shlex.quote(text)
    return text if text and not set(text) & set(" &()[]{}^=;!'+,`~%") else f'"{text}"'


def local_path(path: str, windows: bool) -> str:
    """The path in a `file:` address: Windows' has a slash before the drive."""
    found = unquote(path)
    return found.lstrip("/").replace("/", "\\") if windows and found[2:3] == ":" else found
