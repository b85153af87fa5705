"""What the checks look at: a page for each unit, made from the catalogue of exercises (`rnncourse/exercises`)."""

import importlib
from pathlib import Path

import numpy as np
from reference import label

import rnncourse
from rnncourse.checks.exercise import Exercise, Question, Unit

CRITERIA = "it runs, the shapes, the values, the edge cases, and that the arguments are left alone"


def page(unit: Unit) -> str:
    """The checks of a unit, in MyST Markdown: points, arguments, cases, properties, and the mistakes that are known."""
    number = unit.stem.partition("_")[0]
    parts = [
        f"# The checks of {number} · {unit.title}",
        f"[The unit](../units/{unit.stem}.ipynb) has {_points(unit.points)}, beside what a person grades. "
        f"Marks are given by criteria: {CRITERIA}. While one exercise is checked, the earlier ones that "
        "it calls are the course's own.",
        *(_entry(exercise) for exercise in unit),
    ]
    return "\n\n".join(parts) + "\n"


def chapters(unit: Unit) -> list[str]:
    """The modules of `rnncourse` that a unit builds, by dotted name: "rnncourse.gates", "rnncourse.gates_backward"."""
    name = unit.stem.partition("_")[2]
    return [f"rnncourse.{path.stem}" for path in sorted(Path(rnncourse.__file__).parent.glob(f"{name}*.py"))]


def reference_of(exercise: Exercise | Question) -> str | None:
    """The dotted name of what an exercise asks for, in the unit's chapter; None for a question and for the welcome."""
    for name in chapters(exercise.unit):
        found = getattr(importlib.import_module(name), exercise.name, None)
        if getattr(found, "__module__", None) == name:
            return f"{name}.{exercise.name}"
    return None


def _entry(exercise: Exercise | Question) -> str:
    links = [f"*{_points(exercise.points)}*", f"[to the exercise](#exercise-{exercise.name.lower()})"]
    if reference := reference_of(exercise):
        links.append(f"[to the reference](#{label(reference)})")
    parts = [f"(check-{exercise.name.lower()})=\n## `{exercise.name}`", " · ".join(links)]
    parts.append(_code(exercise) if isinstance(exercise, Exercise) else "Answered by a value.")
    return "\n\n".join(parts)


def _code(exercise: Exercise) -> str:
    takes, gives = (", ".join(f"`{part}`" for part in parts) for parts in (exercise.takes, exercise.gives))
    drawn = exercise.draw(np.random.default_rng(0))
    edges = list(dict.fromkeys(case.note for case in drawn if case.is_edge))
    ordinary = sum(not case.is_edge for case in drawn)
    lines = []
    if exercise.drive.is_plain and takes:
        lines.append(f"From {takes} to {gives}.")
    lines.append(f"{ordinary} ordinary case{'s' * (ordinary != 1)}, drawn at random, the hidden ones anew.")
    if edges:
        lines.append(f"Edge cases: {'; '.join(edges)}.")
    lines += [f"{claim.rstrip('.')}." for claim, _ in exercise.properties]
    if exercise.uses:
        lines.append("It may call " + ", ".join(f"[`{name}`](#check-{name.lower()})" for name in exercise.uses) + ".")
    if exercise.forbids:
        lines.append("It may not call " + ", ".join(f"`{name}`" for name in exercise.forbids) + ".")
    known = list(dict.fromkeys(mistake.message for mistake in exercise.misconceptions))
    mistakes = "\n".join(f"- {message}" for message in known)
    return (
        "\n".join(f"- {line}" for line in lines)
        + f'\n\n<details class="course-folded"><summary>{len(known)} mistakes that this check '
        f"knows</summary>\n\n{mistakes}\n\n</details>"
    )


def _points(count: int) -> str:
    return f"{count} point{'s' * (count != 1)}"
