"""What the records of a class say of a unit, in numbers: pure, without a word on how it looks.

Every result is of one kind, and a class is told by how many there are of each:

    passed        got it
    explained     wrong, and the exercise has a misconception that gives just that
    unexplained   wrong, and nobody has said why yet: what an author of exercises learns most from
    unwritten     the stub as it was handed out
    failed        no verdict: timed out, died, refused, missing, garbled

Shares are of the class: of all whose work is graded. An exercise that a record does not have counts as missing.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rnncourse.checks.diagnosis import TWO
from rnncourse.checks.exercise import Exercise, Question, Unit
from rnncourse.checks.generic import IN_GENERAL
from rnncourse.checks.listing import listing
from rnngrade.core.record import JUDGED, MISSING, TIMED_OUT, ExerciseResult, Finding, Record
from rnngrade.gradebook.marks import Mark, Marks
from rnngrade.roster.students import natural

KINDS = PASSED, EXPLAINED, UNEXPLAINED, UNWRITTEN, FAILED = "passed", "explained", "unexplained", "unwritten", "failed"

ENOUGH = 10  # students, below which a correlation says nothing
LONG_ENOUGH = 25  # AST nodes, below which two answers are the same by chance
MOST_BINS = 12

Key = TypeVar("Key")

_LINE = re.compile(r" \(in the line `.*?`(, where ([^()`]|\([^()`]*\))*)?\)", re.DOTALL)


@dataclass(frozen=True)
class Mistake:
    """A misconception, and who has it. `message` is what the exercise says of it."""

    exercise: str
    name: str
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Unexplained:
    """A wrong answer that no misconception explains, and who gave it: those of whom the same was found out, or whose
    check said the same. `place` says what was found out, and `example` is one of the answers with the lines marked.
    """

    message: str
    students: tuple[str, ...]
    place: str = ""
    example: str = ""


@dataclass(frozen=True)
class Failed:
    """A way in which there came no verdict, and for whom: a status of the record, and what the students were told."""

    status: str
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseStatistics:
    """One exercise in a class. `counts` has an entry for each of KINDS; `discrimination` may be None."""

    name: str
    max_points: float
    counts: dict[str, int]
    mean: float | None
    discrimination: float | None
    mistakes: tuple[Mistake, ...]
    unexplained: tuple[Unexplained, ...]
    failed: tuple[Failed, ...]
    median_seconds: float | None
    slowest: tuple[float, str] | None

    @property
    def wrong(self) -> bool:
        """Whether anything is to be said beyond who got it and who wrote nothing."""
        return bool(self.mistakes or self.unexplained or self.failed)

    @property
    def timed_out(self) -> int:
        """For how many it took longer than there is time."""
        return sum(len(f.students) for f in self.failed if f.status == TIMED_OUT)


@dataclass(frozen=True)
class Cell:
    """A student's result in one exercise: `points` as they count, by hand if a person gave any."""

    kind: str
    points: float
    status: str = JUDGED
    diagnosis: str | None = None
    judged: float | None = None  # what the judge gave, where a person gave something else


@dataclass(frozen=True)
class StudentRow:
    """One student. `points` is the sum of the exercises, `total` that and the written questions marked so far."""

    student: str
    cells: dict[str, Cell]
    written: dict[str, Mark]
    points: float
    total: float
    waiting: tuple[str, ...]  # what a person has to mark
    flags: int


@dataclass(frozen=True)
class SameAnswers:
    """Exercises in which these students gave the same answer, up to names and layout. In those of `wrong` it is wrong,
    which says more: there is one way to be right, and many to be wrong.
    """

    students: tuple[str, ...]
    exercises: tuple[str, ...]
    wrong: tuple[str, ...] = ()

    @property
    def right(self) -> tuple[str, ...]:
        """The exercises in which the common answer is right."""
        return tuple(name for name in self.exercises if name not in self.wrong)

    @property
    def is_slight(self) -> bool:
        """Whether one right answer is all that they have in common: in a large class that comes of itself."""
        return not self.wrong and len(self.exercises) == 1


@dataclass(frozen=True)
class Bin:
    """A bar of the histogram: how many have from `low` to below `high` points (the last: up to `high`)."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class UnitStatistics:
    """A class in one unit. Points are those of the exercises; written questions count in `StudentRow.total` alone."""

    unit: str
    title: str
    class_size: int
    graded: int
    max_points: float
    mean: float | None
    median: float | None
    bins: tuple[Bin, ...]
    exercises: tuple[ExerciseStatistics, ...]
    mistakes: tuple[Mistake, ...]  # of all exercises, the most common first
    students: tuple[StudentRow, ...]
    written: tuple[str, ...]
    waiting: dict[str, tuple[str, ...]]  # students by what is to be marked by hand
    ungraded: tuple[str, ...]
    flags: tuple[tuple[str, Finding], ...]
    findings: tuple[tuple[str, Finding], ...]  # the others, which ask for nobody
    same: tuple[SameAnswers, ...]
    as_reference: tuple[SameAnswers, ...]

    def count(self, kind: str) -> int:
        """How many results of that kind there are over all exercises."""
        return sum(e.counts[kind] for e in self.exercises)

    @property
    def most_common(self) -> tuple[Mistake, ...]:
        """The mistakes of which none is more common. One student's alone is common to nobody."""
        most = len(self.mistakes[0].students) if self.mistakes else 0
        return tuple(m for m in self.mistakes if len(m.students) == most) if most > 1 else ()

    @property
    def flagged(self) -> int:
        """How many students have a flag."""
        return len({student for student, _ in self.flags})

    @property
    def to_mark(self) -> int:
        """How many answers wait for a person."""
        return sum(map(len, self.waiting.values()))


def statistics(
    records: Iterable[Record],
    catalogue: Unit,
    *,
    handed_in: Collection[str] = (),
    marks: Mapping[str, Marks] | None = None,
    references: Mapping[str, Collection[str]] | None = None,
) -> UnitStatistics:
    """What the records say. `handed_in` names all who handed something in, graded or not; `marks` is what the
    gradebook has; `references` has for each exercise the digests of the course's own answers, as `Record.answers`.
    """
    marks, references = marks or {}, references or {}
    graded = sorted(records, key=lambda r: (natural(r.student), r.student))
    exercises = tuple(_exercise(e, graded) for e in catalogue)
    written = tuple(dict.fromkeys(name for r in graded for name in _written(r, marks.get(r.student, Marks()))))
    rows = tuple(_row(r, catalogue, written, marks.get(r.student, Marks())) for r in graded)
    points = [row.points for row in rows]
    max_points = float(catalogue.points)
    together, as_reference = _same_answers(graded, references)
    names = {r.student for r in graded}
    waiting = {
        name: tuple(row.student for row in rows if name in row.waiting)
        for name in (*(e.name for e in exercises), *written)
    }
    return UnitStatistics(
        unit=catalogue.stem,
        title=catalogue.title,
        class_size=len(names | set(handed_in)),
        graded=len(graded),
        max_points=max_points,
        mean=_rounded(np.mean(points)) if points else None,
        median=_rounded(np.median(points)) if points else None,
        bins=histogram(points, max_points),
        exercises=exercises,
        # sorting is stable: what is as common stays in the catalogue's order
        mistakes=tuple(sorted((m for e in exercises for m in e.mistakes), key=lambda m: -len(m.students))),
        students=rows,
        written=written,
        waiting={name: students for name, students in waiting.items() if students},
        ungraded=tuple(sorted(set(handed_in) - names, key=natural)),
        flags=tuple((r.student, f) for r in graded for f in r.findings if f.for_person),
        findings=tuple((r.student, f) for r in graded for f in r.findings if not f.for_person),
        same=together,
        as_reference=as_reference,
    )


def kind_of(result: ExerciseResult) -> str:
    """Which of KINDS a result is."""
    if result.passed:
        return PASSED
    if result.status != JUDGED:
        return FAILED
    if result.diagnosis:
        return EXPLAINED
    # The engine's words for a stub that is as it was handed out.
    if result.message.startswith((f"{result.name} is not written yet", f"{result.name} is not answered yet")):
        return UNWRITTEN
    return UNEXPLAINED


def discrimination(points: Iterable[float], rest: Iterable[float]) -> float | None:
    """How well an exercise separates strong from weak: the correlation of its points with those of all other exercises
    (the corrected item-total correlation; point-biserial where the points are all or nothing).

    None in a class below ENOUGH students, and where all have the same points here or there.

    >>> discrimination([0] * 5 + [3] * 5, [2, 4, 3, 5, 4, 9, 8, 7, 9, 10])
    0.93
    >>> discrimination([3] * 10, range(10)) is None, discrimination([0, 3], [1, 9]) is None
    (True, True)
    """
    x, y = np.array(list(points), dtype=float), np.array(list(rest), dtype=float)
    if len(x) < ENOUGH or np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return None
    return round(float(np.corrcoef(x, y)[0, 1]), 2) + 0.0  # no -0.0


def histogram(points: Iterable[float], max_points: float) -> tuple[Bin, ...]:
    """Bars of one width from 0 to the most that there is to get.

    >>> [(b.low, b.high, b.count) for b in histogram([0, 2.9, 3, 10, 10], 10)]
    [(0, 1, 1), (1, 2, 0), (2, 3, 1), (3, 4, 1), (4, 5, 0), (5, 6, 0), (6, 7, 0), (7, 8, 0), (8, 9, 0), (9, 10, 2)]
    """
    if max_points <= 0:
        return ()
    width = next(w for w in (1, 2, 3, 5, 10, 20, 50, math.ceil(max_points)) if max_points <= w * MOST_BINS)
    edges = [min(i * width, max_points) for i in range(math.ceil(max_points / width) + 1)]
    # More than the most can be had by hand; it stands with the best.
    counts, _ = np.histogram(np.clip(list(points), 0, max_points), bins=edges)
    return tuple(Bin(low, high, int(count)) for (low, high), count in zip(pairwise(edges), counts))


def _exercise(exercise: Exercise | Question, records: list[Record]) -> ExerciseStatistics:
    results = {r.student: _result(r, exercise) for r in records}
    kinds = {student: kind_of(result) for student, result in results.items()}
    of = {kind: [s for s in results if kinds[s] == kind] for kind in KINDS}
    seconds = [(result.seconds, s) for s, result in results.items() if result.seconds is not None]
    points = [result.points for result in results.values()]
    return ExerciseStatistics(
        name=exercise.name,
        max_points=float(exercise.points),
        counts={kind: len(students) for kind, students in of.items()},
        mean=_rounded(np.mean(points)) if points else None,
        discrimination=discrimination(points, [r.points - p for r, p in zip(records, points)]),
        mistakes=_mistakes(exercise, {s: results[s] for s in of[EXPLAINED]}),
        unexplained=_unexplained({s: results[s] for s in of[UNEXPLAINED]}),
        failed=_failed({s: results[s] for s in of[FAILED]}),
        median_seconds=float(np.median([t for t, _ in seconds])) if seconds else None,
        slowest=max(seconds, default=None),
    )


def _result(record: Record, exercise: Exercise | Question) -> ExerciseResult:
    try:
        return record.exercise(exercise.name)
    except KeyError:
        return ExerciseResult(exercise.name, MISSING, 0.0, exercise.points, False, "")


def _mistakes(exercise: Exercise | Question, results: dict[str, ExerciseResult]) -> tuple[Mistake, ...]:
    order = {m.name: i for i, m in enumerate(exercise.misconceptions)}
    messages = IN_GENERAL | {m.name: m.message for m in exercise.misconceptions}
    # Who made two mistakes at once has both.
    groups = _by((name, s) for s, result in results.items() for name in str(result.diagnosis).split(TWO))
    found = [Mistake(exercise.name, name, messages.get(name, ""), students) for name, students in groups.items()]
    return tuple(sorted(found, key=lambda m: (-len(m.students), order.get(m.name, len(order)))))


def _unexplained(results: dict[str, ExerciseResult]) -> tuple[Unexplained, ...]:
    groups = _by((_found_out(result), s) for s, result in results.items())
    found = []
    for students in groups.values():
        first = results[students[0]]
        where = first.where or {}
        has_lines = where.get("lines") and where.get("source")  # a record of an older release has no source
        example = listing(where["source"], where["lines"]) if has_lines else ""
        found.append(Unexplained(first.message, students, where.get("message", ""), example))
    return tuple(sorted(found, key=lambda u: -len(u.students)))


_RELATIONS = re.compile("part: .*|items|depends|region|cases|changed cases|only")


def _found_out(result: ExerciseResult) -> str:
    """What is the same in answers that are wrong in the same way: how they are related to what was expected, else which
    part of the text mends by which kind of change, else what the check said. (All are checked on the same cases: who is
    told the same did the same, but for the line in which an error arose.)
    """
    where = result.where or {}
    related = [one for one in where.get("evidence", ()) if _RELATIONS.fullmatch(one["kind"])]
    if related:
        return json.dumps(related[0], sort_keys=True, default=repr)
    if where.get("part") and where.get("change"):
        return f"{where['change']}: {where['part']}"
    return _LINE.sub("", result.message)


def _failed(results: dict[str, ExerciseResult]) -> tuple[Failed, ...]:
    groups = _by(((result.status, _LINE.sub("", result.message)), s) for s, result in results.items())
    return tuple(Failed(status, message, students) for (status, message), students in sorted(groups.items()))


def _written(record: Record, marks: Marks) -> list[str]:
    return [*record.written, *(name for name in marks.grades if not name.startswith("check_"))]


def _row(record: Record, catalogue: Unit, written: tuple[str, ...], marks: Marks) -> StudentRow:
    cells = {}
    for exercise in catalogue:
        result = _result(record, exercise)
        mark = marks.grades.get(f"check_{exercise.name}")
        by_hand = mark.points if mark and (mark.by_hand or mark.extra) else None
        cells[exercise.name] = Cell(
            kind_of(result),
            result.points if by_hand is None else by_hand,
            result.status,
            result.diagnosis,
            None if by_hand in (None, result.points) else result.points,
        )
    answers = {name: marks.grades.get(name, Mark(None, 0.0, waits=name in record.written)) for name in written}
    points = round(sum(cell.points for cell in cells.values()), 2)
    total = round(points + sum(answer.points or 0.0 for answer in answers.values()), 2)
    # Points given by hand wait as well, if the submission has changed since.
    those = {name: marks.grades.get(f"check_{name}") for name in cells} | answers
    waiting = tuple(name for name, mark in those.items() if mark and mark.waits)
    return StudentRow(record.student, cells, answers, points, total, waiting, len(record.flags))


def _same_answers(
    records: list[Record], references: Mapping[str, Collection[str]]
) -> tuple[tuple[SameAnswers, ...], tuple[SameAnswers, ...]]:
    """Who gave the same answer as somebody else, and who the course's own."""
    kinds = {(r.student, e.name): kind_of(e) for r in records for e in r.exercises}
    groups = _by(
        ((name, digest), r.student)
        for r in records
        for name, digest in r.answers.items()
        if kinds.get((r.student, name)) != UNWRITTEN  # a long stub is nobody's answer
    )
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    as_reference: dict[str, list[str]] = defaultdict(list)
    for (name, digest), students in groups.items():
        # What most of the class wrote is just the way to write it. Among three or fewer, that cannot be told.
        if _weight(digest) < LONG_ENOUGH or len(students) > max(3, len(records) / 2):
            continue
        if digest in references.get(name, ()):
            for student in students:
                as_reference[student].append(name)
        elif len(students) > 1:
            together[students].append(name)
    same = [
        SameAnswers(students, tuple(names), tuple(n for n in names if kinds.get((students[0], n)) != PASSED))
        for students, names in together.items()
    ]
    return (
        tuple(sorted(same, key=lambda s: (-len(s.wrong), -len(s.exercises), len(s.students), s.students))),
        tuple(sorted((SameAnswers((s,), tuple(n)) for s, n in as_reference.items()), key=lambda s: -len(s.exercises))),
    )


def _weight(digest: str) -> int:
    weight = digest.partition(":")[0]
    return int(weight) if weight.isdecimal() else 0


def _by(pairs: Iterable[tuple[Key, str]]) -> dict[Key, tuple[str, ...]]:
    """Students by a key, both in the order in which they come."""
    groups: dict[Key, list[str]] = defaultdict(list)
    for key, student in pairs:
        groups[key].append(student)
    return {key: tuple(students) for key, students in groups.items()}


def _rounded(value: float | np.floating) -> float:
    return round(float(value), 2)
