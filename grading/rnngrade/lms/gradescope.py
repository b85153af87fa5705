"""Gradescope: an autograder to upload, which grades one submission in the container that Gradescope starts for it.

    python -m rnngrade.lms.gradescope AUTOGRADER    what `run_autograder` calls there

What the zip has, where its parts lie in the container, what a submission's results may say, and what their fields are
called: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Who handed in and when:
https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/.
"""

import importlib.metadata
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

import rnncourse
import rnngrade
from rnncourse import exercises
from rnngrade.core.desk import built
from rnngrade.core.errors import DeskError
from rnngrade.core.record import MISSING, ExerciseResult, write_whole
from rnngrade.core.words import count
from rnngrade.core.zips import zipped
from rnngrade.grading.single import Alone, grade_file, words_of
from rnngrade.sandbox.limits import Limits

HERE = Path(__file__).parent
SETTINGS = "settings.json"
PACKAGES = (rnncourse, rnngrade)
MODES = {"setup.sh": 0o755}
SECONDS = 540  # for one submission: Gradescope ends an autograder after ten minutes, unless it is told otherwise


def autograder_zip(root: Path, unit: str, seed: str) -> bytes:
    """The autograder of a unit of the course at `root`, with the hidden cases' seed. **Errors:** `DeskError` if the
    unit is not built.
    """
    settings = json.dumps({"unit": unit, "seed": seed}).encode()
    own = [("run_autograder", (HERE / "run_autograder.sh").read_bytes()), (SETTINGS, settings)]
    return zipped([*grader(root, [built(root, unit)]), *own], {**MODES, "run_autograder": 0o755, SETTINGS: 0o600})


def grader(root: Path, notebooks: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """What grades these notebooks on a machine that has nothing: the course without `solutions/`, the desk, and a
    script that sets up their environment.
    """
    yield "setup.sh", (HERE / "setup.sh").read_bytes()
    yield "requirements.txt", "\n".join(_requirements()).encode()
    yield "constraints.txt", (root / "constraints.txt").read_bytes()
    for notebook in notebooks:
        yield f"notebooks/{notebook.parent.name}/{notebook.name}", notebook.read_bytes()
    for package in PACKAGES:
        folder = Path(package.__path__[0])
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            yield f"course/{folder.name}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _requirements(extra: str = "grading") -> Iterator[str]:
    """What grading needs: what is installed here for it, without the course itself, which is in the zip."""
    for requirement in map(Requirement, importlib.metadata.requires("rnncourse") or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            if requirement.name != "rnncourse":
                yield f"{requirement.name}{requirement.specifier}"
            for inner in requirement.extras if requirement.name == "rnncourse" else ():
                yield from _requirements(inner)


def main(autograder: Path) -> None:
    """Grade what was submitted, and write the results. Whatever happens, there are some."""
    settings = json.loads((autograder / "source" / SETTINGS).read_text())
    try:
        path = _submitted(autograder / "submission")
        limits = Limits(submission_seconds=SECONDS)
        done = grade_file(autograder / "source", path, unit=settings["unit"], seed=settings["seed"], limits=limits)
        found = results(done)
        for words in done.unprotected:
            print(words)
    except (DeskError, OSError) as why:
        found = nothing(settings["unit"], str(why))
    write_whole(autograder / "results" / "results.json", json.dumps(found, indent=1))


def _submitted(folder: Path) -> Path:
    """The notebook. **Errors:** `DeskError`, a sentence for the student."""
    found = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() == ".ipynb" and path.is_file()]
    found = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if len(found) != 1:
        names = ", ".join(path.name for path in found[:5])
        what = f"There are {len(found)} notebooks ({names})" if found else "There is no notebook (.ipynb)"
        raise DeskError(f"{what} in what you handed in: hand in the one notebook of this unit.")
    return found[0]


def results(done: Alone) -> dict[str, Any]:
    """What Gradescope reads: an entry for each exercise, each with what a student is told."""
    record = done.record
    lines = [finding.message for finding in record.findings]
    if record.written:
        questions = count(len(record.written), "written question waits", "written questions wait")
        lines.append(f"{questions} for a person, who gives its points by hand: {', '.join(record.written)}.")
    extra = {"key": record.key, "flags": [flag.code for flag in record.flags], "notes": [*done.unprotected]}
    return _shown("\n\n".join(lines) or "Graded.", record.exercises) | {"extra_data": extra}


def nothing(unit: str, why: str) -> dict[str, Any]:
    """The results of a submission that cannot be graded: no points, and what to do."""
    return _shown(why, (ExerciseResult(e.name, MISSING, 0.0, float(e.points), False, "") for e in exercises.unit(unit)))


def _shown(output: str, found: Iterable[ExerciseResult]) -> dict[str, Any]:
    return {
        "output": output,
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), "text"),
        "visibility": "visible",
        "stdout_visibility": "hidden",  # what is said there is said to the instructor
        "tests": [
            {
                "name": result.name,
                "number": str(number),
                "score": result.points,
                "max_score": result.max_points,
                "status": "passed" if result.passed else "failed",
                "output": words_of(result),
                "visibility": "visible",
                "extra_data": {"status": result.status, "diagnosis": result.diagnosis},
            }
            for number, result in enumerate(found, start=1)
        ],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
