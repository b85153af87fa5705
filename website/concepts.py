"""The index of concepts: what each is written as, where it is introduced, what computes it.

`concepts.toml` names them. The page is made only if every entry still holds: the section is there and speaks of the
concept, the unit uses the symbol and the shape, the function exists; and every exercise's function has its concept.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import units
from checks import reference_of
from myst_parser.slugs import github_slugify
from reference import label

from rnncourse import exercises


class OutOfStepError(Exception):
    """`concepts.toml` says what the units do not; the message names every entry that does."""


@dataclass(frozen=True)
class Concept:
    """A row of the index. `symbol` is TeX, `shape` code; both may be empty. `section` is a heading of the unit."""

    stem: str
    name: str
    symbol: str
    shape: str
    section: str
    functions: tuple[str, ...]


def read(path: Path) -> list[Concept]:
    """The entries of `concepts.toml`, in the order of the course."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        Concept(stem, name, symbol, shape, section, tuple(functions.split()))
        for stem, rows in table.items()
        for name, symbol, shape, section, functions in rows
    ]


def problems(concepts: Iterable[Concept], root: Path, known: set[str]) -> Iterator[str]:
    """What does not hold, in sentences; `known` are the definitions of `rnncourse`, by dotted name."""
    concepts = list(concepts)
    for concept in concepts:
        unit = Unit.of(root, concept.stem)
        where = f"{concept.name!r} of unit {concept.stem}"
        text = unit.sections.get(concept.section)
        if text is None:
            near = ", ".join(unit.sections)
            yield f"{where}: the unit has no section {concept.section!r}. It has: {near}."
        elif missing := [word for word in _plain(concept.name).split() if word[:5] not in _plain(text)]:
            yield f"{where}: the section {concept.section!r} does not speak of it: {', '.join(missing)}."
        symbol = _tight(concept.symbol) if len(concept.symbol) > 2 else f"${concept.symbol}$" * bool(concept.symbol)
        if symbol not in _tight(unit.text):
            yield f"{where}: the unit does not use the symbol {concept.symbol}."
        if concept.shape and _tight(concept.shape) not in _tight(unit.text):
            yield f"{where}: the unit does not speak of the shape {concept.shape}."
        for function in concept.functions:
            if f"rnncourse.{function}" not in known:
                yield f"{where}: there is no rnncourse.{function}."
    named = {f"rnncourse.{function}" for concept in concepts for function in concept.functions}
    for unit_ in exercises.units():
        for exercise in unit_:
            if (reference := reference_of(exercise)) and reference not in named:
                yield f"{exercise.name}, an exercise of unit {unit_.stem}, belongs to no concept."


def page(concepts: list[Concept]) -> str:
    """The index in MyST Markdown, by letter."""
    parts = [
        "# Concepts",
        "Every concept of the course: how it is written and of which shape it is, where it is introduced, and what "
        "computes it. Batches are rows and time is the first axis: $N$ sequences of $T$ steps, $D$ numbers in, $H$ "
        "hidden units, $Q$ out.",
    ]
    letter = ""
    for concept in sorted(concepts, key=lambda c: _plain(c.name)):
        if (first := _plain(concept.name)[0].upper()) != letter:
            letter = first
            heads = "| concept | written | introduced in | in code |\n|---|---|---|---|"
            parts.append(f"## {letter}\n\n{{.stacked}}\n{heads}")
        parts[-1] += "\n" + _row(concept)
    return "\n\n".join(parts) + "\n"


def _row(concept: Concept) -> str:
    written = " ".join(
        [f"${concept.symbol}$"] * bool(concept.symbol) + [f"`{concept.shape}`"] * bool(concept.shape)
    ).replace("|", "\\|")
    section = re.sub(r"^\d+ · ", "", concept.section)
    place = f"[{concept.stem.partition('_')[0]} · {section}](units/{concept.stem}.ipynb#{_anchor(concept.section)})"
    code = ", ".join(f"[`{name.rpartition('.')[2]}`](#{label('rnncourse.' + name)})" for name in concept.functions)
    return f"| **{concept.name}** | {written} | {place} | {code} |"


@dataclass(frozen=True)
class Unit:
    """A unit's text: whole, and by heading, down to the next heading of the same level or of a higher one."""

    text: str
    sections: dict[str, str]

    @staticmethod
    @cache
    def of(root: Path, stem: str) -> Unit:
        """The unit as students get it."""
        cells = units.stored(root, "notebooks", stem).cells
        text = "\n\n".join(cell.source for cell in cells)
        prose = units.without_fences("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
        found = list(units.HEADING.finditer(prose))
        sections: dict[str, str] = {}
        for i, heading in enumerate(found):
            ends = (later.start() for later in found[i + 1 :] if len(later[1]) <= len(heading[1]))
            sections.setdefault(_title(heading[2]), prose[heading.start() : next(ends, len(prose))])
        return Unit(text, sections)


def _title(heading: str) -> str:
    """A heading without its number: sections may move."""
    return re.sub(r"^\d+ · ", "", heading.strip())


def _anchor(heading: str) -> str:
    """The anchor that MyST gives a heading: made of its words, without its formulas."""
    return github_slugify(re.sub(r"\$[^$]*\$|`", "", heading))


def _plain(text: str) -> str:
    """Words only: no markup, no capitals, one space between two."""
    return " ".join(re.sub(r"[*`_$\\]", "", text).lower().split())


def _tight(text: str) -> str:
    """Without spaces, and without the marks at which TeX aligns."""
    return "".join(text.split()).replace("&", "")
