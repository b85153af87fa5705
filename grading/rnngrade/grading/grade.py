"""One submission, graded: bytes in, a record and the executed notebook out. No shared disk, nothing else is needed.

    grade(submission, bundle, student, seed, limits) -> Graded(record, notebook)

Intake, then cell by cell in the sandbox; where a check stands, the judge asks. A cell that ends its process, or does
not end, costs its own exercise: it is left out, the sandbox is started again and the cells before it are run again,
which takes milliseconds, since experiments are not run. A verdict that is written down stays.

Each answer is asked in a fork of the room, so that it finds all as the cells have left it, whatever others did: first
on the cases that the notebook shows. What a student is told, and what their cells show, is all written down before the
first hidden case enters the room; of the hidden ones come criteria and points alone. What an answer has left behind may
end or stop the room: a cell or an answer that comes to that is tried once more, in a room of its own. And nothing ends
the judge: what nobody has foreseen, an error in the judge itself or more time or memory than it may take, costs the
place where it happens, and a person is told.
"""

import dataclasses
import hashlib
import json
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from nbformat import NotebookNode

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Question
from rnncourse.checks.place import Where
from rnngrade.core import record
from rnngrade.core.record import ExerciseResult, Finding, Record
from rnngrade.core.words import visible
from rnngrade.grading.budget import OutOfTime, at_most, with_no_more_than
from rnngrade.grading.bundle import Bundle, Graded
from rnngrade.grading.cache import BoundedCache
from rnngrade.grading.judge import Told, decide, judge_question, place, refused, tell
from rnngrade.grading.outputs import Outputs, new_output, verdict_output
from rnngrade.grading.requests import prepare
from rnngrade.grading.rooms import IMPATIENCE, PATIENT_WITH, Cell, Rooms, is_odd, status_of, words_of
from rnngrade.reading.digest import digest, weight
from rnngrade.reading.inspection import Inspection, inspect_unit
from rnngrade.reading.intake import Intake, take_in
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Fault, Fork, Garbled, TooSlow
from rnngrade.sandbox.station import Station

MOST_FINDINGS = 200
MOST_WORDS = 4_000  # characters of a message
MOST_SOURCE = 20_000  # characters of an answer whose mistake is looked for


T = TypeVar("T")
_prints = BoundedCache[str, str](MB)  # of answers: many of a class are the same


def grade(
    submission: bytes,
    bundle: Bundle,
    student: str,
    seed: str = "",
    limits: Limits | None = None,
    *,
    station: Station | None = None,
    sandboxed: bool = True,
    lost: Collection[str] = (),
    at: Callable[[str], None] = lambda place: None,
) -> Graded:
    """Grade one submission. `station` is a started one for the same bundle, to be used again. `at` is told each place
    that is come to; those in `lost`, which have ended this process before, are passed over.

    Never raises for what the submission is or does. **Errors:** `DeskError`.
    """
    limits = limits or Limits()
    with _seed(seed):
        if station is not None:
            return _Grading(submission, bundle, student, seed, station, lost, at).run()
        bundle.require_fit()
        with open_station(bundle, limits, sandboxed=sandboxed) as own:
            return _Grading(submission, bundle, student, seed, own, lost, at).run()


def open_station(
    bundle: Bundle, limits: Limits, *, sandboxed: bool = True, meanwhile: Callable[[], None] = lambda: None
) -> Station:
    """A station for a bundle: to grade many submissions, start it once. `meanwhile` is called while it starts."""
    return Station(bundle.library, bundle.modules(), limits, sandboxed=sandboxed, meanwhile=meanwhile)


def get_ready(bundle: Bundle, seed: str) -> None:
    """Work out what is the same for a whole class, for processes that are forked from this one: the cases, what is
    expected and what is asked in each, and the lists by which a source is read.
    """
    with _seed(seed):
        for one in exercises.unit(bundle.unit):
            if isinstance(one, Exercise):
                prepare(one)
    inspect_unit(take_in(bundle.release, bundle.notebook()).notebook, bundle.unit)


@contextmanager
def _seed(seed: str) -> Iterator[None]:
    """The hidden cases' seed, which is this process's alone."""
    before = os.environ.get("RNNCOURSE_SEED")
    if seed:
        os.environ["RNNCOURSE_SEED"] = seed
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("RNNCOURSE_SEED", None)
        else:
            os.environ["RNNCOURSE_SEED"] = before


@dataclass
class _Check:
    """A check that has been come to: how many cells had been run, what was found, and the fork that is left, to be
    asked the hidden cases.
    """

    exercise: Exercise | Question
    cell: NotebookNode
    before: int
    told: Told
    fork: Fork | None = None
    seconds: float = 0.0


@dataclass
class _Grading:
    submission: bytes
    bundle: Bundle
    student: str
    seed: str
    station: Station
    lost: Collection[str]
    at: Callable[[str], None]
    results: dict[str, ExerciseResult] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    ran: list[Cell] = field(default_factory=list)
    checks: list[_Check] = field(default_factory=list)
    banned: dict[str, str] = field(default_factory=dict)  # by answer: what it calls and may not
    places: dict[str, Where] = field(default_factory=dict)  # by exercise, where an answer goes wrong
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds, by what on

    def run(self) -> Graded:
        began = time.monotonic()
        self.rooms = Rooms(self.station, began + self.station.limits.submission_seconds)
        self.outputs = Outputs(self.station.limits)
        with with_no_more_than(self.station.limits.judge_memory):
            release = self.bundle.notebook()
            intake = self._guarded("intake", lambda: take_in(self.submission, release), lambda _: take_in(b"", release))
            self.findings += intake.findings
            nothing = Inspection([], {})
            inspection = self._guarded(
                "inspection", lambda: inspect_unit(intake.notebook, self.bundle.unit), lambda _: nothing
            )
            self.findings, self.banned = [*self.findings, *inspection.findings], inspection.banned
            self.spent["intake_seconds"] = time.monotonic() - began
            try:
                for index, cell in enumerate(intake.notebook.cells):
                    if cell.cell_type == "code":
                        self._cell(index, cell, intake)
                self.at("places")
                if "places" not in self.lost:  # what is found there, or not, decides nothing
                    with suppress(Exception, OutOfTime), at_most(self.station.limits.judge_seconds):
                        self._look_for_places(intake)
                for check in self.checks:
                    if check.fork is not None:
                        self._judged(check, partial(self._decide, check))
                    self._write_down(check)
            finally:
                self.rooms.close()
            made = self._record(intake)
            made.measured.update(
                seconds=round(time.monotonic() - began, 3),
                cell_seconds=round(sum(c.seconds for c in self.ran), 3),
                sandbox_seconds=round(self.rooms.seconds, 4),
                **{what: round(seconds, 4) for what, seconds in self.spent.items()},
                memory=float(self.rooms.most_memory),
                restarts=float(self.rooms.restarts),
            )
            return Graded(made, json.dumps(intake.notebook, ensure_ascii=False).encode("utf-8", "replace"))

    def _guarded(self, place: str, task: Callable[[], T], instead: Callable[[str], T]) -> T:
        """What the task gives; where it ends in what nobody has foreseen, `instead(why)`, and a person is told."""
        self.at(place)
        why = "it ended the process that judges"
        if place not in self.lost:
            try:
                with at_most(self.station.limits.judge_seconds):
                    return task()
            except OutOfTime:
                why = f"it took the judge more than {self.station.limits.judge_seconds:g} seconds"
            except MemoryError:
                why = "it took the judge more memory than there is for it"
            except Exception as error:  # the last net
                why = f"it ended in {type(error).__name__}, which nobody has foreseen"
            self.rooms.close()  # in what state the session is, nobody knows
        words = (
            f"What stands at the place `{place}` could not be graded: {why}. It counts as lost until a person looks."
        )
        self.findings.append(Finding("not-judged", words, for_person=True))
        return instead(why)

    def _cell(self, index: int, cell: NotebookNode, intake: Intake) -> None:
        meta = cell.metadata.get("nbgrader", {})
        if "experiment" in cell.metadata.get("tags", []):
            return
        place = str(meta.get("grade_id") or f"cell {index + 1}")
        if meta.get("grade"):
            exercise = exercises.find(place.removeprefix("check_"))
            check = _Check(exercise, cell, len(self.ran), Told(record.MISSING, refused(exercise, "")))
            self.checks.append(check)
            self._judged(check, lambda: self._ask(check, intake))
            return
        is_helper = cell.metadata.get("rnngrade", {}).get("role") == "helper"
        one = Cell(index, cell.source, meta.get("grade_id") if meta.get("solution") else None, is_helper)
        self.ran.append(one)
        reply = self._guarded(place, lambda: self._run(one), lambda why: one.leave_out(Garbled(why)))
        cell.execution_count = len(self.ran)
        if reply is not None:
            cell.outputs = self.outputs.kept(reply["outputs"])
            errors = [o for o in cell.outputs if o.output_type == "error"]
            one.error = f"{errors[-1].ename}: {errors[-1].evalue}" if errors else ""
            if reply["error"] is None and any((f.code, f.cell) == ("syntax-error", place) for f in self.findings):
                words = f"Your cell `{place}` ran, although it could not be read as Python."
                self.findings.append(Finding("not-read", words, place, for_person=True))
        elif one.fault is not None:
            words = words_of(one.fault, "This cell", self.station.limits)
            cell.outputs = [new_output("error", ename="Stopped", evalue=words, traceback=[words])]
            if one.exercise is None:
                self.findings.append(Finding("cell-stopped", f"A cell of your own was left out. {words}"))

    def _run(self, one: Cell) -> dict[str, Any] | None:
        """Run a cell; None if it came to no end, in which case it is left out from now on."""
        began, started = time.monotonic(), self.rooms.seconds
        try:
            if (session := self.rooms.ready(self.ran)) is None:
                one.leave_out(TooSlow())
                return None
            cpu = session.cpu_seconds()
            reply = session.ask("run", one.source, seconds=self.rooms.left(self._cell_seconds(one)))
            match reply:
                case {"outputs": list(), "error": None | str()}:
                    self.spent["cell_cpu_seconds"] += session.cpu_seconds() - cpu
                    return dict(reply)
            raise Garbled("no outputs")
        except Fault as fault:
            is_retried = is_odd(fault) and self.rooms.asked > 0
            self.rooms.close()
            if is_retried:
                return self._run(one)
            one.leave_out(TooSlow(self._cell_seconds(one)) if isinstance(fault, TooSlow) else fault)
            return None
        finally:
            one.seconds = time.monotonic() - began - (self.rooms.seconds - started)

    def _cell_seconds(self, one: Cell) -> float:
        """How long a cell may run. To write down a function takes milliseconds, however slow it is when called."""
        endless = sum(isinstance(cell.fault, TooSlow) for cell in self.ran)
        is_students = one.is_helper or one.exercise is not None
        most = self.station.limits.cell_seconds
        return most / IMPATIENCE if is_students and endless >= PATIENT_WITH else most

    def _judged(self, check: _Check, task: Callable[[], Told]) -> None:
        """Have a check judged, for its hidden cases or for what comes before."""

        def unforeseen(why: str) -> Told:
            words = f"What came of {check.exercise.name} could not be judged: {why}. A person has to look at it."
            self._end(check)
            return Told(record.GARBLED, refused(check.exercise, words))

        began, started = time.monotonic(), self.rooms.seconds
        check.told = self._guarded(str(check.cell.metadata.nbgrader.grade_id), task, unforeseen)
        check.seconds += time.monotonic() - began
        self.spent["judge_seconds"] += time.monotonic() - began - (self.rooms.seconds - started)

    def _write_down(self, check: _Check) -> None:
        """The result of an exercise; the first one counts."""
        exercise, name = check.exercise, check.exercise.name
        verdict = dataclasses.replace(check.told.verdict, message=visible(check.told.verdict.message)[:MOST_WORDS])
        check.cell.outputs = [verdict_output(verdict.points, verdict.card())]
        if check.told.status == record.REFUSED and not any(f.cell == name for f in self.findings if f.for_person):
            self.findings.append(Finding("refused", verdict.message, name, for_person=True))
        cells = [c for c in self.ran if c.exercise == name]
        hint = "" if verdict.passed or not exercise.hints else exercise.hints[0]
        where = self.places.get(name)
        self.results.setdefault(
            name,
            ExerciseResult(
                name=name,
                status=check.told.status,
                points=verdict.points,
                max_points=float(exercise.points),
                passed=verdict.passed,
                message=verdict.message,
                diagnosis=verdict.diagnosis,
                criteria=dict(verdict.criteria),
                table=verdict.table.plain() if verdict.table else None,
                where=where.plain() if where else None,
                hint=hint,
                card=verdict.card(),
                seconds=round(check.seconds + sum(c.seconds for c in cells), 3),
            ),
        )

    def _ask(self, check: _Check, intake: Intake) -> Told:
        """What an answer comes to on the cases that the notebook shows."""
        exercise, name = check.exercise, check.exercise.name
        answer = next((c for c in self.ran if c.exercise == name), None)
        if intake.answers.get(name) is None:
            return Told(record.MISSING, refused(exercise, f"What was handed in has no cell with an answer to {name}."))
        if answer is not None and answer.fault is not None:
            return self._ended_by(answer.fault, exercise, "The cell of ")
        if (session := self.rooms.ready(self.ran)) is None:
            return self._no_time(exercise)
        self.rooms.asked += 1
        try:
            if isinstance(exercise, Question):
                told = judge_question(session, exercise)
            else:
                check.fork = session.fork()
                told = tell(check.fork, exercise, self.banned.get(name), to_the_ends=False)
                if told.remote is None:
                    self._end(check)
        except Fault as fault:
            is_retried = is_odd(fault) and self.rooms.asked > 1 and isinstance(exercise, Exercise)
            if check.fork is None:  # it was not the answer that failed, but the room
                self.rooms.close()
            self._end(check)
            if is_retried:
                return self._alone(check)
            told = self._ended_by(fault, exercise)
        if told.status == record.MISSING and answer is not None:
            if answer.error:
                words = f"There is no `{name}`: its cell raised {answer.error[:300]}."
                return Told(told.status, refused(exercise, words))
            defined = re.findall(r"^(?:def|class) (\w{1,80})\b", answer.source, re.MULTILINE)
            if len(defined) == 1:
                words = f"There is no `{name}` in the notebook. Its cell defines `{defined[0]}`: call that `{name}`."
                return Told(told.status, refused(exercise, words))
        return told

    def _decide(self, check: _Check) -> Told:
        """What the hidden cases make of it."""
        assert check.fork is not None
        try:
            if not check.fork.is_gone():
                decided = decide(check.told)
                if decided.verdict.passed or not check.told.verdict.passed:
                    return decided  # or else the words for it are asked for in a room that has seen no hidden case
        except Fault as fault:
            if not is_odd(fault):
                return self._ended_by(fault, check.exercise)
        finally:
            self._end(check)
        return self._alone(check)

    def _alone(self, check: _Check) -> Told:
        """The same, all of it, in a room in which nothing else is asked."""
        assert isinstance(check.exercise, Exercise)
        if (session := self.rooms.another(self.ran[: check.before])) is None:
            return self._no_time(check.exercise)
        try:
            told = tell(session, check.exercise, self.banned.get(check.exercise.name))
            return decide(told) if told.remote else told
        except Fault as fault:
            return self._ended_by(fault, check.exercise)
        finally:
            session.close()

    def _ended_by(self, fault: Fault, exercise: Exercise | Question, of: str = "") -> Told:
        words = words_of(fault, f"{of}{exercise.name}", self.station.limits)
        return Told(status_of(fault), refused(exercise, words))

    @staticmethod
    def _no_time(exercise: Exercise | Question) -> Told:
        words = "There was no time left for it: cells or answers before it had used up the submission's time."
        return Told(record.TIMED_OUT, refused(exercise, words))

    @staticmethod
    def _end(check: _Check) -> None:
        if check.fork is not None:
            check.fork.close()
            check.fork = None

    def _look_for_places(self, intake: Intake) -> None:
        """Where the answers go wrong that nobody has named; at the end, so that it costs no exercise anything."""
        left = self.station.limits.place_seconds
        for check in self.checks:
            exercise, told = check.exercise, check.told
            is_unnamed = told.status == record.JUDGED and not told.verdict.passed and not told.verdict.diagnosis
            source = intake.answers[exercise.name] or ""
            if not is_unnamed or not isinstance(exercise, Exercise) or left <= 0 or len(source) > MOST_SOURCE:
                continue
            began = time.monotonic()
            if (session := self.rooms.ready(self.ran)) is None:
                break
            try:
                fork = session.fork()
            except Fault:
                self.rooms.close()
                continue
            with fork, suppress(Fault):
                if found := place(fork, exercise, source, self.rooms.left(left)):
                    self.places[exercise.name] = found
            left -= time.monotonic() - began
        self.spent["place_seconds"] += self.station.limits.place_seconds - left

    def _record(self, intake: Intake) -> Record:
        catalogue = exercises.unit(self.bundle.unit)
        answers: dict[str, str] = {}
        for e in catalogue:
            source = intake.answers.get(e.name)
            if isinstance(e, Exercise) and source and self.results[e.name].status != record.MISSING:
                print_of = self._guarded(f"digest of {e.name}", partial(_fingerprint, source), lambda _: None)
                answers |= {e.name: print_of} if print_of else {}
        return Record(
            student=self.student,
            unit=self.bundle.unit,
            key=self.bundle.key(self.submission, self.seed, self.station.limits),
            submission=hashlib.sha256(self.submission).hexdigest(),
            exercises=tuple(self.results[e.name] for e in catalogue),
            written=intake.written_changed,
            findings=_bounded(self.findings),
            answers=answers,
            versions=dict(self.bundle.versions),
        )


def _fingerprint(source: str) -> str:
    if (known := _prints.get(source)) is None:
        known = f"{weight(source)}:{digest(source)}"
        _prints.put(source, known, len(source) + len(known))
    return known


def _bounded(findings: list[Finding]) -> tuple[Finding, ...]:
    """Not more findings, and not longer ones, than a person reads: those for a person stay."""
    first = sorted(range(len(findings)), key=lambda i: not findings[i].for_person)[:MOST_FINDINGS]
    kept = [findings[i] for i in sorted(first)]
    return tuple(dataclasses.replace(finding, message=visible(finding.message)[:MOST_WORDS]) for finding in kept)
