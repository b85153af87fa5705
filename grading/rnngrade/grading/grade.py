"""One submission, graded: bytes in, a record and the executed notebook out. No shared disk, nothing else is needed.

    grade(submission, bundle, student, seed, limits) -> Graded(record, notebook)

Intake, then cell by cell in the sandbox; where a check stands, the judge asks. A cell that ends its process, or does
not end, costs its own exercise: it is left out, the sandbox is started again and the cells before it are run again,
which takes milliseconds, since experiments are not run. A verdict that is written down stays.

Each answer is asked in a fork of the room, so that it finds all as the cells have left it, whatever others did: first
on the cases that the notebook shows. What a student is told, and what their cells show, is all written down before the
first hidden case enters the room; of the hidden ones come criteria and points alone. An answer whose room was ended by
another is asked once more, in one of its own. And nothing ends the judge: what nobody has foreseen, an error in the
judge itself or more time or memory than it may take, costs the place where it happens, and a person is told.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
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
from rnncourse.checks.verdict import Verdict
from rnngrade.core import record
from rnngrade.core.record import ExerciseResult, Finding, Record
from rnngrade.core.words import visible
from rnngrade.grading.budget import OutOfTime, at_most, with_no_more_than
from rnngrade.grading.bundle import Bundle
from rnngrade.grading.cache import BoundedCache
from rnngrade.grading.judge import Told, decide, judge_question, place, prepare, refused, tell
from rnngrade.grading.outputs import Outputs, new_output
from rnngrade.grading.tasks import Graded
from rnngrade.reading.digest import digest, weight
from rnngrade.reading.inspection import Inspection, inspect
from rnngrade.reading.intake import Intake, take_in
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Died, Fault, Fork, Garbled, Session, Station, TooMuch, TooSlow

MOST_FINDINGS = 200
MOST_WORDS = 4_000  # characters of a message
MOST_SOURCE = 20_000  # characters of an answer whose mistake is looked for

PATIENT_WITH = 2  # cells that come to no end; then the others have a share of the time that a cell has
IMPATIENCE = 10

T = TypeVar("T")
_prints = BoundedCache[str, str](MB)  # of answers: many of a class are the same


class NoRoom(BaseException):
    """The station gives no room any more: that is no student's fault."""


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

    Never raises for what the submission is or does. **Errors:** `WrongBundle`, `NoSandbox`.
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
    _inspected(take_in(bundle.release, bundle.notebook()), bundle.unit)


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
class _Cell:
    """A cell to run: `exercise` names the exercise whose answer it is; `fault` is what became of it, if it is left
    out.
    """

    index: int
    source: str
    exercise: str | None = None
    is_helper: bool = False
    fault: Fault | None = None
    error: str = ""
    seconds: float = 0.0


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
    ran: list[_Cell] = field(default_factory=list)
    session: Session | None = None
    checks: list[_Check] = field(default_factory=list)
    asked: int = 0  # how many answers have been asked in this session
    banned: dict[str, str] = field(default_factory=dict)  # by answer: what it calls and may not
    places: dict[str, Where] = field(default_factory=dict)  # by exercise, where an answer goes wrong
    restarts: int = 0
    most_memory: int = 0
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds, by what on

    def run(self) -> Graded:
        began = time.monotonic()
        self.end = began + self.station.limits.submission_seconds
        self.outputs = Outputs(self.station.limits)
        with with_no_more_than(self.station.limits.judge_memory):
            release = self.bundle.notebook()
            intake = self._guarded("intake", lambda: take_in(self.submission, release), self._nothing_taken)
            self.findings += intake.findings
            nothing = Inspection([], {})
            inspection = self._guarded("inspection", lambda: _inspected(intake, self.bundle.unit), lambda _: nothing)
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
                self._close()
            made = self._record(intake)
            made.measured.update(
                seconds=round(time.monotonic() - began, 3),
                cell_seconds=round(sum(c.seconds for c in self.ran), 3),
                **{what: round(seconds, 4) for what, seconds in self.spent.items()},
                memory=float(self.most_memory),
                restarts=float(self.restarts),
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
            self._close()  # in what state the session is, nobody knows
        words = (
            f"What stands at the place `{place}` could not be graded: {why}. It counts as lost until a person looks."
        )
        self.findings.append(Finding("not-judged", words, for_person=True))
        return instead(why)

    def _nothing_taken(self, why: str) -> Intake:
        return take_in(b"", self.bundle.notebook())

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
        one = _Cell(index, cell.source, meta.get("grade_id") if meta.get("solution") else None, is_helper)
        self.ran.append(one)
        reply = self._guarded(place, lambda: self._run(one), lambda why: self._leave_out(one, Garbled(why)))
        cell.execution_count = len(self.ran)
        if reply is not None:
            cell.outputs = self.outputs.kept(reply["outputs"])
            errors = [o for o in cell.outputs if o.output_type == "error"]
            one.error = f"{errors[-1].ename}: {errors[-1].evalue}" if errors else ""
            if reply["error"] is None and any((f.code, f.cell) == ("syntax-error", place) for f in self.findings):
                words = f"Your cell `{place}` ran, although it could not be read as Python."
                self.findings.append(Finding("not-read", words, place, for_person=True))
        elif one.fault is not None:
            words = _words(one.fault, "This cell", self.station.limits)
            cell.outputs = [new_output("error", ename="Stopped", evalue=words, traceback=[words])]
            if one.exercise is None:
                self.findings.append(Finding("cell-stopped", f"A cell of your own was left out. {words}"))

    def _run(self, one: _Cell) -> dict[str, Any] | None:
        """Run a cell; None if it came to no end, in which case it is left out from now on."""
        began, started = time.monotonic(), self.spent["sandbox_seconds"]
        try:
            if (session := self._ready()) is None:
                return self._leave_out(one, TooSlow())
            cpu = session.cpu_seconds()
            reply = session.ask("run", one.source, seconds=self._left(self._cell_seconds(one)))
            match reply:
                case {"outputs": list(), "error": None | str()}:
                    self.spent["cell_cpu_seconds"] += session.cpu_seconds() - cpu
                    return dict(reply)
            raise Garbled("no outputs")
        except TooSlow:
            self._close()
            return self._leave_out(one, TooSlow(self._cell_seconds(one)))
        except Fault as fault:
            self._close()
            return self._leave_out(one, fault)
        finally:
            one.seconds = time.monotonic() - began - (self.spent["sandbox_seconds"] - started)

    def _cell_seconds(self, one: _Cell) -> float:
        """How long a cell may run. To write down a function takes milliseconds, however slow it is when called."""
        endless = sum(isinstance(cell.fault, TooSlow) for cell in self.ran)
        is_students = one.is_helper or one.exercise is not None
        most = self.station.limits.cell_seconds
        return most / IMPATIENCE if is_students and endless >= PATIENT_WITH else most

    @staticmethod
    def _leave_out(one: _Cell, fault: Fault) -> None:
        one.fault = type(fault)(*fault.args)  # with its traceback it would hold on to all that was read

    def _judged(self, check: _Check, task: Callable[[], Told]) -> None:
        """Have a check judged, for its hidden cases or for what comes before."""

        def unforeseen(why: str) -> Told:
            words = f"What came of {check.exercise.name} could not be judged: {why}. A person has to look at it."
            self._end(check)
            return Told(record.GARBLED, refused(check.exercise, words))

        began, started = time.monotonic(), self.spent["sandbox_seconds"]
        check.told = self._guarded(str(check.cell.metadata.nbgrader.grade_id), task, unforeseen)
        check.seconds += time.monotonic() - began
        self.spent["judge_seconds"] += time.monotonic() - began - (self.spent["sandbox_seconds"] - started)

    def _write_down(self, check: _Check) -> None:
        """The result of an exercise; the first one counts."""
        exercise, name = check.exercise, check.exercise.name
        verdict = dataclasses.replace(check.told.verdict, message=visible(check.told.verdict.message)[:MOST_WORDS])
        check.cell.outputs = [_verdict_output(verdict)]
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
            words = _words(answer.fault, f"The cell of {name}", self.station.limits)
            return Told(_status(answer.fault), refused(exercise, words))
        if (session := self._ready()) is None:
            return self._no_time(exercise)
        self.asked += 1
        try:
            if isinstance(exercise, Question):
                told = judge_question(session, exercise)
            else:
                check.fork = session.fork()
                told = tell(check.fork, exercise, self.banned.get(name))
                if told.remote is None:
                    self._end(check)
        except Fault as fault:
            is_retried = _is_odd(fault) and self.asked > 1 and isinstance(exercise, Exercise)
            if check.fork is None:  # it was not the answer that failed, but the room
                self._close()
            self._end(check)
            if is_retried:
                return self._alone(check)
            told = Told(_status(fault), refused(exercise, _words(fault, name, self.station.limits)))
        if told.status == record.MISSING and answer is not None and answer.error:
            words = f"There is no `{name}`: its cell raised {answer.error[:300]}."
            return Told(told.status, refused(exercise, words))
        return told

    def _decide(self, check: _Check) -> Told:
        """What the hidden cases make of it."""
        assert check.fork is not None
        try:
            if check.fork.is_gone():
                return self._alone(check)
            return decide(check.told)
        except Fault as fault:
            words = _words(fault, check.exercise.name, self.station.limits)
            return Told(_status(fault), refused(check.exercise, words))
        finally:
            self._end(check)

    def _alone(self, check: _Check) -> Told:
        """The same, all of it, in a room in which nothing else is asked."""
        assert isinstance(check.exercise, Exercise)
        if (session := self._room(self.ran[: check.before])) is None:
            return self._no_time(check.exercise)
        try:
            told = tell(session, check.exercise, self.banned.get(check.exercise.name))
            return decide(told) if told.remote else told
        except Fault as fault:
            words = _words(fault, check.exercise.name, self.station.limits)
            return Told(_status(fault), refused(check.exercise, words))
        finally:
            session.close()

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
            if (session := self._ready()) is None:
                break
            try:
                fork = session.fork()
            except Fault:
                self._close()
                continue
            with fork, suppress(Fault):
                if found := place(fork, exercise, source, self._left(left)):
                    self.places[exercise.name] = found
            left -= time.monotonic() - began
        self.spent["place_seconds"] += self.station.limits.place_seconds - left

    def _ready(self) -> Session | None:
        """A session in which all cells so far have been run, but for those left out; None if there is no more time."""
        if self.session is not None and self.session.is_gone():
            self._close()
        if self.session is None:
            self.asked, self.session = 0, self._room(self.ran)
        return self.session

    def _room(self, cells: list[_Cell]) -> Session | None:
        """A new session in which these cells have been run, but for those left out; None if there is no more time."""
        began = time.monotonic()
        try:
            while self.restarts <= self.station.limits.restarts and self._left(1.0) > 0:
                self.restarts += 1
                try:
                    session = self.station.session()
                except (RuntimeError, OSError) as error:
                    raise NoRoom(str(error)) from None
                for one in [c for c in cells if c.fault is None and c.seconds]:
                    try:
                        session.ask("run", one.source, seconds=self._left(self.station.limits.cell_seconds))
                    except Fault as fault:  # it did end before: chance, or malice
                        self._leave_out(one, fault)
                        session.close()
                        break
                else:
                    return session
            return None
        finally:
            self.spent["sandbox_seconds"] += time.monotonic() - began

    def _left(self, most: float) -> float:
        return max(0.0, min(most, self.end - time.monotonic()))

    def _close(self) -> None:
        if self.session is not None:
            self.most_memory = max(self.most_memory, self.session.most_memory)
            self.session.close()
            self.session = None

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


def _inspected(intake: Intake, unit: str) -> Inspection:
    """What a submission's source says."""
    sources, given = {}, []
    for index, cell in enumerate(intake.notebook.cells):
        meta = cell.metadata.get("nbgrader", {})
        is_helper = cell.metadata.get("rnngrade", {}).get("role") == "helper"
        if cell.cell_type == "code" and (is_helper or (meta.get("solution") and not meta.get("grade"))):
            sources[str(meta.get("grade_id") or f"cell {index + 1}")] = cell.source
        elif cell.cell_type == "code" and meta.get("locked") and not meta.get("grade"):
            given.append(cell.source)
    stem = unit.partition("_")[2]
    own = (f"rnncourse.{stem}", "rnncourse.exercises")
    catalogue = exercises.unit(unit)
    forbids = {e.name: (*own, *e.forbids) if isinstance(e, Exercise) else own for e in catalogue}
    uses = {e.name: e.uses for e in catalogue if isinstance(e, Exercise)}
    answers = [e.source for e in catalogue if isinstance(e, Exercise)]
    return inspect(sources, forbids, uses, given, answers)


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


def _is_odd(fault: Fault) -> bool:
    """Whether an answer on its own rarely ends so; one that is too slow, or too large, mostly is so by itself."""
    return isinstance(fault, (Died, Garbled))


def _status(fault: Fault) -> str:
    kinds = {TooSlow: record.TIMED_OUT, Died: record.DIED, TooMuch: record.DIED, Garbled: record.GARBLED}
    return kinds[type(fault)]


def _words(fault: Fault, what: str, limits: Limits) -> str:
    """What to tell a student whose cell or answer ended the session."""
    match fault:
        case TooSlow(args=(seconds,)) if seconds < limits.cell_seconds:
            before = f"after {PATIENT_WITH} cells that did not come to an end"
            return f"{what} did not come to an end in {seconds:g} seconds, which was all that it had {before}."
        case TooSlow():
            return f"{what} did not come to an end in time. Is there a loop that never ends?"
        case TooMuch() if str(fault) == "processes":
            return f"{what} started more than {limits.processes} processes or threads."
        case TooMuch() if str(fault) == "answers":
            return f"What {what} returns takes more than {limits.message // MB} MB."
        case TooMuch():
            return f"{what} used more than {limits.memory // MB} MB of memory."
        case Garbled():
            return f"{what} wrote where only the grading desk writes, so that nothing it says can be believed."
    return f"{what} ended Python itself: by a crash, by os._exit, or for want of memory."


def _verdict_output(verdict: Verdict) -> NotebookNode:
    data = {"text/plain": f"{verdict.points:g}", "text/html": verdict.card()}
    return new_output("execute_result", data=data, metadata={}, execution_count=None)
