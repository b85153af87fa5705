"""What a student is told of what was found: what is so, never what the answer should be."""

from __future__ import annotations

from collections.abc import Sequence

from rnncourse.checks.exercise import Exercise
from rnncourse.checks.plain import Plain
from rnncourse.checks.where.changes import KINDS
from rnncourse.checks.where.place import Statement


def message(exercise: Exercise, lines: tuple[int, ...], evidence: Sequence[Statement]) -> str:
    """One or two sentences."""
    kinds = [one.kind for one in evidence]
    here = in_lines(lines) if lines else ""
    if "writes" in kinds:
        return f"{here} writes to an argument." if len(lines) == 1 else f"{here} write to an argument."
    if "value" in kinds and "change" not in kinds:
        (value,) = (one for one in evidence if one.kind == "value")
        return f"{here}: with another value there, {_right(exercise, value)}, and no other line has to change."
    if "value and change" in kinds:
        where = (
            f"{here}: there are two mistakes" if len(lines) > 1 else f"{here}: there are two mistakes in it, or more"
        )
        return f"{where}. With another value and one small change there, every case comes out right."
    if "change" in kinds:
        change = next(one for one in evidence if one.kind == "change")
        if len(lines) > 1:
            return f"{here}: with one small change in one of them, {_right(exercise, change)}."
        return f"{here}: with one small change there, {_right(exercise, change)}."
    if "single line" in kinds:
        return f"{here} is all there is: it goes wrong there."
    if "raises" in kinds:
        return f"{here} is where it stops."
    agrees = next(one for one in evidence if one.kind == "agrees")
    place, line = agrees.parameters["part"], agrees.parameters["line"]
    return f"So far it is right: `{place}` in line {line} has the values that it should have, in every case."


def in_lines(lines: Sequence[int]) -> str:
    """ "Line 3", "Lines 3 and 5"."""
    if len(lines) == 1:
        return f"Line {lines[0]}"
    return f"Lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _right(exercise: Exercise, one: Statement) -> str:
    scope: Plain = one.parameters["right"]
    if scope == "all":
        return "every case comes out right"
    if scope == "ordinary":
        return "all cases but edge cases come out right"
    return f"{exercise.gives[scope].name} comes out right"


def hints(lines: Sequence[int], part: str | None, change: str | None) -> tuple[str, ...]:
    """What is told one after the other when a student asks for hints: the part of the line, then the kind of change."""
    found = []
    if part and len(lines) == 1:
        found.append(f"Line {lines[0]}: look at `{part}`.")
    if change in KINDS:
        found.append(f"It is about {KINDS[change]}.")
    return tuple(found)
