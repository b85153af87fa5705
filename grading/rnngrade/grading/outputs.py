"""What a submission's cells have shown, built anew of text and pictures alone, as far as the limits go: nothing of it
runs in a browser, wherever it is shown.

The room keeps to the limits too, but its word for it counts for nothing.
"""

import re
import sys
from typing import Any

import nbformat
from nbformat import NotebookNode

from rnngrade.sandbox.limits import Limits

MOST_OUTPUTS = 1_000  # of one cell
MOST_LINES = 30  # of a traceback
CELLS = 10  # a submission shows in all what so many cells may show
PICTURES = ("image/png", "image/jpeg")
LEFT_OUT = "\n… the rest of this output is not kept.\n"

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")

# Where this Python's packages and the sandbox's library lie is nobody's business.
_PATH = re.compile(rf"{re.escape(sys.prefix)}/lib/python[\d.]+/site-packages/|/\S*/rnngrade-\w+/library/")


def new_output(kind: str, **fields: Any) -> NotebookNode:
    """An output of a cell. nbformat's own looks through the schema for each, where the notebook is looked at whole."""
    return nbformat.from_dict({"output_type": kind, **fields})


def verdict_output(points: float, card: str) -> NotebookNode:
    """What a check shows: the points, by which nbgrader would grade it, and the verdict's card."""
    data = {"text/plain": f"{points:g}", "text/html": card}
    return new_output("execute_result", data=data, metadata={}, execution_count=None)


class Outputs:
    """Keeps the outputs of one submission, cell by cell."""

    def __init__(self, limits: Limits) -> None:
        self.of_cell = limits.output, limits.images
        self.text, self.images = CELLS * limits.output, CELLS * limits.images  # what is left for the submission
        self.cell_text, self.cell_images = self.of_cell  # what is left for the cell

    def kept(self, outputs: list[Any]) -> list[NotebookNode]:
        """The outputs of the next cell; what is of another form is left out."""
        self.cell_text, self.cell_images = self.of_cell
        made = (self._output(output) for output in outputs[:MOST_OUTPUTS])
        return [output for output in made if output is not None]

    def _output(self, output: Any) -> NotebookNode | None:
        match output:
            case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
                text = self._within(text)
                return new_output("stream", name=name, text=text) if text else None
            case {"output_type": "error", "ename": str(name), "evalue": str(words), "traceback": list(lines)}:
                shown = [self._within(_PATH.sub("", line[:2000])) for line in lines[-MOST_LINES:] if type(line) is str]
                return new_output("error", ename=name[:200], evalue=words[:2000], traceback=shown)
            case {"output_type": "display_data" | "execute_result", "data": dict(data)}:
                kept = {
                    kind: data[kind] for kind in PICTURES if type(data.get(kind)) is str and self._holds(data[kind])
                }
                if type(data.get("text/plain")) is str and (text := self._within(data["text/plain"])):
                    kept["text/plain"] = text
                return new_output("display_data", data=kept, metadata={}) if kept else None
        return None

    def _within(self, text: str) -> str:
        left = min(self.text, self.cell_text)
        self.text, self.cell_text = self.text - len(text), self.cell_text - len(text)
        if left <= 0:
            return ""
        # The room's own words on what it did not keep come on top.
        return text if len(text) <= left + len(LEFT_OUT) else text[:left] + LEFT_OUT

    def _holds(self, picture: str) -> bool:
        """Whether it is a picture, and there is room for it."""
        if len(picture) > min(self.images, self.cell_images) or not _BASE64.match(picture):
            return False
        self.images, self.cell_images = self.images - len(picture), self.cell_images - len(picture)
        return True
