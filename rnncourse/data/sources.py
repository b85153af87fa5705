"""Where the texts come from: Python's installation, a file, or an address on the web.

`text.py` is what the course uses; this is the plumbing under it.
"""

import difflib
import functools
import logging
import sys
import sysconfig
import zipfile
from pathlib import Path

BUILT_IN = ("python-docs", "python-source")

# Pure Python, of middling size, in the standard library since long before 3.11, and none that later versions remove.
# fmt: off
MODULES = [
    "abc", "base64", "bdb", "bisect", "calendar", "cmd", "code", "codeop", "configparser", "contextlib", "copy", "csv",
    "dis", "filecmp", "fileinput", "fnmatch", "fractions", "functools", "getopt", "getpass", "glob", "gzip", "hashlib",
    "heapq", "html/parser", "http/cookies", "json/decoder", "json/encoder", "keyword", "linecache", "mimetypes",
    "numbers", "operator", "pprint", "profile", "queue", "quopri", "random", "reprlib", "sched", "shelve", "shlex",
    "shutil", "socketserver", "statistics", "stringprep", "tempfile", "textwrap", "timeit", "tokenize", "trace",
    "traceback", "types", "unittest/case", "urllib/parse", "uuid", "warnings", "weakref",
]
# fmt: on


@functools.cache
def documents(name: str) -> dict[str, str]:
    """The documents of a built-in corpus, by name: modules of "python-source", topics of "python-docs"."""
    return _topics() if name == "python-docs" else _modules()


def _modules() -> dict[str, str]:
    """The source of each of MODULES that this Python has, by module name."""
    library = _library()
    files = {module: library / f"{module}.py" for module in MODULES}
    found = {module: file.read_text(encoding="utf-8") for module, file in files.items() if file.is_file()}
    if not found:
        raise FileNotFoundError(
            f"This Python comes without its source (none in {library}): use a standard Python, "
            'or load_text("python-docs").'
        )
    return found


def _library() -> Path | zipfile.Path:
    """The folder of the standard library; the zip file that stands in for it where Python runs in a browser."""
    folder = Path(sysconfig.get_path("stdlib"))
    archive = folder.parent / f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    return zipfile.Path(archive) if archive.is_file() else folder


def _topics() -> dict[str, str]:
    """Each documentation topic, by name, without the paragraphs that stand in an earlier topic already.

    Some topics are sections of others. If they were kept, a held-out topic could be read in the training text.
    """
    from pydoc_data.topics import topics

    seen: set[str] = set()
    kept: dict[str, str] = {}
    for name in sorted(topics):
        paragraphs = []
        for paragraph in topics[name].strip().split("\n\n"):
            essence = " ".join(paragraph.split())
            if essence not in seen:
                seen.add(essence)
                paragraphs.append(paragraph)
        if paragraphs:
            kept[name] = "\n\n".join(paragraphs) + "\n"
    return kept


def read_file(source: str | Path, encoding: str) -> str:
    """The text of a file; a clear error if there is none."""
    path = Path(source).expanduser()
    if path.is_dir():
        raise ValueError(f"{source} is a folder: give the path of one file in it.")
    if not path.exists():
        raise _unknown(str(source))
    try:
        raw = path.read_bytes()
    except PermissionError:
        raise ValueError(f"{source} may not be read: change its permissions, or copy it.") from None
    return _decode(raw, str(source), encoding)


def read_url(url: str, encoding: str) -> str:
    """The text at an address, downloaded once and kept in the user's cache folder."""
    # here, since they take long to import and most notebooks never need them
    import pooch  # type: ignore[import-untyped]
    import requests

    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(f"{url} is no address that can be read: it must begin with http:// or https://.")
    log = pooch.get_logger()
    level = log.level
    log.setLevel(logging.ERROR)  # its notes on stderr would look like an error in a notebook
    try:
        file = pooch.retrieve(url, known_hash=None, path=pooch.os_cache("rnncourse"), downloader=_download)
    except requests.HTTPError as error:
        raise _no_download(url, f"the server answered {getattr(error.response, 'status_code', 'nothing')}") from None
    except requests.Timeout:
        raise _no_download(url, "no answer within 30 seconds") from None
    except requests.ConnectionError:
        raise _no_download(url, "no connection") from None
    except (OSError, ValueError) as error:  # a full disk, an address without a host
        raise _no_download(url, str(error).partition("\n")[0][:100]) from None
    finally:
        log.setLevel(level)
    return _decode(Path(file).read_bytes(), url, encoding)


def _download(url: str, file: str | Path, _: object) -> None:
    """How pooch downloads: its own way, but with the connection closed at the end even if that is an error."""
    import requests

    with requests.get(url, stream=True, timeout=30) as response, open(file, "wb") as output:
        response.raise_for_status()
        for part in response.iter_content(1 << 16):
            output.write(part)


def _decode(raw: bytes, source: str, encoding: str) -> str:
    """`raw` as text with line ends "\\n"; a clear error if it is none."""
    if not raw:
        raise ValueError(f"{source} is empty: give a file with text in it.")
    try:
        text = raw.decode("utf-8-sig" if encoding.lower() in {"utf-8", "utf8"} else encoding)
    except LookupError:
        raise ValueError(f'"{encoding}" is no encoding that Python knows: try "utf-8" or "latin-1".') from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{source} is not text in {encoding} (byte {error.start} does not fit): save it as UTF-8, "
            'or name its encoding, such as encoding="latin-1".'
        ) from None
    if "\0" in text:
        raise ValueError(f"{source} is not a text file (it holds zero bytes): give plain text, such as a .txt file.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unknown(source: str) -> Exception:
    """What to say about a name that is neither a corpus nor a file."""
    known = ", ".join(f'"{name}"' for name in BUILT_IN)
    if "." in source or "/" in source or "\\" in source:
        return FileNotFoundError(f"There is no file {source}: check the path (the current folder is {Path.cwd()}).")
    close = difflib.get_close_matches(source, BUILT_IN, n=1)
    guess = f' Did you mean "{close[0]}"?' if close else ""
    return ValueError(f'"{source}" is neither a built-in text ({known}) nor a file in {Path.cwd()}.{guess}')


def _no_download(url: str, reason: str) -> ConnectionError:
    return ConnectionError(
        f"{url} could not be downloaded ({reason}): check the address and your connection, "
        "or save the file with a browser and give its path."
    )
