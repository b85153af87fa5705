"""What the menu *Course* does in a browser, where there is no terminal, no second kernel and no nbformat (`lite/`): a
notebook comes as JSON, and what becomes of it goes back as JSON.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from rnncourse import __version__
from rnncourse.seat import handin, logbook
from rnncourse.seat.carry import carry


class Node(dict[str, Any]):
    """A part of a notebook, as nbformat has it."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)

    __setattr__ = dict.__setitem__


def bring(mine: str, release: str) -> str:
    """The release's notebook with all that is the student's, what is said of it, and the name that the old one gets."""
    carried = carry(_read(mine), _read(release))
    said = [f"Your notebook is of release {__version__} now, {carried}", *carried.notes()]
    return json.dumps({"notebook": carried.node, "said": " ".join(said), "kept": f"before-{__version__}"})


def hand_in(notebook: str, name: str) -> str:
    """What to hand in, the name of the file, and what is said of it. name: that of the notebook's own file."""
    mine = handin.recognised(Path(name), _read(notebook))
    left_out = os.environ.get("RNNCOURSE_LEFT_OUT", "").split()
    points = {exercise: worth for exercise, worth in mine.unit.points.items() if exercise not in left_out}
    mine.unit = replace(mine.unit, points=points)
    shown = {one: standing.shown for one, standing in logbook.standings().items() if one in points and standing.shown}
    said = [*handin.remarks(mine), *handin.faults(mine)] or ["Nothing is missing in it."]
    if shown:
        said.insert(0, f"It says that the solution was shown, which takes no points by itself, of {', '.join(shown)}.")
    made = {"notebook": handin.without_outputs(mine, shown), "file": f"{mine.unit.stem}-submission.ipynb"}
    return json.dumps({**made, "said": "\n".join(said)})


def _read(notebook: str) -> Any:
    found = json.loads(notebook, object_hook=Node)
    for cell in found.cells:
        cell.source = "".join(cell.source)  # a file has it line by line
    return found
