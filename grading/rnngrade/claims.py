"""What the course claims, and what came of it: read off the executed notebooks, for the table that ends unit 13.

An experiment makes a claim, shows it, asserts it (CONTRIBUTING.md). Here all of them are collected from the built
solutions: each "**Claim:** …" with the assertions in the cells below it. A claim counts as borne out if these cells
have run, show something, assert something, and none failed. Where a unit marks no claims, its sections that assert
something stand for them.

Claims are what held in the end. What one might have expected, and what did not come, stands in `EXPECTATIONS`: each
with the words of the notebook that say so, which have to be there.

    python -m rnngrade.claims [--root COURSE]        writes rnncourse/data/claims.json

Then unit 13, which shows them, has to be built again: python -m rnngrade.build --force 13_beyond
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from rnncourse import exercises
from rnngrade.build import notebook_path
from rnngrade.unit import BuildError, find_units

__all__ = ["EXPECTATIONS", "Expectation", "claims_of", "main", "table"]

FILE = Path("rnncourse") / "data" / "claims.json"


@dataclass(frozen=True)
class Expectation:
    """Something that one might expect, how much of it was borne out, and the notebook's own words on it."""

    stem: str
    expected: str
    borne_out: str  # "in part" or "no"
    found: str


EXPECTATIONS = (
    Expectation(
        "01_ngram",
        "The longer the context of an n-gram, the better it predicts.",
        "no",
        "But the 6-gram, which sees most, is far worse than the unigram, which sees no context at all.",
    ),
    Expectation(
        "05_gradient_flow",
        "A better start, or clipping, lets a plain network learn over any distance.",
        "no",
        "A better start moves the wall, and none takes it away: at 30 steps all of them guess.",
    ),
    Expectation(
        "06_language_model",
        "A trained recurrent network predicts real text better than any table of counts.",
        "no",
        "The best n-gram, with Witten–Bell smoothing, beats the network",
    ),
    Expectation(
        "07_torch_rnn",
        "PyTorch's compiled loop is many times faster than a loop in Python.",
        "no",
        "on a CPU that buys little, far from a factor of ten at any of these sizes.",
    ),
    Expectation(
        "08_stacked",
        "At the same number of parameters, a deeper network is better.",
        "in part",
        "At equal budget, depth helped where a distance could be divided, and hurt on text with little training.",
    ),
    Expectation(
        "10_gates",
        "In an LSTM, errors do not vanish.",
        "in part",
        "with a forget bias of 0, the LSTM loses its errors as fast as a plain cell.",
    ),
    Expectation(
        "10_gates",
        "If a cell is computed wrongly, the answers of its network show it.",
        "no",
        "But many of the wrong steps, in our run more than half of them, answer nearly every question.",
    ),
    Expectation(
        "11_heads",
        "A bag of words cannot deal with negation.",
        "in part",
        "Negation as such is not what a bag is blind to.",
    ),
    Expectation(
        "12_encoder_decoder",
        "A better search makes a model's answers better.",
        "in part",
        "Most of the time the model believes in the wrong date, and a better search finds that belief more surely.",
    ),
    Expectation(
        "13_beyond",
        "A scan is faster than a loop.",
        "in part",
        "For many single numbers the scan wins by far, for rows it loses.",
    ),
    Expectation(
        "13_beyond",
        "One state fails on dates because they are long.",
        "no",
        "that dates are hard because they are long does not show here; the short ones are no better.",
    ),
)


def table(root: Path, expectations: Sequence[Expectation] = EXPECTATIONS) -> list[dict[str, Any]]:
    """All units whose notebook is built and asserts something, in order, each with its claims."""
    units = []
    for stem in find_units(root):
        path = notebook_path(root, "solutions", stem)
        if path.exists():
            unit = claims_of(nbformat.read(path, 4), stem, expectations)
            if unit["assertions"]:
                units.append(unit)
    return units


def claims_of(notebook: NotebookNode, stem: str, expectations: Sequence[Expectation] = ()) -> dict[str, Any]:
    """One unit: how many experiments assert how much, and its claims.

    **Errors:** `BuildError` if a cell failed, if a claim is followed by nothing that asserts and shows something, or if
    the notebook does not say what an expectation quotes.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and _is_experiment(cell) and _assertions(cell)]
    for cell in notebook.cells:
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            raise BuildError(f"{stem}: a cell has failed: {cell.source[:60]!r}")
    rows = list(_marked(notebook, stem)) or list(_by_section(notebook))
    text = " ".join(plain(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")
    for expectation in expectations:
        if expectation.stem == stem:
            if plain(expectation.found) not in text:
                raise BuildError(f"{stem} does not say any more: {expectation.found!r}")
            rows.append(_row(expectation.expected, 0, expectation.borne_out) | {"found": expectation.found})
    return {
        "stem": stem,
        "title": exercises.unit(stem).title,
        "experiments": len(cells),
        "assertions": sum(map(_assertions, cells)),
        "claims": rows,
    }


def _marked(notebook: NotebookNode, stem: str) -> Iterator[dict[str, Any]]:
    """A row for each claim that is marked as one."""
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            for claim in marked_claims(cell.source):
                below = list(_below(notebook.cells[i + 1 :]))
                count = sum(map(_assertions, below))
                if not count or not any(one.outputs for one in below):
                    raise BuildError(f"{stem}: nothing below asserts and shows what is claimed: {claim!r}")
                yield _row(claim, count, "yes")


def _below(cells: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """The experiments between a claim and whatever comes next: a heading, another claim, an exercise."""
    for cell in cells:
        if cell.cell_type == "markdown" and (re.search(r"^#+ ", cell.source, re.M) or marked_claims(cell.source)):
            return
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution"):
            return
        if cell.cell_type == "code" and _is_experiment(cell):
            yield cell


def _by_section(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    """A row for each numbered section, or marked experiment, that asserts something."""
    title, count = "", 0
    for cell in [*notebook.cells, nbformat.v4.new_markdown_cell("## the end")]:
        if cell.cell_type == "code" and _is_experiment(cell):
            count += _assertions(cell)
        for heading in re.findall(r"^##+ (.*)$", cell.source, re.M) if cell.cell_type == "markdown" else ():
            if heading.startswith("Exercise "):
                continue
            if title and count:
                yield _row(f"What is asserted under “{title}”.", count, "yes")
            titled = re.fullmatch(r"(?:\d+|Experiment) · (.*)", heading)
            title, count = plain(titled[1]) if titled else "", 0


def _row(claim: str, assertions: int, borne_out: str) -> dict[str, Any]:
    return {"claim": claim, "assertions": assertions, "borne_out": borne_out}


def marked_claims(source: str) -> list[str]:
    """The claims in a cell of prose, without their marks.

    >>> marked_claims("Look. **Claim:** it is *so*.\\n\\nWhy?"), marked_claims("**Claim: it is so.** Since")
    (['It is so.'], ['It is so.'])
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", source):
        for claim in re.split(r"(?=\*\*Claim\b)", paragraph)[1:]:
            bold = re.match(r"\*\*Claim:? (.+?)\*\*", claim, re.S)
            words = plain(bold[1] if bold else re.sub(r"^\*\*Claim:?\*\*[:,]?", "", claim))
            words = re.sub(r"^from this count: ", "", words)
            found.append(words[:1].upper() + words[1:])
    return found


def plain(markdown: str) -> str:
    """Prose on one line, without the marks of emphasis; formulas and code stay.

    >>> plain("a *very*\\n**good** `x*y` $a * b$")
    'a very good `x*y` $a * b$'
    """
    parts = re.split(r"(\$[^$]*\$|`[^`]*`)", markdown)
    parts[::2] = [re.sub(r"(?<![\w*])\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?![\w*])", "", part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def _is_experiment(cell: NotebookNode) -> bool:
    return "experiment" in cell.metadata.get("tags", [])


def _assertions(cell: NotebookNode) -> int:
    return sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source)))


def as_json(units: list[dict[str, Any]]) -> str:
    """The table as it stands in the file."""
    return json.dumps(units, ensure_ascii=False, indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: write the table and say what is in it."""
    parser = argparse.ArgumentParser(prog="python -m rnngrade.claims", description="Collect the claims of all units.")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the course's folder")
    root = parser.parse_args(arguments).root
    try:
        units = table(root)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    (root / FILE).write_text(as_json(units), encoding="utf-8")
    rows = [row for unit in units for row in unit["claims"]]
    verdicts = ", ".join(f"{sum(r['borne_out'] == v for r in rows)} {v}" for v in ("yes", "in part", "no"))
    print(f"{len(rows)} claims of {len(units)} units ({verdicts}) are in {FILE}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
