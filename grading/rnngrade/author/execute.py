"""Execute a solution, and keep of its outputs only what is the same every time.

A solution that does not run, prints to stderr, shows something that changes from run to run, or does not earn all the
points of its own checks is an error of its author: one sentence says which cell it is and what it did.
"""

import asyncio
import base64
import hashlib
import os
import re
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from rnngrade.author.unit import BuildError, cell_lines, key_of

CELL_SECONDS = 120
WIDGET = "application/vnd.jupyter.widget-view+json"
# Kernels run side by side, one to a core: threads of their own would only get in each other's way.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
PNG_IN_HTML = re.compile(r"(data:image/png;base64,)([A-Za-z0-9+/=\\\n]+)")
VOLATILE = {
    r"\bat 0x[0-9a-fA-F]{6,}": "an object's address in memory",
    r"/tmp/[\w.-]+|ipykernel_\d+": "the path of a temporary file",
}


def execute(unit: str, notebook: NotebookNode, root: Path) -> NotebookNode:
    """Run `notebook` in the folder that it will lie in; return it with tidied outputs. Raises a `BuildError` that names
    unit, cell and error.
    """
    folder = root / "solutions" / unit
    folder.mkdir(parents=True, exist_ok=True)
    key, metadata = key_of(notebook), dict(notebook.metadata)
    at = 0

    def on_cell_start(cell: NotebookNode, cell_index: int) -> None:
        nonlocal at
        at = cell_index

    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        skip_cells_with_tag="",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=on_cell_start,
    )
    environment = {k: v for k, v in os.environ.items() if k != "RNNCOURSE_SEED"} | {"RNNCOURSE_PROGRESS": "off"}
    try:
        asyncio.run(client.async_execute(env=environment | ONE_THREAD))
    except CellExecutionError as error:
        first_line = (error.evalue or "").split("\n")[0]
        raise _error(root, unit, notebook, at, f"raised {error.ename}: {first_line}".rstrip(": ")) from None
    except CellTimeoutError:
        raise _error(root, unit, notebook, at, f"took more than {CELL_SECONDS} seconds") from None
    except (DeadKernelError, CellControlSignal):
        raise _error(root, unit, notebook, at, "ended its kernel") from None
    notebook.metadata.clear()
    notebook.metadata.update(metadata | {"rnncourse": {"key": key}})
    names: dict[str, str] = {}
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            if fault := _fault(cell, root):
                raise _error(root, unit, notebook, index, fault)
            cell.outputs = [_tidy(output, names) for output in cell.outputs]
    return notebook


def _error(root: Path, unit: str, notebook: NotebookNode, index: int, fault: str) -> BuildError:
    cell = notebook.cells[index]
    first_line = next((line for line in cell.source.split("\n") if line.strip()), "")
    name = cell.metadata.get("nbgrader", {}).get("grade_id") or first_line
    source = root / "solutions" / f"{unit}.py"
    line = cell_lines(source)[index]
    return BuildError(f"solutions/{source.name}:{line}: The cell ({name}) {fault}; its notebooks are as they were.")


def _tidy(output: NotebookNode, names: dict[str, str]) -> NotebookNode:
    """`output` without what changes from run to run or from version to version.

    `names` remembers, for the whole notebook, the lasting name of each random one that an animation's HTML uses.
    """

    def lasting(found: re.Match[str]) -> str:
        return names.setdefault(found[0], hashlib.md5(str(len(names)).encode()).hexdigest())

    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    data = output.get("data", {})
    if "image/png" in data:
        data["image/png"] = _bare_png(data["image/png"])
    if "text/html" in data:
        html = PNG_IN_HTML.sub(lambda found: found[1] + _bare_png(found[2].replace("\\\n", "")), data["text/html"])
        data["text/html"] = UUID.sub(lasting, html)
    return output


def _bare_png(encoded: str) -> str:
    """The same picture without its text chunks, where matplotlib writes its version."""
    data = base64.b64decode(encoded)
    kept, at = data[:8], 8
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] not in (b"tEXt", b"iTXt", b"zTXt", b"tIME"):
            kept += data[at:end]
        at = end
    return base64.b64encode(kept).decode()


def _fault(cell: NotebookNode, root: Path) -> str | None:
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            return f"wrote to stderr, which costs a check its points: {output.text.splitlines()[0]}"
        if WIDGET in output.get("data", {}):
            return "shows a widget, which is dead without its kernel: rnncourse.plots.explore draws beforehand"
        for text in _texts(output):
            for pattern, what in {**VOLATILE, re.escape(str(root)): "a path of this machine"}.items():
                if found := re.search(pattern, text):
                    return f"shows {what}: {found.group()}"
    nbgrader = cell.metadata.get("nbgrader", {})
    if nbgrader.get("grade"):
        results = [output.data.get("text/plain") for output in cell.outputs if output.output_type == "execute_result"]
        try:
            points = float(results[0])
        except (IndexError, TypeError, ValueError):
            return f"does not end in a number of points, but in {results[0] if results else 'nothing'}"
        if points != nbgrader["points"]:
            return f"gives its own solution {points:g} of {nbgrader['points']:g} points"
    return None


def _texts(output: NotebookNode) -> list[str]:
    """All text in an output, pictures aside."""
    data = {kind: str(value) for kind, value in output.get("data", {}).items()}
    shown = (text for kind, text in data.items() if not kind.startswith("image/") or kind == "image/svg+xml")
    return [output.get("text", ""), *output.get("traceback", ()), *shown]
