"""The record of one submission: what the judge wrote down, and what the intake and the sandbox had to say.

One JSON file for each submission, `records/UNIT/STUDENT.json`, written to a temporary name and renamed: it is there
whole or not at all, and it is the commit point of a run. Everything else, the gradebook, feedback, report and
exports, is made from records.

Only `measured` differs from run to run; `Record.content()` is the record without it.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from rnncourse.seat import files
from rnngrade.core.errors import writing

Kind = TypeVar("Kind")
Number = Annotated[float, msgspec.Meta(ge=-1e300, le=1e300)]  # no infinity, and no NaN

# How an exercise ended. JUDGED: the engine gave a verdict, right or wrong. The others earn nothing.
JUDGED = "judged"
MISSING = "missing"  # the submission has no cell, or no name, for this exercise
REFUSED = "refused"  # it calls what the exercise forbids
TIMED_OUT = "timed out"  # its cell or its answer did not come back
DIED = "died"  # its cell or its answer ended the process: memory, a crash, os._exit
GARBLED = "garbled"  # what came back on the judge's channel was no answer


@dataclass(frozen=True)
class ExerciseResult:
    """What one exercise came to. `message` is for the student; `diagnosis` names the misconception, if one is known;
    `card` is the verdict as HTML, made by the judge.
    """

    name: str
    status: str
    points: Number
    max_points: Number
    passed: bool
    message: str
    diagnosis: str | None = None
    criteria: dict[str, bool | None] = field(default_factory=dict)
    table: dict[str, Any] | None = None  # of a visible case: where the answer first differs (`Excerpt.plain`)
    hint: str = ""
    card: str = ""
    # What the search for the error's place found, as `Where.plain` has it: more or less of it as there was time.
    where: dict[str, Any] | None = field(default=None, compare=False)
    seconds: Number | None = field(default=None, compare=False)  # measured: how long the cell and its check took

    @property
    def ended(self) -> str:
        """How one without a diagnosis ended, in a word or two."""
        return self.status if self.status != JUDGED else "not written" if self.is_unwritten else "wrong"

    @property
    def is_unwritten(self) -> bool:
        """Whether it is the stub as it was handed out, in the engine's words."""
        return self.message.startswith((f"{self.name} is not written yet", f"{self.name} is not answered yet"))


@dataclass(frozen=True)
class Finding:
    """Something odd about a submission, in words that a student understands. `code` is for machines, "missing-cell";
    `cell` is a grade id, or None. `for_person` asks the instructor to look: a flag.
    """

    code: str
    message: str
    cell: str | None = None
    for_person: bool = False


@dataclass(frozen=True)
class Record:
    """The outcome of one submission.

    `key` names all that the outcome depends on (see `Bundle.key`): a record with another key is stale. `answers` holds
    for each exercise a digest of its source up to names and layout, by which answers are compared between students.
    """

    student: str
    unit: str
    key: str
    submission: str  # sha256 of the submitted bytes
    exercises: tuple[ExerciseResult, ...] = ()
    written: tuple[str, ...] = ()  # grade ids of the written questions that wait for a person
    findings: tuple[Finding, ...] = ()
    answers: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)  # of the unit, the checks, the environment
    measured: dict[str, Number] = field(default_factory=dict)  # seconds and bytes, not part of the content
    format: Literal[1] = 1

    @property
    def points(self) -> float:
        """The points of all exercises; written questions are the gradebook's."""
        return round(sum(e.points for e in self.exercises), 4)

    @property
    def max_points(self) -> float:
        return sum(e.max_points for e in self.exercises)

    @property
    def flags(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.for_person)

    def exercise(self, name: str) -> ExerciseResult:
        """The result of one exercise. **Errors:** `KeyError`."""
        for result in self.exercises:
            if result.name == name:
                return result
        raise KeyError(name)

    def content(self) -> dict[str, Any]:
        """All of the record but what was measured: the same for the same submission, however often it is graded."""
        data = dataclasses.asdict(self)
        del data["measured"], data["format"]
        for result in data["exercises"]:
            del result["seconds"], result["where"]
        return data

    def shown(self) -> dict[str, Any]:
        """The content, and the points in all."""
        return {**self.content(), "points": self.points, "max_points": self.max_points}

    def to_json(self) -> str:
        """The record as `read_json` reads it."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True) + "\n"


def read_json(text: str, kind: type[Kind]) -> Kind:
    """What a file of the desk's holds, if each value in it is what the class says it is. **Errors:** `ValueError`."""
    try:
        return msgspec.convert(json.loads(text), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from None


def write_whole(path: Path, data: bytes | str) -> None:
    """Write a file so that, whatever happens meanwhile, it is there whole or as it was; its folder is made."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    files.write_whole(path, _encoded(data))


def _encoded(data: bytes | str) -> bytes:
    """What a student wrote may hold half a surrogate, which no file can."""
    return data.encode("utf-8", "replace") if isinstance(data, str) else data


def write_changed(path: Path, data: bytes | str) -> bool:
    """Write a file whole, unless it is there already; whether it was written."""
    try:
        if path.read_bytes() == _encoded(data):
            return False
    except OSError:
        pass
    write_whole(path, data)
    return True
