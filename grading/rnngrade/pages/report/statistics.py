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
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rnncourse.checks.diagnosis import TWO
from rnncourse.checks.exercise import Exercise, Question, Unit
from rnncourse.checks.generic import IN_GENERAL
from rnncourse.checks.listing import listing
from rnngrade.core.record import JUDGED, MISSING, TIMED_OUT, ExerciseResult, Record
from rnngrade.gradebook.marks import Mark, Marks
from rnngrade.roster.students import natural

KINDS = PASSED, EXPLAINED, UNEXPLAINED, UNWRITTEN, FAILED = "passed", "explained", "unexplained", "unwritten", "failed"

ENOUGH = 10  # students, below which a correlation says nothing
LONG_ENOUGH = 25  # AST nodes, below which two answers are the same by chance
MOST_BINS = 12

Key = TypeVar("Key")

_LINE = re.compile(r" \(in the line `.*?`(, where ([^()`]|\([^()`]*\))*)?\)", re.DOTALL)


@dataclass(frozen=True)
class Group:
    """Students of whom the same is to be said in an exercise. `name` is that of their misconception, or the status of
    an answer without a verdict; of wrong answers that nobody has explained, `place` says what was found out, and
    `example` is one of them with the lines marked.
    """

    exercise: str
    kind: str
    name: str
    message: str
    students: tuple[str, ...]
    place: str = ""
    example: str = ""


class ExerciseStatistics:
    """One exercise in a class. `counts` has an entry for each of KINDS; `discrimination` may be None."""

    def __init__(self, exercise: Exercise | Question, records: list[Record]) -> None:
        results = {r.student: _result(r, exercise) for r in records}
        kinds, groups = Counter(map(kind_of, results.values())), _groups(exercise, results)
        seconds = [(result.seconds, s) for s, result in results.items() if result.seconds is not None]
        points = [result.points for result in results.values()]
        self.name, self.max_points = exercise.name, float(exercise.points)
        self.counts = {kind: kinds[kind] for kind in KINDS}
        self.mean = _rounded(np.mean(points)) if points else None
        self.discrimination = discrimination(points, [r.points - p for r, p in zip(records, points)])
        self.wrong = bool(groups)  # is more to be said than who got it?
        self.mistakes, self.unexplained, self.failed = (
            [group for group in groups if group.kind == kind] for kind in (EXPLAINED, UNEXPLAINED, FAILED)
        )
        self.timed_out = sum(len(f.students) for f in self.failed if f.name == TIMED_OUT)
        self.median_seconds = float(np.median([t for t, _ in seconds])) if seconds else None
        self.slowest = max(seconds, default=None)


class Cell:
    """A student's result in one exercise: `points` as they count, by hand if a person gave any; `judged` is what the
    judge gave, where a person gave something else.
    """

    def __init__(self, result: ExerciseResult, mark: Mark | None) -> None:
        by_hand = mark.points if mark and (mark.by_hand or mark.extra) else None
        self.kind, self.status, self.diagnosis = kind_of(result), result.status, result.diagnosis
        self.points = result.points if by_hand is None else by_hand
        self.judged = None if self.points == result.points else result.points


class StudentRow:
    """One student. `points` is the sum of the exercises, `total` that and the written questions marked so far,
    `waiting` what a person has to mark.
    """

    def __init__(self, record: Record, catalogue: Unit, written: tuple[str, ...], marks: Marks) -> None:
        self.student, self.flags = record.student, len(record.flags)
        given = {exercise.name: marks.grades.get(f"check_{exercise.name}") for exercise in catalogue}
        self.cells = {exercise.name: Cell(_result(record, exercise), given[exercise.name]) for exercise in catalogue}
        self.written = {n: marks.grades.get(n, Mark(None, 0.0, waits=n in record.written)) for n in written}
        self.points = round(sum(cell.points for cell in self.cells.values()), 2)
        self.total = round(self.points + sum(answer.points or 0.0 for answer in self.written.values()), 2)
        # Points given by hand wait as well, if the submission has changed since.
        self.waiting = tuple(name for name, mark in (given | self.written).items() if mark and mark.waits)


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


class UnitStatistics:
    """A class in one unit, as its records say it. Points are those of the exercises; written questions count in
    `StudentRow.total` alone.

    `handed_in` names all who handed something in, graded or not; `marks` is what the gradebook has; `references` has
    for each exercise the digests of the course's own answers, as `Record.answers`.
    """

    def __init__(
        self,
        records: Iterable[Record],
        catalogue: Unit,
        *,
        handed_in: Collection[str] = (),
        marks: Mapping[str, Marks] | None = None,
        references: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        graded = sorted(records, key=lambda r: (natural(r.student), r.student))
        given = [(r, (marks or {}).get(r.student, Marks())) for r in graded]
        names = {r.student for r in graded}
        self.unit, self.title, self.max_points = catalogue.stem, catalogue.title, float(catalogue.points)
        self.class_size, self.graded = len(names | set(handed_in)), len(graded)
        self.ungraded = tuple(sorted(set(handed_in) - names, key=natural))
        self.exercises = tuple(ExerciseStatistics(e, graded) for e in catalogue)
        # sorting is stable: what is as common stays in the catalogue's order
        self.mistakes = tuple(sorted((m for e in self.exercises for m in e.mistakes), key=lambda m: -len(m.students)))
        written = (name for record, one in given for name in (*record.written, *one.grades))
        self.written = tuple(dict.fromkeys(name for name in written if not name.startswith("check_")))
        self.students = tuple(StudentRow(record, catalogue, self.written, one) for record, one in given)
        points = [row.points for row in self.students]
        self.mean, self.median = (_rounded(of(points)) if points else None for of in (np.mean, np.median))
        self.bins = histogram(points, self.max_points)
        waiting = _by((name, row.student) for row in self.students for name in row.waiting)
        to_mark = (*(e.name for e in self.exercises), *self.written)
        self.waiting = {name: waiting[name] for name in to_mark if name in waiting}
        self.to_mark = sum(map(len, self.waiting.values()))
        self.flags = tuple((r.student, f) for r in graded for f in r.findings if f.for_person)
        self.flagged = len({student for student, _ in self.flags})
        self.findings = tuple((r.student, f) for r in graded for f in r.findings if not f.for_person)
        self.same, self.as_reference = _same_answers(graded, references or {})

    @property
    def most_common(self) -> tuple[Group, ...]:
        """The mistakes of which none is more common. One student's alone is common to nobody."""
        most = len(self.mistakes[0].students) if self.mistakes else 0
        return tuple(m for m in self.mistakes if len(m.students) == most) if most > 1 else ()


def kind_of(result: ExerciseResult) -> str:
    if result.passed:
        return PASSED
    if result.status != JUDGED:
        return FAILED
    if result.diagnosis:
        return EXPLAINED
    return UNWRITTEN if result.is_unwritten else UNEXPLAINED


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
    width = math.ceil(max_points / MOST_BINS)
    edges = [min(i * width, max_points) for i in range(math.ceil(max_points / width) + 1)]
    # More than the most can be had by hand; it stands with the best.
    counts, _ = np.histogram(np.clip(list(points), 0, max_points), bins=edges)
    return tuple(Bin(low, high, int(count)) for (low, high), count in zip(pairwise(edges), counts))


def _result(record: Record, exercise: Exercise | Question) -> ExerciseResult:
    missing = ExerciseResult(exercise.name, MISSING, 0.0, exercise.points, False, "")
    return next((result for result in record.exercises if result.name == exercise.name), missing)


def _groups(exercise: Exercise | Question, results: dict[str, ExerciseResult]) -> list[Group]:
    """Those who did not get it, but for stubs, by what is to be said of them; the largest group first."""
    messages = IN_GENERAL | {m.name: m.message for m in exercise.misconceptions}
    order, found = [m.name for m in exercise.misconceptions], list[Group]()
    alike = _by(((kind_of(result), said), student) for student, result in results.items() for said in _said(result))
    for (kind, said), students in alike.items():
        first = results[students[0]]
        if kind == EXPLAINED:
            group = Group(exercise.name, kind, said, messages.get(said, ""), students)
        elif kind == FAILED:
            group = Group(exercise.name, kind, first.status, _LINE.sub("", first.message), students)
        else:
            where = first.where or {}
            example = listing(where["source"], where["lines"]) if where.get("lines") else ""
            group = Group(exercise.name, kind, "", first.message, students, where.get("message", ""), example)
        found.append(group)
    return sorted(found, key=lambda g: (-len(g.students), [*order, g.name].index(g.name)))


def _said(result: ExerciseResult) -> list[str]:
    """By what those who did not get it are told apart. Who made two mistakes at once has both."""
    kind = kind_of(result)
    if kind == EXPLAINED:
        return str(result.diagnosis).split(TWO)
    if kind == FAILED:
        return [result.status + _LINE.sub("", result.message)]
    return [_found_out(result)] if kind == UNEXPLAINED else []


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
    shared: dict[tuple[bool, tuple[str, ...]], list[str]] = defaultdict(list)
    for (name, digest), students in groups.items():
        # What most of the class wrote is just the way to write it. Among three or fewer, that cannot be told.
        if int(digest.partition(":")[0]) < LONG_ENOUGH or len(students) > max(3, len(records) / 2):
            continue
        is_the_course_s = digest in references.get(name, ())
        for who in [(one,) for one in students] if is_the_course_s else [students] if len(students) > 1 else []:
            shared[is_the_course_s, who].append(name)
    found: dict[bool, list[SameAnswers]] = {False: [], True: []}
    for (is_the_course_s, who), names in shared.items():
        wrong = tuple(name for name in names if kinds.get((who[0], name)) != PASSED)
        found[is_the_course_s].append(SameAnswers(who, tuple(names), wrong))
    for those in found.values():
        those.sort(key=lambda s: (-len(s.wrong), -len(s.exercises), len(s.students), s.students))
    return tuple(found[False]), tuple(found[True])


def _by(pairs: Iterable[tuple[Key, str]]) -> dict[Key, tuple[str, ...]]:
    """Students by a key, both in the order in which they come."""
    groups: dict[Key, list[str]] = defaultdict(list)
    for key, student in pairs:
        groups[key].append(student)
    return {key: tuple(students) for key, students in groups.items()}


def _rounded(value: float | np.floating) -> float:
    return round(float(value), 2)
