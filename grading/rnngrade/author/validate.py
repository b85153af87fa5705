"""What an author has to put right in a unit, found before anything is written: each a sentence with file and line.

`faults` is what no build can do without, `misjudged` the model answers that their own checks turn down, and `gaps` what
a finished unit still needs. No notebook is run here.
"""

import ast
import importlib
import re
import sys
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from rnncourse import check, exercises
from rnncourse.checks.edits import EditError
from rnncourse.checks.exercise import Edit, Exercise, Question, model_answers
from rnncourse.checks.shelf import ShelfError, read
from rnngrade.author.cells import Cells, answers
from rnngrade.author.unit import BuildError, read_unit
from rnngrade.core.words import count

HINTS, OTHERS = 3, 3
SYLLABUS = "rnncourse/exercises/__init__.py"
CONCEPTS = "website/concepts.toml"


def faults(root: Path, stem: str) -> Iterator[str]:
    """What is wrong with the unit's source, with its place in the syllabus, or with its file in the catalogue."""
    try:
        notebook = _read(root, stem)
    except BuildError as error:
        yield str(error)
        return
    found = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]
    yield from _asked(root, stem, found)
    models = model_answers(answers(root / f"solutions/{stem}.py"))
    for exercise in exercises.unit(stem):
        if isinstance(exercise, Exercise) and exercise.name in models:
            exercise.model = models[exercise.name]
            yield from _mistakes(root, exercise)


def _read(root: Path, stem: str) -> NotebookNode:
    """The unit's notebook. **Errors:** `BuildError` for that without which there is no going on."""
    source, catalogue = f"solutions/{stem}.py", catalogue_of(stem)
    if stem not in exercises.SYLLABUS:
        raise BuildError(f"{place(root, SYLLABUS, exercises.SYLLABUS[-1])}: The syllabus does not name {stem!r}.")
    if not (root / catalogue).exists():
        raise BuildError(f"{catalogue}:1: The file is missing. It holds the exercises of {stem}.")
    try:
        ast.parse((root / source).read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise BuildError(f"{source}:{error.lineno}: This is no Python: {error.msg}.") from None
    if fault := _import_fault(root, f"rnncourse.exercises.{_name(stem)}", catalogue):
        raise BuildError(fault)
    if (called := exercises.unit(stem).stem) != stem:
        raise BuildError(f"{place(root, catalogue, 'Unit[(]')}: The unit calls itself {called!r}, not {stem!r}.")
    return read_unit(root / source)


def misjudged(root: Path, stem: str) -> Iterator[str]:
    """The model answers that do not get full marks from their own checks, with the verdict. Call `faults` first."""
    source = f"solutions/{stem}.py"
    cells = Cells.read(root / source)
    for exercise in exercises.unit(stem):
        where = place(root, source, f'answer="{exercise.name}"')
        try:
            if isinstance(exercise, Exercise):
                answer = exercise.made_of(exercise.source, f"<{exercise.name}>")
            else:
                answer = cells.value(exercise.name)
        except Exception as error:
            yield f"{where}: The model answer to {exercise.name} raises {type(error).__name__}: {_line(error)}"
            continue
        for hidden in (False, True):
            verdict = check(answer, exercise.name, hidden=hidden)
            if not verdict.passed:
                kind = "hidden check" if hidden else "check"
                yield f"{where}: The model answer fails its {kind}. {_line(verdict)}"
                break


def gaps(root: Path, stem: str) -> Iterator[str]:
    """What a finished unit still needs: hints, a concept for each function, right answers in other styles."""
    unit = exercises.unit(stem)
    concepts = tomllib.loads((root / CONCEPTS).read_text(encoding="utf-8"))
    named = {f"rnncourse.{name}" for rows in concepts.values() for row in rows for name in row[-1].split()}
    for exercise in unit:
        if len(exercise.hints) != HINTS:
            hints = count(len(exercise.hints), "hint")
            yield f"{exercise_place(root, exercise)}: {exercise.name} has {hints}, not {HINTS}."
        if isinstance(exercise, Exercise):
            module = exercise.reference.__module__
            if module != f"rnncourse.exercises.{_name(stem)}" and f"{module}.{exercise.name}" not in named:
                function = f"{module.removeprefix('rnncourse.')}.{exercise.name}"
                yield f"{place(root, CONCEPTS, f'^{stem} =')}: No concept names {function}."
    path = shelf_of(stem)
    try:
        shelf = read(root / path)
    except ShelfError as error:
        yield f"{path}:{error.line}: {error}."
        return
    right = Counter(answer.exercise for answer in shelf if answer.kind == "right")
    for exercise in unit:
        if isinstance(exercise, Exercise) and (number := right[exercise.name]) < OTHERS:
            yield f"{path}:1: {exercise.name} has {count(number, 'other right answer')}, not {OTHERS}."
    names = {exercise.name for exercise in unit}
    for answer in shelf:
        if answer.exercise not in names:
            yield f"{path}:{answer.line}: {stem} has no exercise {answer.exercise!r}."


def catalogue_of(stem: str) -> str:
    return f"rnncourse/exercises/{_name(stem)}.py"


def shelf_of(stem: str) -> str:
    """The file of answers by which the unit's checks are proved, in the course's folder."""
    return f"tests/answers/{stem}.txt"


def exercise_place(root: Path, exercise: Exercise | Question, mistake: str = "") -> str:
    """File and line at which an exercise begins in the catalogue, or its mistake of that name."""
    patterns = [rf'(^\s*|[(])"{exercise.name}",']
    if mistake:
        patterns.append(rf'^{mistake}: |^(def|class) {mistake}\b|"{mistake}"')
    return place(root, catalogue_of(exercise.unit.stem), *patterns)


def place(root: Path, file: str, *patterns: str) -> str:
    """File and line, `file:line`, at which the last of these regular expressions is found, each below the one before.

    One that is not found is passed over.
    """
    path, line = root / file, 1
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for pattern in patterns:
        line = next((n for n, text in enumerate(lines, 1) if n >= line and re.search(pattern, text)), line)
    return f"{file}:{line}"


def _asked(root: Path, stem: str, found: list[str]) -> Iterator[str]:
    """Whether the notebook with these cells asks and checks the exercises of the catalogue, all and in their order."""
    source, names = f"solutions/{stem}.py", [exercise.name for exercise in exercises.unit(stem)]
    for exercise in exercises.unit(stem):
        for role, cell in (("answer", exercise.name), ("check", f"check_{exercise.name}")):
            if cell not in found:
                yield f'{exercise_place(root, exercise)}: {source} has no cell {role}="{exercise.name}".'
    checked = [name.removeprefix("check_") for name in found if name.startswith("check_")]
    for name in checked:
        if name not in names:
            where = place(root, source, f'check="{name}"')
            yield f"{where}: {catalogue_of(stem)} has no exercise {name!r}."
    if sorted(checked) == sorted(names) and checked != names:
        first = next(name for name, other in zip(checked, names) if name != other)
        where = place(root, source, f'check="{first}"')
        yield f"{where}: The exercises stand in another order in {catalogue_of(stem)}."


def _mistakes(root: Path, exercise: Exercise) -> Iterator[str]:
    """The mistakes that are no edits of the model answer, or the same as another one."""
    seen: dict[str, str] = {}
    for mistake in exercise.misconceptions:
        where = f"{exercise_place(root, exercise, mistake.name)}:"
        try:
            code = mistake.source_for(exercise.name) if isinstance(mistake, Edit) else ""
        except EditError as error:
            is_made = " The model answer makes this mistake itself." * str(error).endswith("it changes nothing.")
            yield f"{where} {_line(error)}{is_made}"
            continue
        if code in seen:
            yield f"{where} {exercise.name}, {mistake.name}: this is the same change as {seen[code]}."
        if code:
            seen[code] = mistake.name
    for name, number in Counter(mistake.name for mistake in exercise.misconceptions).items():
        if number > 1:
            yield f"{exercise_place(root, exercise, name)}: {exercise.name} has {number} mistakes of the name {name}."


def _import_fault(root: Path, name: str, file: str) -> str:
    """A sentence on why the module of that name, which stands in `file`, cannot be had; nothing if it can."""
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        importlib.import_module(name)
        return ""
    except SyntaxError as error:
        path = Path(error.filename or file)
        where = path.relative_to(root) if path.is_relative_to(root) else file
        return f"{where}:{error.lineno}: This is no Python: {error.msg}."
    except EditError as error:
        quoted = re.search("`(.+)`", str(error))
        return f"{place(root, file, re.escape(quoted[1]) if quoted else '')}: {_line(error)}"
    except Exception as error:
        path, line = root / file, 1
        for frame in traceback.extract_tb(error.__traceback__):
            at = Path(frame.filename)
            if at == root / file or (at.is_relative_to(root / "rnncourse") and at.parent.name != "checks"):
                path, line = at, frame.lineno or 1
        return f"{path.relative_to(root)}:{line}: {type(error).__name__}: {_line(error)}"


def _name(stem: str) -> str:
    return stem.partition("_")[2]


def _line(words: object) -> str:
    return " ".join(str(words).split())
