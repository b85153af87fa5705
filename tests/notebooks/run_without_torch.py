"""Run the notebooks of a folder where there is no torch; print, by stem, what went wrong, as JSON.

python run_without_torch.py FOLDER_OF_LITE FOLDER_OF_NOTEBOOKS
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode


class Once(ast.NodeTransformer):
    """A check is made on the cases that students see, and not on the hidden ones too."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [line for line in node.body if "hidden=True" not in ast.unparse(line)]
        return node


def wrong(notebook: NotebookNode) -> list[str]:
    """One line for each cell that raises something, and for each check that does not pass."""
    shell, found = InteractiveShell(), []
    InteractiveShell._instance = shell
    shell.ast_transformers.append(Once())
    for cell in notebook.cells:
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()):
                result = shell.run_cell(cell.source)
            if error := result.error_before_exec or result.error_in_exec:
                found.append(f"{cell.id}: {error!r}")
            elif cell.id.startswith("check_") and not result.result.passed:
                found.append(f"{cell.id}: {result.result.text()}")
    return found


def main() -> None:
    lite, notebooks = sys.argv[1:]
    sys.path.insert(0, lite)
    import refusing

    refusing.refuse()
    from rnncourse import plots
    from rnncourse.plots.player import Player

    # to draw takes half of the time
    plots.show = Player.show = lambda *_: None
    plots.explore = lambda draw, *_, **sliders: draw(**{name: slider.start for name, slider in sliders.items()})
    stored = sorted(Path(notebooks).glob("*.ipynb"))
    print(json.dumps({path.stem: wrong(nbformat.read(path, as_version=4)) for path in stored}))


if __name__ == "__main__":
    main()
