"""In Pyodide: cells are run as its kernel runs them, and all that is imported by then is given as a zip of bytecode."""

import importlib.util
import io
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

import piplite.piplite  # noqa: F401, the page does so
import pyodide_kernel

SITE = "/site-packages/"
STDLIB = ".zip/"


async def bytecode_after(cells: list[str]) -> bytes:
    """The zip: each file by its name in the wheel, or in the standard library's zip, in which it belongs."""
    shell = pyodide_kernel.ipython_shell
    shell.display_pub.display_data_callback = _ignored
    shell.display_pub.update_display_data_callback = _ignored
    shell.display_pub.clear_output_callback = _ignored
    shell.displayhook.publish_execution_result = _ignored
    pyodide_kernel.stdout_stream.publish_stream_callback = _ignored
    pyodide_kernel.stderr_stream.publish_stream_callback = _ignored
    for cell in cells:
        await pyodide_kernel.kernel_instance.run(cell)
    return _bytecode()


def _ignored(*anything: object) -> None:
    """What would show something on the page."""


def _bytecode() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, module in sorted(sys.modules.items()):
            path = getattr(module, "__file__", None) or ""
            spec = getattr(module, "__spec__", None)
            if spec is None or spec.name != name or not path.endswith(".py"):
                continue
            if spec.loader.get_source(name) is None:
                continue  # it is frozen into Python
            if SITE in path:
                target = importlib.util.cache_from_source(path).partition(SITE)[2]
            else:
                target = f"{path.partition(STDLIB)[2]}c"
            code = spec.loader.get_code(name)
            checksum = importlib.util.source_hash(spec.loader.get_data(path))
            file.writestr(target, _code_to_hash_pyc(code, checksum, False))  # nobody need compare it
    return written.getvalue()
